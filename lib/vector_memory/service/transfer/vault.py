"""The user's vault of Markdown, searched together with everything that is stored. Its notes are imported
when they have changed; the files themselves are only read."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

from vector_memory.errors import BadInputError
from vector_memory.journal.scopes import parts
from vector_memory.model import COLLECTIONS, QUIET, Progress
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.find import recall
from vector_memory.service.memory.views import HitView, extended
from vector_memory.service.transfer import import_notes, note_files
from vector_memory.system import json_in
from vector_memory.system.files import open_plain
from vector_memory.system.json_in import Record

ALL = "all"
AT_ONCE = 100
"""Notes that are read together."""
FOLLOW_S = 3.0
"""How long a question waits for notes to be read, in seconds; the rest is read when nobody waits."""
JOB = "vault-follow"
"""The job that does so."""
_RECORD = re.compile(r"(?:adr[-_ ]?)?\d{2,5}\b", re.IGNORECASE)
"""How the names of decision records begin: one may say what becomes of another."""
_reading = threading.Lock()
OBSIDIAN = ".obsidian"
_TEMPLATES = (
    ("templates.json", "folder"),
    ("plugins/templater-obsidian/data.json", "templates_folder"),
)
"""Where Obsidian, and the plug-in that most use beside it, keep the name of the folder with templates."""
_SETTING_BYTES = 1_000_000


class VaultRequest(recall.RecallRequest):
    """A question to all that is stored and to the vault.

    Attributes:
        collections: some of them; `all` means those, too, that a question finds only where they are named.
        with_vault: read the vault first, where its files have changed.
    """

    collections: tuple[str, ...] = messages.words(choices=(*COLLECTIONS, ALL))
    with_vault: bool = messages.flag("vault", default=True)


class VaultHit(HitView, kw_only=True):
    """A memory that answers a question, and whether it stands in the vault.

    Attributes:
        link: what opens its note in Obsidian, where the vault is one of Obsidian's.
    """

    in_vault: bool
    link: str | None = messages.spare()


class VaultView(messages.Answer):
    """The vault, "" for none, how many notes are in it, what was read of them for this question, and how many
    wait to be read."""

    folder: str
    notes: int
    stored: int | None = messages.spare()
    updated: int | None = messages.spare()
    waiting: int | None = messages.spare()


class VaultAnswer(recall.RecallAnswer, kw_only=True):
    """What answers a question, as a recall does, with hits that say whether they stand in the vault, and how that
    stands."""

    vault: VaultView


def search(ctx: Context, request: VaultRequest, progress: Progress) -> VaultAnswer:
    """Answer a question from all collections and the vault.

    Raises:
        BadInputError: the vault is no folder.

    Returns:
        The hits, best first, with their collections and files.
    """
    collections = request.collections
    vault = follow(ctx, progress) if request.with_vault else None
    if vault is not None and vault.waiting:
        ctx.state.hasten_job(JOB, ctx.now())
        ctx.job_clock.looked_at = None
    if ALL in collections:
        collections = tuple(COLLECTIONS)
    searched = collections or tuple(name for name in COLLECTIONS if name not in QUIET)
    answer = recall.recall(ctx, replace(request, collections=searched))
    root = vault_root(ctx)
    fields = {**vars(answer), "hits": [_vault_hit(hit, root) for hit in answer.hits]}
    return VaultAnswer(**fields, vault=vault or VaultView(root, notes=0))


def _vault_hit(hit: HitView, root: str) -> VaultHit:
    path = str(hit.source["path"])
    is_inside = bool(root) and _is_below(path, root)
    is_obsidian_vault = is_inside and os.path.isdir(os.path.join(root, OBSIDIAN))
    link = f"obsidian://open?path={quote(path, safe='')}" if is_obsidian_vault else None
    return extended(VaultHit, hit, in_vault=is_inside, link=link)


def follow(
    ctx: Context, progress: Progress, budget_s: float = FOLLOW_S, dry_run: bool = False
) -> VaultView | None:
    """Read the vault's files that have changed, as many as there is time for, the rest the next time; None
    where there is no vault.

    What stands there is information, whoever wrote it: notes hold what was clipped from elsewhere.

    Args:
        budget_s: after so many seconds nothing more is begun.
        dry_run: read nothing: only count what has changed.

    Raises:
        BadInputError: it is no folder.

    Returns:
        How many files were read, and how many wait.
    """
    root = vault_root(ctx)
    if not root:
        return None
    if not os.path.isdir(root):
        raise BadInputError(
            f"The vault {root} is no folder.", "Set it with `vector-memory config set vault DIR`."
        )
    deadline = time.monotonic() + budget_s
    stored = updated = 0
    with _reading:
        stamps = _stamps(root)
        changed = ctx.state.unread_files(root, stamps)
        waiting = len(changed)
        for batch in () if dry_run else parts(changed, AT_ONCE):
            counts = _read(ctx, [*batch, *_records_beside(batch, stamps)], progress)
            stored, updated, waiting = (
                stored + counts.stored,
                updated + counts.updated,
                waiting - len(batch),
            )
            # Only now: what is read again after a crash is found unchanged.
            ctx.state.follow(root, {path: stamps[path] for path in batch}, stamps)
            if time.monotonic() >= deadline:
                break
    if not changed or dry_run:
        return VaultView(root, len(stamps), waiting=waiting or None)
    return VaultView(root, len(stamps), stored, updated, waiting or None)


def _read(ctx: Context, paths: list[str], progress: Progress) -> import_notes.NotesAnswer:
    # Whoever asks, the folder is the user's setting, and all in it is information.
    request = import_notes.NotesRequest(
        paths=tuple(paths), is_global=True, foreign=True, prune=True, come_across=True, actor="job"
    )
    return import_notes.import_notes(ctx, request, lambda step: None, progress)


def _records_beside(paths: Sequence[str], stamps: dict[str, str]) -> list[str]:
    """Return the decision records that stand beside those among some notes."""
    folders = {os.path.dirname(path) for path in paths if _RECORD.match(os.path.basename(path))}
    others = (path for path in stamps if os.path.dirname(path) in folders and path not in paths)
    return [path for path in others if _RECORD.match(os.path.basename(path))][:AT_ONCE]


def vault_root(ctx: Context) -> str:
    """Return the folder of the user's vault, its links resolved; "" where none is set."""
    folder = ctx.settings.vault
    return os.path.realpath(os.path.expanduser(folder)) if folder else ""


def _stamps(root: str) -> dict[str, str]:
    """Return the notes below a folder: path → when it was written, and its size."""
    stamps = {}
    templates = _templates(root)
    for path in note_files.notes_below(root):
        if any(_is_below(path, folder) for folder in templates):
            continue
        try:
            file_stat = os.stat(path)
        except OSError:
            continue
        stamps[path] = f"{file_stat.st_mtime_ns}:{file_stat.st_size}"
    return stamps


def _templates(root: str) -> list[str]:
    """Return the folders of a vault that hold templates, as Obsidian's settings name them: they are no notes yet."""
    folders = []
    for path, name in _TEMPLATES:
        try:
            with open_plain(os.path.join(root, OBSIDIAN, path)) as file:
                settings = json_in.load(file.read(_SETTING_BYTES))
        except (OSError, ValueError):
            continue
        folder = Record(settings if isinstance(settings, dict) else {}).text(name).strip("/ ")
        if folder:
            folders.append(os.path.join(root, *folder.split("/")))
    return folders


def _is_below(path: str, root: str) -> bool:
    return path.startswith(root + os.sep)
