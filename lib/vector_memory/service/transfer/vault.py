"""The user's vault of Markdown, searched together with everything that is stored. Its notes are imported
when they have changed; the files themselves are only read."""

from __future__ import annotations

import os
import threading
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.model import COLLECTIONS, QUIET, Progress
from vector_memory.service.base import messages, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.find import recall
from vector_memory.service.transfer import import_notes, note_files

ALL = "all"
_reading = threading.Lock()
_read: dict[tuple[str, str], tuple[int, int, int]] = {}
"""By data home and folder, how its files stood when they were read last by this daemon."""


def search(ctx: Context, request: request_fields.Request, progress: Progress) -> dict[str, Any]:
    """Answer a question from all collections and the vault.

    Args:
        request: as for a recall; `collections` names some of them, `all` those too that a question finds
            only where they are named; `vault` false leaves the vault's files as they are.

    Raises:
        BadInputError: a collection is unknown, or the vault is no folder.
    """
    named = request_fields.words_of(request, "collections")
    unknown = [one for one in named if one not in COLLECTIONS and one != ALL]
    if unknown:
        raise BadInputError(
            f"There is no collection {unknown[0]!r}.", f"Collections: {', '.join(COLLECTIONS)}."
        )
    read = follow(ctx, request, progress) if request.get("vault", True) else None
    if ALL in named:
        named = tuple(COLLECTIONS)
    chosen = list(named or (one for one in COLLECTIONS if one not in QUIET))
    asked = messages.read(recall.RecallRequest, {**request, "collection": chosen})
    answer: dict[str, Any] = messages.to_json(recall.recall(ctx, asked))
    root = _root(ctx)
    for hit in answer["hits"]:
        hit["in_vault"] = bool(root) and _is_below(hit["source"]["path"], root)
    return {**answer, "vault": read or {"folder": root, "notes": 0}}


def follow(
    ctx: Context, request: request_fields.Request, progress: Progress
) -> dict[str, Any] | None:
    """Read the vault if any of its files changed; None where there is none.

    What stands there is information, whoever wrote it: notes hold what was clipped from elsewhere.

    Raises:
        BadInputError: it is no folder.
    """
    root = _root(ctx)
    if not root:
        return None
    if not os.path.isdir(root):
        raise BadInputError(
            f"The vault {root} is no folder.", "Set it with `vector-memory config set vault DIR`."
        )
    with _reading:
        key, now = (ctx.home.root, root), _standing(root)
        if _read.get(key) == now:
            return {"folder": root, "notes": now[0]}
        asked_for = {
            "paths": [root],
            "global": True,
            "foreign": True,
            "prune": True,
            # Whoever asks, the folder is the user's setting, and all in it is information.
            "actor": "job",
        }
        done = import_notes.import_notes(ctx, asked_for, lambda step: None, progress)
        _read[key] = now
    return {"folder": root, "notes": now[0], "stored": done["stored"], "updated": done["updated"]}


def _root(ctx: Context) -> str:
    named = ctx.settings.vault
    return os.path.realpath(os.path.expanduser(named)) if named else ""


def _standing(root: str) -> tuple[int, int, int]:
    """Return how many notes there are, how large they are, and when the newest was written."""
    size = newest = count = 0
    for path in note_files.find([root]):
        try:
            about = os.stat(path)
        except OSError:
            continue
        count, size, newest = count + 1, size + about.st_size, max(newest, about.st_mtime_ns)
    return count, size, newest


def _is_below(path: str, root: str) -> bool:
    return path.startswith(root + os.sep)
