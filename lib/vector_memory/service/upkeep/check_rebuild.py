"""Upkeep that is asked for: check, rebuild, migrate, wait."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vector_memory.errors import DaemonUnavailableError, EmbeddingError
from vector_memory.model import Progress
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.follow_journal import follow_once
from vector_memory.service.base.shelf import Shelf
from vector_memory.system import removal, tampering

if TYPE_CHECKING:
    from vector_memory.journal.repair.salvage import Salvaged
    from vector_memory.store.index import Index

INDEX_WAIT_S = 30.0
SETTLE_S = 6 * 3_600.0
"""How long anybody waits for vectors at most."""
RESTORE = "`vector-memory restore FILE` brings them back from a backup."
SAVES = "Run `vector-memory check --read-data`: it saves what can be read."


class CheckRequest(messages.Request):
    """Is anything damaged?

    Attributes:
        read_data: read all data, and mend what is damaged.
    """

    read_data: bool = messages.flag()


class Problem(messages.Answer):
    """What is wrong with a store, and what was done or can be done about it, "" for nothing."""

    store: str
    what: str
    fix: str


class CheckAnswer(messages.Answer):
    """What a check of so many stores found.

    Attributes:
        set_aside: damaged files that were replaced and kept, as their reports have it: `at`, `why`, `kept`, `lost`
            and more.
    """

    ok: bool
    problems: list[Problem]
    stores: int
    set_aside: list[dict[str, object]]


def check(ctx: Context, request: CheckRequest, progress: Progress) -> CheckAnswer:
    """Look for damage in every store; with `read_data` all data is read, and what is damaged is set
    aside and made anew: the index from the journal, the journal from what can be read of it.

    Returns:
        What was found and mended, by store.
    """
    read_data = request.read_data
    shelves = ctx.all_shelves()
    if ctx.embedding.model:
        # Its state is shown by `stats`, not here.
        ctx.embedding.retry()
    problems = _unopened(ctx)
    for number, shelf in enumerate(shelves):
        progress(number, len(shelves), "checking")
        problems += _check_journal(ctx, shelf, read_data)
        problems += _check_index(ctx, shelf, read_data)
    problems += _check_state(ctx, read_data)
    if problems:
        ctx.notify()
    set_aside = [path for shelf in shelves for path in shelf.journal.set_aside()]
    set_aside += ctx.state.set_aside()
    return CheckAnswer(not problems, problems, len(shelves), set_aside)


def _unopened(ctx: Context) -> list[Problem]:
    errors = ctx.unopened()
    global_store = ctx.home.global_store
    if signs := tampering.foreign_entries(global_store):
        errors[global_store] = tampering.refusal(global_store, signs)
    return [Problem(folder, error.message, error.hint) for folder, error in errors.items()]


def _check_journal(ctx: Context, shelf: Shelf, mend: bool) -> list[Problem]:
    problems, fix = shelf.journal.check(mend), SAVES
    if problems and mend and shelf.journal.writable:
        fix = RESTORE
        if (salvaged := shelf.mend_journal(problems)) is not None:
            ctx.state.audit("mend", "job", [], {"kept": salvaged.kept, "lost": len(salvaged.lost)})
            fix = repair_report(salvaged)
    return _problems_of(shelf.folder, problems, fix)


def repair_report(salvaged: Salvaged) -> str:
    """Return what was done about a damaged journal, in a sentence or two."""
    if not salvaged.aside:
        return "It was made anew."
    saved = (
        f"{salvaged.kept} memories were saved into a new file, the old one is in {salvaged.aside}."
    )
    if salvaged.lost or not salvaged.kept:
        losses = f"{len(salvaged.lost)} at least" if salvaged.lost else "An unknown number of them"
        return f"{saved} {losses} could not be read. {RESTORE}"
    return f"{saved} None is missing."


def _check_index(ctx: Context, shelf: Shelf, mend: bool) -> list[Problem]:
    index = shelf.index
    if index is None:
        return []
    problems, fix = index.check(mend), "Run `vector-memory check --read-data`."
    if mend and (problems := problems or _differences(shelf, index)):
        shelf.mend_index(problems)
        ctx.count("indexes_set_aside")
        fix = "It was set aside and is made anew by itself."
    return _problems_of(shelf.folder, problems, fix)


def _differences(shelf: Shelf, index: Index) -> list[str]:
    """Compare the rows of an up-to-date index with the journal's: it may belong to another journal."""
    import numpy as np

    with shelf.following:
        seq_before = shelf.journal.given_seq()
        if not index.lexical_ready or index.reached() < shelf.journal.last_seq():
            return []
        expected = np.array(shelf.journal.living_seqs(), np.int64)
        indexed = index.seqs()
        if shelf.journal.given_seq() != seq_before:
            # Something was stored meanwhile: the comparison would be wrong.
            return []
    missing, duplicates = (
        len(np.setdiff1d(expected, indexed)),
        len(indexed) - len(np.unique(indexed)),
    )
    if not missing and not duplicates:
        # Rows that the journal has no longer are no damage: they are never shown.
        return []
    return [f"The index lacks {missing} memories and has {duplicates} twice."]


def _check_state(ctx: Context, mend: bool) -> list[Problem]:
    problems, fix = ctx.state.check(mend), SAVES
    if problems and mend:
        ctx.state.mend(problems[0])
        fix = "What could be read was saved into a new file; the old one was set aside."
    elif not problems and ctx.state.audit_break():
        problems, fix = ["The audit log was changed."], ""
    return _problems_of(ctx.home.state_db, problems, fix)


def _problems_of(path: str, problems: Sequence[str], fix: str) -> list[Problem]:
    """Return what is wrong in a file or folder, with what is to be done about all of it."""
    return [Problem(path, what, fix) for what in problems]


class RebuildAnswer(messages.Answer):
    """How many rows were indexed anew.

    Attributes:
        unopened: why stores cannot be opened, by their folders.
        strays: files in the stores' folders that are not ours and were left.
    """

    rows: int
    seconds: float
    unopened: dict[str, str]
    strays: list[str]


def rebuild(ctx: Context, request: messages.Request, progress: Progress) -> RebuildAnswer:
    """Make every store's indexes anew from its journal; vectors come from the cache."""
    started = time.monotonic()
    rows = 0
    for shelf in _writable(ctx):
        wait_for_index(ctx, shelf)
        shelf.journal.rebuild_lexical()
        assert shelf.index is not None
        with shelf.following:
            shelf.index.rebuild()
        shelf.recheck_vectors = True
        rows += bring_up_to_date(ctx, shelf, progress)
    ctx.state.audit("rebuild", request.actor, [], {"rows": rows})
    return RebuildAnswer(
        rows=rows,
        seconds=round(time.monotonic() - started, 3),
        unopened={folder: str(error) for folder, error in ctx.unopened().items()},
        strays=[path for shelf in _writable(ctx) for path in removal.strays(shelf.folder)],
    )


def _writable(ctx: Context) -> list[Shelf]:
    return [shelf for shelf in ctx.all_shelves() if shelf.journal.writable]


def bring_up_to_date(ctx: Context, shelf: Shelf, progress: Progress) -> int:
    """Bring a shelf's index up to date with its journal; return how many rows that took."""
    total = shelf.journal.count()
    indexed = 0
    while step := follow_once(shelf, ctx.embedding):
        indexed += step
        progress(min(indexed, total), total, "indexing")
    if shelf.index is not None:
        shelf.index.optimize()
    return indexed


class MigrateAnswer(messages.Answer):
    """How many memories were embedded now, and how many there are in all (`have`) that this model embedded."""

    embedded: int
    model: str
    have: int


def migrate(ctx: Context, request: messages.Request, progress: Progress) -> MigrateAnswer:
    """Embed with the configured model all that was embedded with another one.

    Raises:
        EmbeddingError: the configured model cannot be used.

    Returns:
        How many were embedded anew, beside what was embedded in the background before.
    """
    if not (ctx.embedding.wait(60.0) and ctx.embedding.retry()):
        raise EmbeddingError("The configured model cannot be used.", ctx.embedding.error)
    embedded = 0
    for shelf in _writable(ctx):
        wait_for_index(ctx, shelf)
        shelf.refused.clear()
        shelf.doubted.clear()
        shelf.recheck_vectors = True
        embedded += bring_up_to_date(ctx, shelf, progress)
    detail = {"embedded": embedded, "model": ctx.embedding.model}
    ctx.state.audit("migrate", request.actor, [], detail)
    model = ctx.embedding.model
    have = sum(shelf.journal.count_with_model(model) for shelf in _writable(ctx))
    return MigrateAnswer(embedded, model, have)


def wait_for_index(ctx: Context, shelf: Shelf) -> None:
    """Wait until a store's index is open.

    Raises:
        DaemonUnavailableError: it takes too long.
    """
    deadline = time.monotonic() + INDEX_WAIT_S
    with ctx.awaiting_index.going_on():
        while shelf.index is None or not shelf.index.lexical_ready:
            if time.monotonic() > deadline:
                raise DaemonUnavailableError(
                    "The search index is not open yet.", "`vector-memory doctor` tells why."
                )
            time.sleep(0.05)


class WaitRequest(messages.Request):
    """Wait until all can be found by meaning, so long at most."""

    timeout_s: float = messages.seconds(60.0, SETTLE_S)


class WaitAnswer(messages.Answer):
    """Whether all can be found by meaning."""

    complete: bool


def wait(ctx: Context, request: WaitRequest, progress: Progress) -> WaitAnswer:
    """Wait until all can be found by meaning.

    Returns:
        How many still wait, when the time was up.
    """
    return WaitAnswer(wait_until_indexed(ctx, request.timeout_s, progress))


def wait_until_indexed(ctx: Context, timeout_s: float, progress: Progress) -> bool:
    """Wait until every open store's index is level, vectors included; whether it is."""
    deadline = time.monotonic() + timeout_s
    with ctx.awaiting_index.going_on():
        while time.monotonic() < deadline:
            behind, total = lag(ctx)
            if not behind:
                return True
            progress(max(0, total - behind), total, "embedding")
            time.sleep(0.1)
    return False


def lag(ctx: Context) -> tuple[int, int]:
    """Return how many memories of the open stores wait for their place in the index, and how many
    there are. Without a model only what is searchable by words counts."""
    behind = total = 0
    for shelf in ctx.opened_shelves():
        count = shelf.journal.count()
        total += count
        behind += pending(ctx, shelf)
    return behind, total


def pending(ctx: Context, shelf: Shelf) -> int:
    """Return how many memories of a store have no vector of the model yet."""
    if ctx.embedding.state == "failed" or not shelf.journal.writable:
        return 0
    is_behind = shelf.index is None or shelf.index.reached() < shelf.journal.last_seq()
    # The journal is only asked while vectors may be missing.
    if not is_behind and not shelf.recheck_vectors:
        return 0
    # Only missing vectors are counted: with a backlog the words are indexed first, and a count of both would start twice.
    lacking = shelf.journal.count_without_model(ctx.embedding.model)
    return max(int(is_behind or lacking > 0), lacking - shelf.embedded_ahead)
