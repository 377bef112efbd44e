"""Purge: words are removed for good, from every copy, and every file is searched for them afterwards.

The order is such that whatever interrupts it, nothing comes back: first it is noted what must not be
captured again, and what goes (`unfinished`), then rows go, then all that was made of them is made anew. A next daemon
carries out what is noted and not done, to the last search and the certificate.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from vector_memory.errors import BadInputError, DaemonUnavailableError, VectorMemoryError
from vector_memory.journal.repair import swap
from vector_memory.journal.state_rows import Task
from vector_memory.model import SUMMARY, Memory, Progress, Status, ignore_progress
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.messages import spare
from vector_memory.service.base.shelf import Shelf, project_names
from vector_memory.service.capture import archives, session_summary, session_topics
from vector_memory.service.memory.views import MemoryView, memory_view
from vector_memory.service.purge import byte_search, erasure, other_copies, unfinished
from vector_memory.service.purge.byte_search import Needles, SearchResult
from vector_memory.service.purge.selection import (
    PurgeRequest,
    PurgeSelection,
    StorePart,
    choose,
    is_shared,
)
from vector_memory.service.purge.unfinished import BegunPurge
from vector_memory.service.sharing import team
from vector_memory.service.tools import flags
from vector_memory.service.transfer import vault_export
from vector_memory.service.upkeep.check_rebuild import wait_for_index
from vector_memory.system import removal, tampering

log = logging.getLogger(__name__)

TASK: Task = "purge"
"""The task that is due in the state until a store is written anew; its "session" is the store's folder."""
MOST_SHOWN = 1_000


class SearchedView(messages.Answer):
    """How many files were searched, of how many megabytes, for how many pieces of text, and which of them
    could not be read."""

    files: int = 0
    mb: float = 0.0
    pieces: int = 0
    unread: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class PurgeAnswer:
    """What a purge did so far, or would do.

    Attributes:
        form: how it was said what goes: `ids`, `text`, `session`, `dir` or `forgotten`.
        memories: the first of those that go, and `count` how many there are.
        sessions: those that they come from.
        backups: the files in the backups' usual place that may hold the words.
        set_aside: damaged copies that may; after a purge those that were deleted.
        sources: files of others from which the memories came; they stay as they are.
        unopened: why stores cannot be opened, by their folders.
        purged: rows that were removed.
        archives: archives of sessions that were removed.
        backups_deleted: backups that were deleted.
        wiped: logs in which words were written over.
        errors: what could not be done.
        strays: files in the stores' folders that are not ours and were left.
        searched: what was searched for the words.
        left: files that still hold them.
        taken_back: folders of the projects whose teams are told by a new signed bundle; `still_shared` those for
            which that failed, with why.
        certificate: the file that proves it to others.
    """

    form: str
    memories: list[MemoryView]
    count: int
    sessions: list[str]
    backups: list[str]
    set_aside: list[str]
    sources: list[str]
    unopened: dict[str, str]
    purged: int = 0
    archives: int = 0
    backups_deleted: list[str] = field(default_factory=list)
    wiped: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)
    searched: SearchedView = SearchedView()
    left: list[str] = field(default_factory=list)
    taken_back: list[str] | None = spare()
    still_shared: dict[str, str] | None = spare()
    certificate: str | None = spare()


def purge(ctx: Context, request: PurgeRequest, progress: Progress) -> PurgeAnswer:
    """Remove memories for good; with `dry_run` only tell what would go.

    Raises:
        BadInputError, NotFoundError: it is not said what, or there is none; or a certificate is wanted, and this
            installation's key cannot be opened.

    Returns:
        What went, or would go, by store, and where its words were looked for.
    """
    # Observers first store what they hold of running sessions, so that it is found like all other records.
    flags.settle(ctx)
    ctx.running.clear()
    selection = choose(ctx, request)
    if request.dry_run:
        progress(0, 1, "searching every file")
        preview = _preview(ctx, selection)
        preview.backups = _backups(ctx, selection)
        return _with_search(preview, _search(ctx, selection.pieces), selection)
    if request.certificate:
        # A missing passphrase raises here, before anything goes.
        contracts.signer(ctx, request.passphrase)
    begun_purge = BegunPurge(
        new_id(),
        selection,
        erasure.projects_shared_with(ctx, selection),
        _summarized_sessions(selection),
    )
    return _carry_out(ctx, request, begun_purge, progress)


def _carry_out(
    ctx: Context, request: PurgeRequest, begun_purge: BegunPurge, progress: Progress
) -> PurgeAnswer:
    """Remove what was chosen from everywhere, and prove it."""
    selection, projects, answer = (
        begun_purge.selection,
        begun_purge.shared_with,
        _preview(ctx, begun_purge.selection),
    )
    _remove(ctx, request, begun_purge, answer, progress)
    _clean_stores(ctx, selection, answer, progress)
    _clean_copies(ctx, selection, answer, request.backups)
    progress(3, 4, "searching every file")
    result = _search_and_mend(ctx, selection, answer)
    taken_back, failed = erasure.take_back(ctx, request, projects, selection.ids)
    detail = {"form": selection.form, "purged": answer.purged, "left_in": len(result.found)}
    detail |= {"files": result.files, "backups": len(other_copies.backups(ctx.home))}
    detail |= {"taken_back": len(taken_back), "still_shared": len(failed)} if projects else {}
    detail |= {"resumed": True} if begun_purge.was_interrupted else {}
    ctx.state.audit("purge", request.actor, selection.ids, detail)
    ctx.state.scrub(whole=True)
    ctx.notify()
    answer.taken_back, answer.still_shared = taken_back if projects else None, failed or None
    answer.certificate = erasure.certificate(ctx, request) if request.certificate else None
    answer.backups = other_copies.backups(ctx.home)
    answer.strays = [path for store in _stores(ctx) for path in removal.strays(store)]
    unfinished.clear(ctx, begun_purge.id)
    return _with_search(answer, result, selection)


def resume(ctx: Context) -> None:
    """Finish what a daemon that ended in the middle left undone."""
    for request, begun_purge in unfinished.interrupted(ctx):
        try:
            _carry_out(ctx, request, begun_purge, ignore_progress)
        except BadInputError as error:
            # It is in the log; `proof make --entry` proves it by whoever knows the passphrase.
            log.warning("a purge that was interrupted is done, and not proved: %s", error)
            unfinished.clear(ctx, begun_purge.id)
    due = set(ctx.state.due_keys(TASK))
    for shelf in ctx.every_shelf():
        if shelf.folder in due:
            _clean_store(ctx, shelf, [])
            ctx.state.mark_done(TASK, [shelf.folder])


# -- what goes ------------------------------------------------------------------------------------


def _preview(ctx: Context, selection: PurgeSelection) -> PurgeAnswer:
    """Return what would go; nothing was searched for it yet."""
    names = project_names([part.shelf for part in selection.parts])
    memories = [memory for _, memory in selection.memories]
    return PurgeAnswer(
        form=selection.form,
        memories=[memory_view(memory, names) for memory in memories[:MOST_SHOWN]],
        count=sum(len(part.memories) + len(part.damaged) for part in selection.parts),
        sessions=sorted(selection.sessions),
        backups=other_copies.backups(ctx.home),
        set_aside=other_copies.set_aside(ctx.home, _stores(ctx)),
        sources=_sources(memories),
        unopened={folder: str(error) for folder, error in ctx.unopened().items()},
    )


def _sources(memories: Sequence[Memory]) -> list[str]:
    """Return the files of others from which these memories came, as far as they are still there."""
    paths = {memory.source.path for memory in memories if memory.source.path}
    return sorted(path for path in paths if os.path.isfile(path))


def _remove(
    ctx: Context,
    request: PurgeRequest,
    begun_purge: BegunPurge,
    answer: PurgeAnswer,
    progress: Progress,
) -> None:
    """Remove rows, and make anew what was made of their sessions."""
    selection = begun_purge.selection
    # Meanwhile no transcript is read, and no topics are made of what goes. The pull's lock is taken first: a pull may take
    # long to reach its place, and capturing must not wait for that.
    with _pull_stopped(ctx, selection.parts), ctx.capturing, session_topics.ONE_AT_A_TIME:
        ctx.state.block_names(selection.names, ctx.now())
        if not begun_purge.was_interrupted:
            unfinished.note(ctx, request, begun_purge)
        for part in selection.parts:
            ctx.state.add_due(TASK, part.shelf.folder)
        for number, part in enumerate(selection.parts):
            progress(number, len(selection.parts), "removing")
            answer.purged += _remove_rows(ctx, part) if part.ids else 0
    if selection.session or selection.project:
        paths = {memory.source.path for _, memory in selection.memories}
        named_sessions = [selection.session] if selection.session else []
        ctx.state.forget_sessions(named_sessions, selection.project, selection.sessions | paths)
    for session in sorted(selection.sessions):
        removed = archives.remove(ctx.home, session)
        answer.archives += removed
        is_whole = session == selection.session
        session_summary.after_purge(
            ctx, session, removed > 0 and not is_whole, session in begun_purge.summarized
        )
    ctx.changed()


def _summarized_sessions(selection: PurgeSelection) -> set[str]:
    """Return the sessions that had a summary."""
    return {
        memory.source.session
        for part in selection.parts
        for memory in (*part.memories, *part.derived)
        if memory.kind == SUMMARY and memory.status is Status.ACTIVE
    }


def _pull_stopped(ctx: Context, parts: Sequence[StorePart]) -> AbstractContextManager[object]:
    """Return a context in which no pull runs, if something that others shared goes."""
    if not any(part.ids and is_shared(ctx, part.shelf) for part in parts):
        return contextlib.nullcontext()
    return team.sharing


def _remove_rows(ctx: Context, part: StorePart) -> int:
    shelf = part.shelf
    if is_shared(ctx, shelf):
        from vector_memory.service.sharing import share

        # No pull is to bring it again.
        share.note_rejected(ctx, part.memories, part.damaged)
    with shelf.storing, shelf.following:
        restore_superseded(shelf, part.ids, part.memories)
        return shelf.journal.purge(part.ids)


def restore_superseded(shelf: Shelf, ids: Sequence[str], memories: Iterable[Memory]) -> None:
    """Make memories that rows which go had superseded hold again, or give way to the successors of those rows.

    Args:
        ids: those of the rows that go.
        memories: these rows, as far as they can be read.
    """
    removed_ids = set(ids)
    successors = {memory.id: memory.superseded_by for memory in memories}
    for older in shelf.journal.replaced_by(ids):
        if older.id not in removed_ids:
            shelf.journal.update(_restore_superseded(older, successors, removed_ids))


def _restore_superseded(
    memory: Memory, successors: dict[str, str], removed_ids: set[str]
) -> Memory:
    """Return a memory that had given way to one that goes: superseded by the successor of that, or active again."""
    successor = memory.superseded_by
    while successor in removed_ids:
        successor = successors.get(successor, "")
    if successor:
        return replace(memory, superseded_by=successor)
    return memory.revived()


# -- the files ------------------------------------------------------------------------------------


def _clean_stores(
    ctx: Context, selection: PurgeSelection, answer: PurgeAnswer, progress: Progress
) -> None:
    for number, part in enumerate(selection.parts):
        progress(number, len(selection.parts), "writing anew")
        try:
            _clean_store(ctx, part.shelf, [selection.project] if selection.project else [])
        except (VectorMemoryError, OSError) as error:
            # The search tells whether it matters; the next daemon tries again.
            log.error("a purged store is not written anew: %s", error)
            answer.errors.append(str(error))
        else:
            ctx.state.mark_done(TASK, [part.shelf.folder])


def _clean_store(ctx: Context, shelf: Shelf, projects: Sequence[str]) -> None:
    """Write a store's files anew, without anything that no memory has."""
    with shelf.following:
        shelf.journal.drop_leftovers(projects)
    _clean_index(ctx, shelf)


def _clean_index(ctx: Context, shelf: Shelf) -> None:
    folders = [os.path.join(shelf.folder, name) for name in swap.DERIVED]
    if shelf.index is None and not any(map(os.path.isdir, folders)):
        return
    with contextlib.suppress(DaemonUnavailableError):
        if ctx.embedding.wait(60.0):
            wait_for_index(ctx, shelf)
    index = shelf.index
    if index is None:
        tampering.require_intact(shelf.folder)
        # No model, so nobody has it open; it is made anew from the journal when there is one.
        for folder in folders:
            removal.remove(folder)
        return
    with shelf.following:
        try:
            index.purge(shelf.journal.living_seqs())
        except VectorMemoryError as error:
            log.warning("an index is made anew: %s", error)
            index.rebuild()
            shelf.recheck_vectors = True


def _clean_copies(
    ctx: Context, selection: PurgeSelection, answer: PurgeAnswer, with_backups: bool
) -> None:
    answer.set_aside = _remove_copies(other_copies.set_aside(ctx.home, _stores(ctx)), answer)
    if with_backups:
        answer.backups_deleted = _remove_copies(_backups(ctx, selection), answer)
    if vault_export.is_in_use(ctx):
        _clean_vault(ctx, answer)


def _clean_vault(ctx: Context, answer: PurgeAnswer) -> None:
    try:
        export = vault_export.write(ctx)
    except (VectorMemoryError, OSError) as error:
        # What follows, the audit log and what a team is told, must not wait for the vault.
        answer.errors.append(f"The notes in the vault may still hold the words: {error}")
        return
    for state, paths in (
        ("is as you edited it", export.edited),
        ("could not be written", export.failed),
    ):
        notices = (f"{path} {state}: look whether it still holds the words." for path in paths)
        answer.errors.extend(notices)


def _backups(ctx: Context, selection: PurgeSelection) -> list[str]:
    """Return the backups that may hold what goes. Where no memory has the words, they may be mistyped: then only those
    backups that hold them literally, or that cannot be read."""
    paths = other_copies.backups(ctx.home)
    if selection.form != "text" or any(part.memories or part.damaged for part in selection.parts):
        return paths
    result = byte_search.search(paths, Needles(selection.pieces))
    return [path for path in paths if path in result.found or path in result.unread]


def _remove_copies(paths: Sequence[str], answer: PurgeAnswer) -> list[str]:
    """Remove files and folders; return those that are gone now."""
    removed = []
    for path in paths:
        try:
            other_copies.remove(path)
            removed.append(path)
        except OSError as error:
            answer.errors.append(f"{path} cannot be removed: {error.strerror}.")
    return removed


# -- the proof ------------------------------------------------------------------------------------


def _search_and_mend(ctx: Context, selection: PurgeSelection, answer: PurgeAnswer) -> SearchResult:
    """Search every file for the words; mend what still holds them, and search again."""
    result = _search(ctx, selection.pieces)
    if not result.found:
        return result
    pieces = _pieces_in_no_memory(ctx, selection)
    if len(pieces) < len(selection.pieces):
        selection.pieces = pieces
        result = _search(ctx, pieces)
    if not result.found:
        return result
    _mend(ctx, result, answer)
    return _search(ctx, selection.pieces)


def _pieces_in_no_memory(ctx: Context, selection: PurgeSelection) -> list[str]:
    """Return the pieces that stand in no memory that stays."""
    if selection.form == "text":
        return selection.pieces
    return [
        piece
        for piece in selection.pieces
        if not any(shelf.journal.holding([piece]) for shelf in ctx.every_shelf())
    ]


def _mend(ctx: Context, result: SearchResult, answer: PurgeAnswer) -> None:
    """Write over logs, drop what is made again by itself, and write the databases anew once more: a reader may have kept
    the databases' write-ahead logs from being folded in."""
    for path, places in result.found.items():
        try:
            if other_copies.is_log(ctx.home, path):
                byte_search.overwrite(path, places)
                answer.wiped.append(path)
            elif other_copies.is_made_again(ctx.home, path):
                other_copies.remove(path)
        except OSError as error:
            answer.errors.append(f"{path} cannot be cleaned: {error.strerror}.")
    time.sleep(0.1)
    for shelf in ctx.every_shelf():
        if any(path.startswith(shelf.folder + os.sep) for path in result.found):
            try:
                _clean_store(ctx, shelf, [])
            except (VectorMemoryError, OSError) as error:
                answer.errors.append(str(error))
    ctx.state.scrub(whole=True)


def _search(ctx: Context, pieces: Sequence[str]) -> SearchResult:
    if not pieces:
        return SearchResult()
    result = byte_search.search(other_copies.files_of(ctx.home, _stores(ctx)), Needles(pieces))
    # The state has the jobs' names, and one may have the very word in it: "gate" is a part of "memory-gateway".
    needles = Needles(pieces, ctx.state.jobs())
    for path in [path for path in result.found if path.startswith(ctx.home.state_db)]:
        if not byte_search.search([path], needles).found:
            del result.found[path]
    return result


def _with_search(
    answer: PurgeAnswer, result: SearchResult, selection: PurgeSelection
) -> PurgeAnswer:
    """Return an answer with what was searched, and which files hold the words."""
    view = SearchedView(
        files=result.files,
        mb=round(result.bytes / 1e6, 1),
        pieces=len(selection.pieces),
        unread=result.unread,
    )
    answer.searched, answer.left = view, sorted(result.found)
    return answer


def _stores(ctx: Context) -> list[str]:
    return [shelf.folder for shelf in ctx.every_shelf()]
