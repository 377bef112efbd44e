"""Figures: what is stored, where, and what happened."""

from __future__ import annotations

import os
from typing import Any

from vector_memory.model import Scope
from vector_memory.service.base import model_help, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.lookup import name_in, project_names
from vector_memory.service.tools import flags
from vector_memory.service.upkeep import hook_counts
from vector_memory.service.upkeep.check_rebuild import pending


def stats(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return counts, of all stores or of one project, with the stores and the model behind them."""
    scope, shelves, place = Scope(), ctx.all_shelves(), None
    if request.get("project"):
        place = request_fields.place_of(ctx, request)
        assert place is not None
        scope, shelves = Scope(projects=(place.id,)), ctx.shelves_of(place)
    everything, scope = scope, request_fields.listed(scope)
    names = project_names(shelves)
    by_project = _merged(shelf.journal.count_by("project", scope) for shelf in shelves)
    hook_counts.drain(ctx)
    ctx.state.flush()
    return {
        "memories": sum(shelf.journal.count(scope) for shelf in shelves),
        "by_kind": _merged(shelf.journal.count_by("kind", scope) for shelf in shelves),
        "by_collection": _merged(
            shelf.journal.count_by("collection", everything) for shelf in shelves
        ),
        "by_project": {
            (name_in(names, key) or "global") + _distinct(key, names): n
            for key, n in by_project.items()
        },
        "flags": flags.figures(shelves, everything),
        "stores": [_store(ctx, shelf) for shelf in shelves],
        "unopened": {at: str(error) for at, error in ctx.unopened(place).items()},
        "counters": ctx.state.totals(),
        "generation": model_help.report(ctx),
        "embedding": {
            "model": ctx.embedding.model,
            "state": ctx.embedding.state,
            "error": ctx.embedding.error,
        },
    }


def _distinct(project: str, names: dict[str, str]) -> str:
    """Return what tells two projects of one name apart; "" where the name is enough."""
    same = [key for key in names if name_in(names, key) == name_in(names, project)]
    return f" ({project.rpartition('-')[2]})" if len(same) > 1 else ""


def _merged(counts: Any) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for key, n in one.items():
            total[key] = total.get(key, 0) + n
    return dict(sorted(total.items(), key=lambda item: -item[1]))


def _store(ctx: Context, shelf: Shelf) -> dict[str, Any]:
    index = shelf.index
    return {
        "folder": shelf.folder,
        "memories": shelf.journal.count(),
        "pending_vectors": pending(ctx, shelf),
        "last_seq": shelf.journal.last_seq(),
        "indexed_seq": index.reached() if index else 0,
        "lexical": "index" if index is not None and index.lexical_ready else "journal",
        "vectors": bool(index is not None and index.vectors_ready),
        "bytes": folder_bytes(shelf.folder),
        "failed": shelf.failed,
        "writable": shelf.journal.writable,
    }


def folder_bytes(folder: str) -> int:
    """Return what a folder's files take, in bytes."""
    total = 0
    for root, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except OSError:
                continue
    return total
