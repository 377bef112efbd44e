"""Purge: words are removed for good, from every copy, and every file is searched for them afterwards.

The order is such that whatever interrupts it, nothing comes back: first it is noted what must not be
captured again, and what goes (`begun`), then rows go, then all that was made of them is made anew. A next daemon
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
from vector_memory.service.purge import begun, byte_search, erasure, other_copies
from vector_memory.service.purge.begun import BegunPurge
from vector_memory.service.purge.byte_search import Needles, Searched
from vector_memory.service.purge.selection import (
    PurgeRequest,
    PurgeSelection,
    StorePart,
    choose,
    is_shared,
)
from vector_memory.service.sharing import team
from vector_memory.service.tools import flags
from vector_memory.service.transfer import vault_export
from vector_memory.service.upkeep.check_rebuild import wait_for_index
from vector_memory.system import removal, tampering

log = logging.getLogger(__name__)

TASK: Task = "purge"
"""What is due in the state while a store is not written anew yet; its "session" is the store's folder."""
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
    # What observers still hold of running sessions becomes records first, which are found like all others.
    flags.settle(ctx)
    ctx.running.clear()
    chosen = choose(ctx, request)
    if request.dry_run:
        progress(0, 1, "searching every file")
        preview = _preview(ctx, chosen)
        preview.backups = _backups(ctx, chosen)
        return _with_search(preview, _search(ctx, chosen.pieces), chosen)
    if request.certificate:
        # A passphrase that is missing is told before anything goes.
        contracts.signer(ctx, request.passphrase)
    started = BegunPurge(new_id(), chosen, erasure.shared_with(ctx, chosen), _made_of(chosen))
    return _carry_out(ctx, request, started, progress)


def _carry_out(
    ctx: Context, request: PurgeRequest, started: BegunPurge, progress: Progress
) -> PurgeAnswer:
    """Remove what was chosen from everywhere, and prove it."""
    chosen, corners, done = started.chosen, started.told, _preview(ctx, started.chosen)
    _remove(ctx, request, started, done, progress)
    _clean_stores(ctx, chosen, done, progress)
    _clean_copies(ctx, chosen, done, request.backups)
    progress(3, 4, "searching every file")
    searched = _shown_by_search(ctx, chosen, done)
    taken, failed = erasure.take_back(ctx, request, corners, chosen.ids)
    about = {"form": chosen.form, "purged": done.purged, "left_in": len(searched.found)}
    about |= {"files": searched.files, "backups": len(other_copies.backups(ctx.home))}
    about |= {"taken_back": len(taken), "still_shared": len(failed)} if corners else {}
    about |= {"resumed": True} if started.was_interrupted else {}
    ctx.state.audit("purge", request.actor, chosen.ids, about)
    ctx.state.scrub(whole=True)
    ctx.notify()
    done.taken_back, done.still_shared = taken if corners else None, failed or None
    done.certificate = erasure.certificate(ctx, request) if request.certificate else None
    done.backups = other_copies.backups(ctx.home)
    done.strays = [path for store in _stores(ctx) for path in removal.strays(store)]
    begun.done(ctx, started.id)
    return _with_search(done, searched, chosen)


def resume(ctx: Context) -> None:
    """Finish what a daemon that ended in the middle left undone."""
    for request, started in begun.noted(ctx):
        try:
            _carry_out(ctx, request, started, ignore_progress)
        except BadInputError as error:
            # It is in the log; `proof make --entry` proves it by whoever knows the passphrase.
            log.warning("a purge that was interrupted is done, and not proved: %s", error)
            begun.done(ctx, started.id)
    due = set(ctx.state.due(TASK))
    for shelf in ctx.every_shelf():
        if shelf.folder in due:
            _clean_store(ctx, shelf, [])
            ctx.state.done(TASK, [shelf.folder])


# -- what goes ------------------------------------------------------------------------------------


def _preview(ctx: Context, chosen: PurgeSelection) -> PurgeAnswer:
    """Return what would go; nothing was searched for it yet."""
    names = project_names([part.shelf for part in chosen.parts])
    memories = [memory for _, memory in chosen.memories]
    return PurgeAnswer(
        form=chosen.form,
        memories=[memory_view(memory, names) for memory in memories[:MOST_SHOWN]],
        count=sum(len(part.memories) + len(part.damaged) for part in chosen.parts),
        sessions=sorted(chosen.sessions),
        backups=other_copies.backups(ctx.home),
        set_aside=other_copies.set_aside(ctx.home, _stores(ctx)),
        sources=_sources(memories),
        unopened={at: str(error) for at, error in ctx.unopened().items()},
    )


def _sources(memories: Sequence[Memory]) -> list[str]:
    """Return the files of others from which these memories came, as far as they are still there."""
    paths = {memory.source.path for memory in memories if memory.source.path}
    return sorted(path for path in paths if os.path.isfile(path))


def _remove(
    ctx: Context, request: PurgeRequest, started: BegunPurge, done: PurgeAnswer, progress: Progress
) -> None:
    """Remove rows, and make anew what was made of their sessions."""
    chosen = started.chosen
    # Nobody reads a transcript, or makes topics of what goes, meanwhile. A pull that runs may be long in reaching its place:
    # it is waited for before any capture has to wait.
    with _no_pull(ctx, chosen.parts), ctx.capturing, session_topics.ONE_AT_A_TIME:
        ctx.state.block(chosen.names, ctx.now())
        if not started.was_interrupted:
            begun.note(ctx, request, started)
        for part in chosen.parts:
            ctx.state.add_due(TASK, part.shelf.folder)
        for number, part in enumerate(chosen.parts):
            progress(number, len(chosen.parts), "removing")
            done.purged += _remove_rows(ctx, part) if part.ids else 0
    if chosen.session or chosen.project:
        paths = {memory.source.path for _, memory in chosen.memories}
        own = [chosen.session] if chosen.session else []
        ctx.state.forget_sessions(own, chosen.project, chosen.sessions | paths)
    for session in sorted(chosen.sessions):
        removed = archives.remove(ctx.home, session)
        done.archives += removed
        whole = session == chosen.session
        session_summary.after_purge(
            ctx, session, removed > 0 and not whole, session in started.summarized
        )
    ctx.changed()


def _made_of(chosen: PurgeSelection) -> set[str]:
    """Return the sessions that had a summary."""
    return {
        memory.source.session
        for part in chosen.parts
        for memory in (*part.memories, *part.derived)
        if memory.kind == SUMMARY and memory.status is Status.ACTIVE
    }


def _no_pull(ctx: Context, parts: Sequence[StorePart]) -> AbstractContextManager[object]:
    """Return a block in which nothing that others share is pulled, where some of it goes."""
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
        release_older(shelf, part.ids, part.memories)
        return shelf.journal.purge(part.ids)


def release_older(shelf: Shelf, ids: Sequence[str], memories: Iterable[Memory]) -> None:
    """Let what had given way to rows that go hold again, or give way to what comes after those.

    Args:
        ids: those of the rows that go.
        memories: these rows, as far as they can be read.
    """
    going = set(ids)
    successors = {memory.id: memory.superseded_by for memory in memories}
    for older in shelf.journal.replaced_by(ids):
        if older.id not in going:
            shelf.journal.update(_released(older, successors, going))


def _released(memory: Memory, successors: dict[str, str], going: set[str]) -> Memory:
    """Return a memory that had given way to one that goes: it gives way to the one after that, else it
    holds again."""
    following = memory.superseded_by
    while following in going:
        following = successors.get(following, "")
    if following:
        return replace(memory, superseded_by=following)
    return memory.revived()


# -- the files ------------------------------------------------------------------------------------


def _clean_stores(
    ctx: Context, chosen: PurgeSelection, done: PurgeAnswer, progress: Progress
) -> None:
    for number, part in enumerate(chosen.parts):
        progress(number, len(chosen.parts), "writing anew")
        try:
            _clean_store(ctx, part.shelf, [chosen.project] if chosen.project else [])
        except (VectorMemoryError, OSError) as error:
            # The search tells whether it matters; the next daemon tries again.
            log.error("a purged store is not written anew: %s", error)
            done.errors.append(str(error))
        else:
            ctx.state.done(TASK, [part.shelf.folder])


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
    ctx: Context, chosen: PurgeSelection, done: PurgeAnswer, with_backups: bool
) -> None:
    done.set_aside = _removed(other_copies.set_aside(ctx.home, _stores(ctx)), done)
    if with_backups:
        done.backups_deleted = _removed(_backups(ctx, chosen), done)
    if vault_export.is_kept(ctx):
        _clean_vault(ctx, done)


def _clean_vault(ctx: Context, done: PurgeAnswer) -> None:
    try:
        written = vault_export.write(ctx)
    except (VectorMemoryError, OSError) as error:
        # What follows, the audit log and what a team is told, must not wait for the vault.
        done.errors.append(f"The notes in the vault may still hold the words: {error}")
        return
    for why, paths in (
        ("is as you edited it", written.edited),
        ("could not be written", written.failed),
    ):
        notices = (f"{path} {why}: look whether it still holds the words." for path in paths)
        done.errors.extend(notices)


def _backups(ctx: Context, chosen: PurgeSelection) -> list[str]:
    """Return the backups that may hold what goes. Where no memory has the words, a word may only be mistyped: then
    those in which it stands as it is, or that cannot be read."""
    paths = other_copies.backups(ctx.home)
    if chosen.form != "text" or any(part.memories or part.damaged for part in chosen.parts):
        return paths
    searched = byte_search.search(paths, Needles(chosen.pieces))
    return [path for path in paths if path in searched.found or path in searched.unread]


def _removed(paths: Sequence[str], done: PurgeAnswer) -> list[str]:
    """Remove files and folders; return those that are gone now."""
    gone = []
    for path in paths:
        try:
            other_copies.remove(path)
            gone.append(path)
        except OSError as error:
            done.errors.append(f"{path} cannot be removed: {error.strerror}.")
    return gone


# -- the proof ------------------------------------------------------------------------------------


def _shown_by_search(ctx: Context, chosen: PurgeSelection, done: PurgeAnswer) -> Searched:
    """Search every file for the words; mend what still holds them, and search again."""
    searched = _search(ctx, chosen.pieces)
    if not searched.found:
        return searched
    rest = _unshared(ctx, chosen)
    if len(rest) < len(chosen.pieces):
        chosen.pieces = rest
        searched = _search(ctx, rest)
    if not searched.found:
        return searched
    _mend(ctx, searched, done)
    return _search(ctx, chosen.pieces)


def _unshared(ctx: Context, chosen: PurgeSelection) -> list[str]:
    """Return the pieces that no memory holds: a turn of phrase may stand in others, which stay."""
    if chosen.form == "text":
        return chosen.pieces
    return [
        piece
        for piece in chosen.pieces
        if not any(shelf.journal.holding([piece]) for shelf in ctx.every_shelf())
    ]


def _mend(ctx: Context, searched: Searched, done: PurgeAnswer) -> None:
    """Write over logs, drop what is made again by itself, and write the databases anew once more: somebody
    may have read them at that moment, so that their logs could not be folded in."""
    for path, places in searched.found.items():
        try:
            if other_copies.is_log(ctx.home, path):
                byte_search.overwrite(path, places)
                done.wiped.append(path)
            elif other_copies.is_made_again(ctx.home, path):
                other_copies.remove(path)
        except OSError as error:
            done.errors.append(f"{path} cannot be cleaned: {error.strerror}.")
    time.sleep(0.1)
    for shelf in ctx.every_shelf():
        if any(path.startswith(shelf.folder + os.sep) for path in searched.found):
            try:
                _clean_store(ctx, shelf, [])
            except (VectorMemoryError, OSError) as error:
                done.errors.append(str(error))
    ctx.state.scrub(whole=True)


def _search(ctx: Context, pieces: Sequence[str]) -> Searched:
    if not pieces:
        return Searched()
    searched = byte_search.search(other_copies.files_of(ctx.home, _stores(ctx)), Needles(pieces))
    # The state has the jobs' names, and one may have the very word in it: "gate" is a part of "memory-gateway".
    beside_jobs = Needles(pieces, ctx.state.jobs())
    for path in [path for path in searched.found if path.startswith(ctx.home.state_db)]:
        if not byte_search.search([path], beside_jobs).found:
            del searched.found[path]
    return searched


def _with_search(answer: PurgeAnswer, searched: Searched, chosen: PurgeSelection) -> PurgeAnswer:
    """Return an answer with what was searched, and which files hold the words."""
    view = SearchedView(
        files=searched.files,
        mb=round(searched.bytes / 1e6, 1),
        pieces=len(chosen.pieces),
        unread=searched.unread,
    )
    answer.searched, answer.left = view, sorted(searched.found)
    return answer


def _stores(ctx: Context) -> list[str]:
    return [shelf.folder for shelf in ctx.every_shelf()]
