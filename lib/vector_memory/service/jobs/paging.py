"""How jobs go through everything that is stored: store by store, page by page, each page once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple

from vector_memory.model import Memory, Scope
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.jobs.step import Entry, JobRun, Step
from vector_memory.system.json_in import Record

AT_ONCE = 200
"""Memories that one step changes: as many as one entry of the audit log names."""
COUNTED = 10_000
"""Memories that a dry run counts of each rule and store."""


class Page(NamedTuple):
    """Active memories of one store, ascending by `seq`, and the cursor of the page behind them, {} behind the
    last."""

    shelf: Shelf
    memories: list[Memory]
    cursor: dict[str, object]


def page_at(
    ctx: Context,
    cursor: Record,
    k: int,
    scope: Scope | None = None,
    start_seqs: Record | None = None,
    in_tiers: bool = False,
) -> Page | None:
    """Return the page at a cursor, None where there is none. A memory that is changed meanwhile gets a new `seq` behind
    the last page, so it does not come twice.

    Args:
        k: memories of a page at most.
        start_seqs: by store, behind which `seq` to begin; everything by default.
        in_tiers: what gave way, too, but nothing that is cold; of stores alone that can be written.
    """
    shelves = [shelf for shelf in ctx.all_shelves() if shelf.journal.writable or not in_tiers]
    folders = [shelf.folder for shelf in shelves]
    folder = cursor.text("store") or next(iter(folders), "")
    if folder not in folders:
        return None
    position = folders.index(folder)
    shelf = shelves[position]
    start = cursor.number("seq") or (start_seqs or Record()).number(folder)
    last = cursor.number("last") or shelf.journal.last_seq()
    memories = shelf.journal.after(start, k) if in_tiers else shelf.journal.page(start, k, scope)
    page_memories = [memory for memory in memories if memory.seq <= last]
    next_cursor: dict[str, object] = {}
    if len(page_memories) == k:
        next_cursor = {"store": folder, "seq": page_memories[-1].seq, "last": last}
    elif position + 1 < len(folders):
        next_cursor = {"store": folders[position + 1]}
    return Page(shelf, page_memories, next_cursor)


class Rule(NamedTuple):
    """Memories that are to be changed, and how.

    Attributes:
        name: what they are counted as.
        action: what the audit log calls it.
        find: returns a store's memories, so many at most.
        act: changes them. Doing it twice must be as good as once.
    """

    name: str
    action: str
    find: Callable[[Shelf, int], Iterable[Memory]]
    act: Callable[[Shelf, Sequence[str]], object]


def swept(ctx: Context, run: JobRun, rules: Sequence[Rule]) -> Step:
    """Do the next step of changing what the rules find, in every store: what is to be changed is named in the
    cursor and the audit log first, and changed by the step after it.

    Returns:
        What it did, and where the next step begins.
    """
    shelves = {shelf.folder: shelf for shelf in ctx.all_shelves() if shelf.journal.writable}
    if run.dry_run:
        counts, ids = {rule.name: 0 for rule in rules}, list[str]()
        for rule, shelf in product(rules, shelves.values()):
            matches = [memory.id for memory in rule.find(shelf, COUNTED)]
            counts[rule.name] += len(matches)
            ids += matches
        return Step({**counts, "ids": ids[:AT_ONCE]})
    cursor = run.cursor
    ids_to_change, number, store = (
        cursor.words("going"),
        cursor.number("rule"),
        cursor.text("store"),
    )
    if ids_to_change and store in shelves:
        rules[number].act(shelves[store], ids_to_change)
        report = {rules[number].name: len(ids_to_change)}
        return Step(report, {"rule": number, "store": store, "going": []})
    places = list(product(range(len(rules)), shelves))
    start = places.index((number, store)) if (number, store) in places else 0
    for n, folder in places[start:]:
        if ids := [memory.id for memory in rules[n].find(shelves[folder], AT_ONCE)]:
            entry = Entry(rules[n].action, tuple(ids), {})
            return Step({}, {"rule": n, "store": folder, "going": ids}, entry)
    return Step({rule.name: 0 for rule in rules})
