"""Upkeep that is asked for: check, rebuild, migrate."""

from __future__ import annotations

import time
from typing import Any

from vector_memory.errors import DaemonUnavailableError, EmbeddingError
from vector_memory.model import Progress, Scope
from vector_memory.service import asked
from vector_memory.service.context import Context
from vector_memory.service.follow import follow_once
from vector_memory.service.shelf import Shelf

INDEX_WAIT_S = 30.0
EVERYTHING = Scope()


def check(ctx: Context, request: asked.Request, progress: Progress) -> dict[str, Any]:
    """Look for damage in every store; with `read_data` every row's data is read."""
    read_data = bool(request.get("read_data"))
    problems: list[dict[str, str]] = []
    shelves = ctx.all_shelves()
    for number, shelf in enumerate(shelves):
        progress(number, len(shelves), "checking")
        problems += [
            _problem(shelf, what, "Restore a backup; what can be read is in `export --all`.")
            for what in shelf.journal.check(read_data)
        ]
        if shelf.index is not None:
            problems += [
                _problem(shelf, what, "Run `vector-memory rebuild`.")
                for what in shelf.index.check(read_data)
            ]
    if not ctx.state.verify_audit():
        problems.append(
            {"store": ctx.home.state_db, "what": "The audit log was changed.", "fix": ""}
        )
    return {"ok": not problems, "problems": problems, "stores": len(shelves)}


def _problem(shelf: Shelf, what: str, fix: str) -> dict[str, str]:
    return {"store": shelf.folder, "what": what, "fix": fix}


def rebuild(ctx: Context, request: asked.Request, progress: Progress) -> dict[str, Any]:
    """Make every store's indexes anew from its journal; vectors come from the cache."""
    started = time.monotonic()
    rows = 0
    for shelf in ctx.all_shelves():
        wait_for_index(shelf)
        shelf.journal.rebuild_lexical()
        assert shelf.index is not None
        with shelf.following:
            shelf.index.rebuild()
        shelf.recheck_vectors = True
        rows += level(ctx, shelf, progress)
    ctx.state.audit("rebuild", asked.actor_of(request), [], {"rows": rows})
    return {"rows": rows, "seconds": round(time.monotonic() - started, 3)}


def level(ctx: Context, shelf: Shelf, progress: Progress) -> int:
    """Bring a shelf's index level with its journal and return how many rows that took."""
    total = shelf.journal.count()
    done = 0
    while step := follow_once(shelf, ctx.embedding):
        done += step
        progress(min(done, total), total, "indexing")
    if shelf.index is not None:
        shelf.index.optimize()
    return done


def migrate(ctx: Context, request: asked.Request, progress: Progress) -> dict[str, Any]:
    """Embed with the configured model all that was embedded with another one.

    Raises:
        EmbeddingError: the configured model cannot be used.
    """
    if not ctx.embedding.wait(60.0):
        raise EmbeddingError("The configured model cannot be used.", ctx.embedding.error)
    embedded = 0
    for shelf in ctx.all_shelves():
        wait_for_index(shelf)
        shelf.recheck_vectors = True
        embedded += level(ctx, shelf, progress)
    detail = {"embedded": embedded, "model": ctx.embedding.model}
    ctx.state.audit("migrate", asked.actor_of(request), [], detail)
    return {"embedded": embedded, "model": ctx.embedding.model}


def wait_for_index(shelf: Shelf) -> None:
    """Wait until a store's index is open.

    Raises:
        DaemonUnavailableError: it takes too long.
    """
    until = time.monotonic() + INDEX_WAIT_S
    while shelf.index is None or not shelf.index.lexical_ready:
        if time.monotonic() > until:
            raise DaemonUnavailableError(
                "The search index is not open yet.", "`vector-memory doctor` tells why."
            )
        time.sleep(0.05)


def wait_level(ctx: Context, timeout_s: float, progress: Progress) -> bool:
    """Wait until every open store's index is level, vectors included; whether it is."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
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
    if ctx.embedding.state == "failed":
        return 0
    if shelf.index is None or shelf.index.reached() < shelf.journal.last_seq():
        reached = shelf.index.reached() if shelf.index else 0
        return max(1, shelf.journal.count_after(reached))
    # Counted only while some may lack them: in the end nothing is asked of the journal.
    return shelf.journal.count_without_model(ctx.embedding.model) if shelf.recheck_vectors else 0
