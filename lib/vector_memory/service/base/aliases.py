"""Names that the user says mean the same: what is asked about one of them is asked about all, and counted as one.
Memories keep the names that they were stored with, so that names can be told apart again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vector_memory.model import unique
from vector_memory.service.base.context import Context

SORT = "alias"
"""Their sort of record in the state: the name that is given up, and in it `of`, the one that it goes by."""


def current(ctx: Context) -> dict[str, str]:
    """Return all names that are given up, each with the one that it goes by now, as `kind:name`."""
    heirs = {name: str(body.get("of", "")) for name, body in ctx.state.records(SORT).items()}
    return {name: name_of(heirs, name) for name in heirs}


def name_of(heirs: Mapping[str, str], name: str) -> str:
    """Return the name that one goes by: itself where it was not given up."""
    for _ in range(len(heirs)):
        name = heirs.get(name, name)
    return name


def widened(ctx: Context, names: Iterable[str]) -> tuple[str, ...]:
    """Return names with all others that mean the same."""
    heirs = current(ctx)
    current_names = {heirs.get(name, name) for name in names}
    return unique(
        (*names, *current_names, *(name for name, heir in heirs.items() if heir in current_names))
    )
