"""`formal_verify`: named invariants, checked over every row of the stores. No sample is taken, nothing is changed.

The answer is a certificate of what was checked and over which digest, not a proof about the program. It is not
signed: nobody but who made it can tell it from a forged one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from vector_memory import redact
from vector_memory.errors import BadInputError, UnsafeTextError
from vector_memory.model import TRIGGERS, Memory, Progress, Scope, Status
from vector_memory.retrieve.search import holds_at
from vector_memory.service.base import contracts, messages
from vector_memory.service.base.asker import Asker
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.learning import procedures
from vector_memory.service.memory import lookup
from vector_memory.service.think import ledger, planning
from vector_memory.system.paths import version

PAGE = 500
SHOWN = 10
"""Of what breaks a property, so many are named."""
SERVED, SEARCHED_CHARS = 10, 400
Breaches = Iterator[tuple[str, str]]
"""The ids of what breaks a property, each with why."""
PROPERTIES: dict[str, str] = {}
"""All properties with what they mean: the docstrings of the functions that check them, which are named after them."""
OF_A_ROW: dict[str, Callable[[Memory], Iterable[str]]] = {}
"""Checks of each row by itself: why it breaks the property."""
OF_A_STORE: dict[str, Callable[[ReadStore], Breaches]] = {}
"""Checks of all rows of a store together."""
OF_ALL: dict[str, Callable[[Context], Breaches]] = {}
"""Checks of what stands beside the stores."""
Check = TypeVar("Check", bound=Callable[..., object])


def _register_in(checks: dict[str, Check]) -> Callable[[Check], Check]:
    """Return a decorator that enters the check of a property, named after its function, into a table of checks."""

    def put(check: Check) -> Check:
        name = check.__name__.strip("_").replace("_", "-")
        checks[name], PROPERTIES[name] = check, " ".join(str(check.__doc__).split())
        return check

    return put


class RowState(NamedTuple):
    """A memory's status and successor: all of a row that the checks of a whole store look at."""

    status: Status
    successor: str


class ReadStore(NamedTuple):
    """A store of which every row was read.

    Attributes:
        rows: how each memory stands, by its id.
        ended: active memories that have expired or hold no longer.
        digest: SHA-256 of all rows in their order; `is_still`: nothing was written meanwhile.
    """

    ctx: Context
    asker: Asker
    shelf: Shelf
    rows: dict[str, RowState]
    ended: list[Memory]
    digest: str
    is_still: bool


class InvariantsRequest(messages.Request):
    """Do these properties hold? `properties` are names of `PROPERTIES`; all by default."""

    properties: tuple[str, ...] = messages.words(choices=PROPERTIES)


def verify(ctx: Context, request: InvariantsRequest, progress: Progress) -> ledger.Answer:
    """Check properties over all rows of the stores that a project uses, or of all stores.

    Raises:
        BadInputError: there is no property of such a name.

    Returns:
        Whether all that was checked `holds`; when (`checked_at`) and by which `version`; the `stores`, each with how
        many rows were read, their SHA-256 in their order, and whether nothing was written meanwhile (`is_still`; else
        the digest is of no one moment); the `properties`, each with what it means, how many
        break it, and the first of them; and the stores that were `left_out`, with why.
    """
    asker, names = messages.asker_of(ctx, request), request.properties or tuple(PROPERTIES)
    broken: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    stores, count = list[dict[str, object]](), 0
    for number, shelf in enumerate(asker.shelves):
        progress(number, len(asker.shelves) + 1, "reading every row")
        store = _read_store(ctx, asker, shelf, broken)
        facts = {"rows": len(store.rows), "digest": store.digest, "is_still": store.is_still}
        stores.append({"store": shelf.folder, **facts})
        count += len(store.rows)
        for name in broken.keys() & OF_A_STORE.keys():
            broken[name] += OF_A_STORE[name](store)
    for name in broken.keys() & OF_ALL.keys():
        broken[name] += OF_ALL[name](ctx)
    broken_names = [name for name, breaches in broken.items() if breaches]
    digests = [store["digest"] for store in stores]
    detail = {"holds": not broken_names, "properties": len(broken), "digests": digests}
    ctx.state.audit("formal_verify", request.actor, [], detail)
    verdict = f"Does not hold: {', '.join(broken_names)}." if broken_names else "All hold."
    return ledger.answer(
        ctx,
        f"{len(broken)} properties were checked over {count} rows. {verdict}",
        holds=not broken_names,
        checked_at=ctx.now(),
        version=version(),
        stores=stores,
        properties=[_property(name, breaches) for name, breaches in broken.items()],
        left_out={folder: error.message for folder, error in ctx.unopened().items()},
    )


def _property(name: str, breaches: Sequence[tuple[str, str]]) -> dict[str, object]:
    facts = {
        "name": name,
        "means": PROPERTIES[name],
        "holds": not breaches,
        "broken": len(breaches),
    }
    return {**facts, "examples": [{"id": id, "why": why} for id, why in breaches[:SHOWN]]}


def _read_store(
    ctx: Context, asker: Asker, shelf: Shelf, broken: dict[str, list[tuple[str, str]]]
) -> ReadStore:
    """Read a store, and note what is wrong with each row by itself."""
    rows, ended, now = dict[str, RowState](), list[Memory](), ctx.now()
    digest, last_seq, seq_before = hashlib.sha256(), 0, shelf.journal.given_seq()
    checks = [(broken[name], OF_A_ROW[name]) for name in broken.keys() & OF_A_ROW.keys()]
    while page := shelf.journal.changes(last_seq, PAGE):
        for memory, _, text_hash in page:
            digest.update(_row_bytes(memory, text_hash))
            rows[memory.id] = RowState(memory.status, memory.superseded_by)
            if memory.status is Status.ACTIVE and not holds_at(memory, now):
                ended.append(memory)
            for breaches, check in checks:
                breaches += [(memory.id, why) for why in check(memory)]
        last_seq = page[-1][0].seq
        ctx.hooks.give_way()
    is_still = shelf.journal.given_seq() == seq_before
    return ReadStore(ctx, asker, shelf, rows, ended, digest.hexdigest(), is_still)


def _row_bytes(memory: Memory, text_hash: bytes) -> bytes:
    """Return all that the properties look at, in one form."""
    fields = (
        memory.seq, memory.id, memory.status, memory.superseded_by, text_hash.hex(), memory.kind,
        memory.collection, memory.priority, memory.origin, memory.valid_from, memory.valid_until,
        memory.expires_at, sorted(memory.tags), sorted(memory.extra.items(), key=str),
    )  # fmt: skip
    return (repr(tuple(map(str, fields))) + "\n").encode("utf-8", "replace")


# -- properties of a row --


@_register_in(OF_A_ROW)
def _status_fits(memory: Memory) -> Iterable[str]:
    """What gave way names its successor, or why it has none, and what is active names none."""
    if memory.status is Status.SUPERSEDED and not (memory.superseded_by or memory.gave_way):
        yield "gave way to nobody"
    if memory.status is Status.ACTIVE and memory.superseded_by:
        yield f"is active, and gave way to {memory.superseded_by[:12]}"


@_register_in(OF_A_ROW)
def _forgotten_has_no_words(memory: Memory) -> Iterable[str]:
    """A forgotten memory holds no text, title or tags."""
    if memory.status is Status.FORGOTTEN and (memory.text or memory.title or memory.tags):
        yield "is forgotten, and still has words"


@_register_in(OF_A_ROW)
def _times_are_in_order(memory: Memory) -> Iterable[str]:
    """Nothing ends before it begins to hold."""
    start, end = memory.valid_from, memory.valid_until
    if start is not None and end is not None and start > end:
        yield f"holds from {start.isoformat()}, which is after its end {end.isoformat()}"


@_register_in(OF_A_ROW)
def _foreign_does_not_bind(memory: Memory) -> Iterable[str]:
    """Nothing that others wrote, or that looks like an instruction, counts as a rule or as important, unless it is
    held back."""
    is_there = memory.status is Status.ACTIVE and not memory.is_held
    if is_there and memory.trust == 0 and memory.weight:
        weights = ", ".join(f"{name} {value}" for name, value in memory.weight.items())
        yield f"was written by others or looks like an instruction, and has {weights}"


@_register_in(OF_A_ROW)
def _no_secret_is_stored(memory: Memory) -> Iterable[str]:
    """The redactor of today finds nothing in any text or title."""
    for name, text in (("text", memory.text), ("title", memory.title)):
        try:
            if text and redact.clean(text).text != text:
                yield f"its {name} holds what the rules of today redact"
        except UnsafeTextError:
            yield f"its {name} cannot be looked at for secrets"


@_register_in(OF_A_ROW)
def _conditions_can_be_read(memory: Memory) -> Iterable[str]:
    """Each procedure's conditions have a form that hooks understand."""
    triggers = memory.extra.get(TRIGGERS)
    if memory.status is Status.ACTIVE and triggers is not None:
        try:
            procedures.read(map(str, triggers))
        except (BadInputError, UnsafeTextError, TypeError) as error:
            yield str(error)


@_register_in(OF_A_ROW)
def _plans_have_an_order(memory: Memory) -> Iterable[str]:
    """No tasks of a plan wait for each other."""
    if memory.kind == planning.PLAN and memory.status is Status.ACTIVE:
        try:
            planning.in_order(planning.items_of(memory))
        except BadInputError as error:
            yield error.message


# -- properties of a store --


@_register_in(OF_A_STORE)
def _rows_can_be_read(store: ReadStore) -> Breaches:
    """Every row's checksum is right."""
    row_count = sum(store.shelf.journal.count(Scope(), status) for status in Status)
    if row_count != len(store.rows):
        yield (
            store.shelf.folder,
            f"{row_count - len(store.rows)} of {row_count} rows cannot be read",
        )


@_register_in(OF_A_STORE)
def _successors_exist(store: ReadStore) -> Breaches:
    """Each successor is there."""
    for id, row in store.rows.items():
        if row.successor and row.successor not in store.rows:
            yield id, f"gave way to {row.successor[:12]}, which is not there"


@_register_in(OF_A_STORE)
def _supersession_ends(store: ReadStore) -> Breaches:
    """No chain of successors comes back to itself."""
    ended: set[str] = set()
    for start in store.rows:
        chain: dict[str, None] = {}
        current = start
        while current in store.rows and current not in ended and current not in chain:
            chain[current] = None
            current = store.rows[current].successor
        if current in chain:
            ring = list(chain)[list(chain).index(current) :]
            yield current, f"gave way to itself: {' → '.join(id[:8] for id in (*ring, current))}"
        ended.update(chain)


@_register_in(OF_A_STORE)
def _links_have_ends(store: ReadStore) -> Breaches:
    """Both ends of every link are there and not forgotten."""
    ids, rows = list(store.rows), store.rows
    for start in range(0, len(ids), PAGE):
        for link in store.shelf.journal.links_of(ids[start : start + PAGE]):
            for end in (link.from_id, link.to_id):
                if end not in rows or rows[end].status is Status.FORGOTTEN:
                    name = f"{link.from_id[:12]} {link.relation} {link.to_id[:12]}"
                    yield end, f"{name}: an end is gone"


@_register_in(OF_A_STORE)
def _expired_is_not_served(store: ReadStore) -> Breaches:
    """Asked for in its own words, nothing comes that has expired or holds no longer."""
    for memory in store.ended:
        scope = Scope(projects=(memory.project,), collections=(memory.collection,))
        asker = replace(store.asker, scope=scope)
        hits = lookup.answer(store.ctx, memory.text[:SEARCHED_CHARS], asker, SERVED).hits
        if any(hit.memory.id == memory.id for hit in hits):
            yield memory.id, "has expired or holds no longer, and a recall brings it"


# -- properties of what stands beside the stores --


@_register_in(OF_ALL)
def _audit_log_is_whole(ctx: Context) -> Breaches:
    """No entry of the audit log, older files included, was changed or taken out."""
    if gap := ctx.state.audit_break(whole=True):
        yield "audit", gap


@_register_in(OF_ALL)
def _contracts_only_narrow(ctx: Context) -> Breaches:
    """Each contract is as it was signed by a key of this installation, and allows no more than what it was made from."""
    stored = contracts.stored_contracts(ctx)
    own_keys = {entry.word for entry in contracts.keyring(ctx).entries()} if stored else set()
    for id, contract in stored.items():
        chain = contracts.chain(contract, stored)
        if not chain:
            yield id, "was changed since it was signed, or allows more than what it was made from"
        elif not own_keys.issuperset(link.key for link in chain):
            yield id, "was signed by no key of this installation"
