"""The user's vault of Markdown, searched together with everything that is stored. Its notes are imported
when they have changed; the files themselves are only read."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, replace

from vector_memory.errors import BadInputError
from vector_memory.model import COLLECTIONS, QUIET, Progress
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.find import recall
from vector_memory.service.memory.views import HitView, extended
from vector_memory.service.transfer import import_notes, note_files

ALL = "all"
_reading = threading.Lock()
_read: dict[tuple[str, str], tuple[int, int, int]] = {}
"""By data home and folder, how its files stood when they were read last by this daemon."""


@dataclass(frozen=True, kw_only=True)
class VaultRequest(recall.RecallRequest):
    """A question to all that is stored and to the vault.

    Attributes:
        collections: some of them; `all` means those, too, that a question finds only where they are named.
        with_vault: read the vault first, where its files have changed.
    """

    collections: tuple[str, ...] = messages.words()
    with_vault: bool = messages.flag("vault", default=True)


@dataclass(frozen=True, kw_only=True)
class VaultHit(HitView):
    """A memory that answers a question, and whether it stands in the vault."""

    in_vault: bool


@dataclass(frozen=True)
class VaultView:
    """The vault, "" for none, how many notes are in it, and what was read of them for this question."""

    folder: str
    notes: int
    stored: int | None = messages.spare()
    updated: int | None = messages.spare()


@dataclass(frozen=True, kw_only=True)
class VaultAnswer:
    """What answers a question, as for a recall, and how the vault stands."""

    hits: list[VaultHit]
    mode: str
    topics: list[recall.TopicView] | None = messages.spare()
    vault: VaultView


def search(ctx: Context, request: VaultRequest, progress: Progress) -> VaultAnswer:
    """Answer a question from all collections and the vault.

    Raises:
        BadInputError: a collection is unknown, or the vault is no folder.
    """
    named = request.collections
    unknown = [name for name in named if name not in COLLECTIONS and name != ALL]
    if unknown:
        raise BadInputError(
            f"There is no collection {unknown[0]!r}.", f"Collections: {', '.join(COLLECTIONS)}."
        )
    vault = follow(ctx, progress) if request.with_vault else None
    if ALL in named:
        named = tuple(COLLECTIONS)
    chosen = named or tuple(name for name in COLLECTIONS if name not in QUIET)
    answer = recall.recall(ctx, replace(request, collections=chosen))
    root = _root(ctx)
    hits = [
        extended(VaultHit, hit, in_vault=bool(root) and _is_below(str(hit.source["path"]), root))
        for hit in answer.hits
    ]
    return VaultAnswer(
        hits=hits,
        mode=answer.mode,
        topics=answer.topics,
        vault=vault or VaultView(root, notes=0),
    )


def follow(ctx: Context, progress: Progress) -> VaultView | None:
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
            return VaultView(root, now[0])
        # Whoever asks, the folder is the user's setting, and all in it is information.
        request = import_notes.NotesRequest(
            paths=(root,), is_global=True, foreign=True, prune=True, actor="job"
        )
        done = import_notes.import_notes(ctx, request, lambda step: None, progress)
        _read[key] = now
    return VaultView(root, now[0], done.stored, done.updated)


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
