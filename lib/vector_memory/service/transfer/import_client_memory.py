"""Taking the client's own memory of a project into the project's memories."""

from __future__ import annotations

import logging
import os

from vector_memory.errors import VectorMemoryError
from vector_memory.model import ignore_progress
from vector_memory.service.base.client_memory import path_beside
from vector_memory.service.base.context import Context
from vector_memory.service.transfer import import_notes

log = logging.getLogger(__name__)


def index(ctx: Context, transcript: str, folder: str) -> None:
    """Take what the client's memory of a project says into the project's memories, where it has
    changed since it was last read."""
    path = path_beside(transcript)
    try:
        about = os.stat(path)
    except OSError:
        return
    seen = {"mtime_ns": about.st_mtime_ns, "size": about.st_size}
    name = f"client:{path}"
    if ctx.state.cursor(name) == seen:
        return
    try:
        # Nobody asked for it, and what a model noted may come from anywhere.
        request = import_notes.NotesRequest(
            paths=(path,), project=folder, cwd=folder, foreign=True, actor="hook"
        )
        import_notes.import_notes(ctx, request, lambda step: None, ignore_progress)
    except VectorMemoryError as error:
        # A link, a pipe, a page that is too long: the client has it, memory does without.
        ctx.count("client_memory_skipped")
        log.info("the client's memory is left out: %s", error)
    ctx.state.set_cursor(name, seen)
