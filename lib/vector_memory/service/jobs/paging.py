"""How jobs come through everything that is stored: store by store, page by page, each page once."""

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


def page(
    ctx: Context,
    cursor: Record,
    k: int,
    scope: Scope | None = None,
    begun: Record | None = None,
    in_tiers: bool = False,
) -> Page | None:
    """Return the page at a cursor, None where there is none. What is changed on the way gets a new `seq`, and
    is no page's again.

    Args:
        k: memories of a page at most.
        begun: by store, behind which `seq` to begin; everything by default.
        in_tiers: what gave way, too, but nothing that is cold; of stores alone that can be written.
    """
    shelves = [shelf for shelf in ctx.all_shelves() if shelf.journal.writable or not in_tiers]
    folders = [shelf.folder for shelf in shelves]
    folder = cursor.text("store") or next(iter(folders), "")
    if folder not in folders:
        return None
    place = folders.index(folder)
    shelf = shelves[place]
    start = cursor.number("seq") or (begun or Record()).number(folder)
    last = cursor.number("last") or shelf.journal.last_seq()
    memories = shelf.journal.after(start, k) if in_tiers else shelf.journal.page(start, k, scope)
    own = [memory for memory in memories if memory.seq <= last]
    following: dict[str, object] = {}
    if len(own) == k:
        following = {"store": folder, "seq": own[-1].seq, "last": last}
    elif place + 1 < len(folders):
        following = {"store": folders[place + 1]}
    return Page(shelf, own, following)


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
    at = run.cursor
    going, number, store = at.words("going"), at.number("rule"), at.text("store")
    if going and store in shelves:
        rules[number].act(shelves[store], going)
        done = {rules[number].name: len(going)}
        return Step(done, {"rule": number, "store": store, "going": []})
    places = list(product(range(len(rules)), shelves))
    start = places.index((number, store)) if (number, store) in places else 0
    for n, folder in places[start:]:
        if ids := [memory.id for memory in rules[n].find(shelves[folder], AT_ONCE)]:
            entry = Entry(rules[n].action, tuple(ids), {})
            return Step({}, {"rule": n, "store": folder, "going": ids}, entry)
    return Step({rule.name: 0 for rule in rules})
