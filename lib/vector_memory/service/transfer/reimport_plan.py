"""What importing a Markdown export of ours would do, step by step; nothing is written here."""

from __future__ import annotations

from dataclasses import replace

from vector_memory.errors import VectorMemoryError
from vector_memory.index.notes import markdown_export, notes
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import PROPOSED, Memory, Status, strictest
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.transfer.import_plan import (
    CHANGED,
    LEFT_OUT,
    MERGED,
    NEW,
    SAME,
    ImportStep,
)
from vector_memory.service.transfer.json_lines import ImportAnswer, IncomingRequest, placed
from vector_memory.service.transfer.note_files import NoteFile
from vector_memory.service.transfer.round_trip import Returning


def steps_of(
    ctx: Context,
    request: IncomingRequest,
    file: NoteFile,
    done: ImportAnswer,
    back: Returning,
) -> list[ImportStep]:
    """Return what is to be done with the memories of a Markdown export of ours. What is stored
    under its id stays, unless its text was changed in the file."""
    steps = []
    for line, data in markdown_export.parse(file.text):
        try:
            shelf, memory = placed(ctx, request, data, done, back)
        except (ValueError, TypeError) as error:
            done.failed(line, f"A field is damaged: {error}.")
            continue
        except VectorMemoryError as error:
            done.failed(line, str(error))
            continue
        steps.append(_exported(ctx, shelf, memory))
    return steps


def _exported(ctx: Context, shelf: Shelf, memory: Memory) -> ImportStep:
    for owner in dict.fromkeys((shelf, *ctx.all_shelves())):
        old = owner.journal.by_ids([memory.id]).get(memory.id)
        if old is not None:
            return _beside_stored(owner, memory, old)
    if memory.proposed:
        return ImportStep(PROPOSED, shelf, memory)
    if memory.status is not Status.ACTIVE:
        return ImportStep(NEW, shelf, memory)
    twin = shelf.journal.find_by_hash(text_key(memory.text), memory.project)
    return ImportStep(NEW if twin is None else MERGED, shelf, memory, twin)


def _beside_stored(shelf: Shelf, memory: Memory, old: Memory) -> ImportStep:
    if old.status is Status.FORGOTTEN:
        return ImportStep(LEFT_OUT, shelf, memory, old)
    now = old if old.status is Status.ACTIVE else shelf.journal.successors([old]).get(old.id)
    contents = [notes.content(version.text) for version in (old, now) if version is not None]
    if now is None or notes.content(memory.text) in contents:
        return ImportStep(SAME, shelf, memory, old)
    # The file may be older than what was said of the memory since.
    level = strictest(memory.sensitivity, now.sensitivity)
    raised = replace(memory, sensitivity=level)
    successor = replace(raised, id=new_id(), external_id=old.external_id, project=old.project)
    return ImportStep(CHANGED, shelf, successor, now)
