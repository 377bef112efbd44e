"""`formal_verify`: named invariants, checked over every row of the stores. No sample is taken, nothing is changed.

The answer is a certificate of what was checked and over which digest, not a proof about the program. It is not
signed: nobody but who made it can tell it from a forged one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
from vector_memory.service.think import ledger, plan
from vector_memory.system.paths import version

PAGE = 500
SHOWN = 10
"""Of what breaks a property, so many are named."""
SERVED, SEARCHED_CHARS = 10, 400
AUDIT, SERVING = "audit-log-is-whole", "expired-is-not-served"
CONTRACTS = "contracts-only-narrow"
Found = Iterator[tuple[str, str]]
PROPERTIES: dict[str, str] = {
    CONTRACTS: "Each contract is as it was signed by a key of this installation, and allows no more than what it was "
    "made from.",
    SERVING: "Asked for in its own words, nothing comes that has expired or holds no longer.",
    AUDIT: "No entry of the audit log, older files included, was changed or taken out.",
}
"""All properties with what they mean; those of rows are added where they are checked."""
EACH: dict[str, Callable[[Memory], Iterable[str]]] = {}
"""What is checked of each row: why it breaks the property of that name."""
ALL: dict[str, Callable[[Shelf, Mapping[str, Row]], Found]] = {}
"""What is checked of all rows of a store together: the ids that break the property, with why."""
C = TypeVar("C", bound=Callable[..., object])


def _checks(table: dict[str, C], name: str, means: str) -> Callable[[C], C]:
    """Return what makes a function the check of a property."""

    def put(check: C) -> C:
        table[name], PROPERTIES[name] = check, means
        return check

    return put


class Row(NamedTuple):
    """What of a memory is looked at once all are read."""

    status: Status
    successor: str


Rows = dict[str, Row]


@dataclass(frozen=True, kw_only=True)
class VerifyRequest(messages.Request):
    """Do these properties hold? `properties` are names of `PROPERTIES`; all by default."""

    properties: tuple[str, ...] = messages.words(choices=PROPERTIES)


def verify(ctx: Context, request: VerifyRequest, progress: Progress) -> ledger.Answer:
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
    stores, digests, count = [], [], 0
    for number, shelf in enumerate(asker.shelves):
        progress(number, len(asker.shelves) + 1, "reading every row")
        before = shelf.journal.given_seq()
        rows, over, digest = _read(ctx, shelf, broken)
        is_still = shelf.journal.given_seq() == before
        told = {"rows": len(rows), "digest": digest, "is_still": is_still}
        stores.append({"store": shelf.folder, **told})
        digests.append(digest)
        count += len(rows)
        for name, check in ALL.items():
            if name in broken:
                broken[name] += check(shelf, rows)
        if SERVING in broken:
            broken[SERVING] += _served(ctx, asker, over)
    if AUDIT in broken and (gap := ctx.state.audit_break(whole=True)):
        broken[AUDIT].append(("audit", gap))
    if CONTRACTS in broken:
        broken[CONTRACTS] += _contracts(ctx)
    bad = [name for name, found in broken.items() if found]
    detail = {"holds": not bad, "properties": len(broken), "digests": digests}
    ctx.state.audit("formal_verify", request.actor, [], detail)
    verdict = f"Does not hold: {', '.join(bad)}." if bad else "All hold."
    return ledger.answer(
        ctx,
        f"{len(broken)} properties were checked over {count} rows. {verdict}",
        holds=not bad,
        checked_at=ctx.now(),
        version=version(),
        stores=stores,
        properties=[_property(name, found) for name, found in broken.items()],
        left_out={folder: error.message for folder, error in ctx.unopened().items()},
    )


def _property(name: str, found: Sequence[tuple[str, str]]) -> dict[str, object]:
    told = {"name": name, "means": PROPERTIES[name], "holds": not found, "broken": len(found)}
    return {**told, "examples": [{"id": id, "why": why} for id, why in found[:SHOWN]]}


def _read(
    ctx: Context, shelf: Shelf, broken: dict[str, list[tuple[str, str]]]
) -> tuple[Rows, list[Memory], str]:
    """Return the rows of a store, which memories in it are over, and the digest of all; note what is wrong with each
    by itself."""
    rows: Rows = {}
    over, digest, after, now = list[Memory](), hashlib.sha256(), 0, ctx.now()
    each = [(broken[name], check) for name, check in EACH.items() if name in broken]
    while page := shelf.journal.changes(after, PAGE):
        for memory, _, text_hash in page:
            digest.update(_line(memory, text_hash))
            rows[memory.id] = Row(memory.status, memory.superseded_by)
            if memory.status is Status.ACTIVE and not holds_at(memory, now):
                over.append(memory)
            for found, check in each:
                found += [(memory.id, why) for why in check(memory)]
        after = page[-1][0].seq
        ctx.hooks.give_way()
    return rows, over, digest.hexdigest()


def _line(memory: Memory, text_hash: bytes) -> bytes:
    """Return all that the properties look at, in one form."""
    told = (
        memory.seq, memory.id, memory.status, memory.superseded_by, text_hash.hex(), memory.kind,
        memory.collection, memory.priority, memory.origin, memory.valid_from, memory.valid_until,
        memory.expires_at, sorted(memory.tags), sorted(memory.extra.items(), key=str),
    )  # fmt: skip
    return (repr(tuple(map(str, told))) + "\n").encode("utf-8", "replace")


# -- properties of a row --


@_checks(EACH, "status-fits", "What gave way names its successor, and what is active names none.")
def _status(memory: Memory) -> Iterable[str]:
    if memory.status is Status.SUPERSEDED and not memory.superseded_by:
        yield "gave way to nobody"
    if memory.status is Status.ACTIVE and memory.superseded_by:
        yield f"is active, and gave way to {memory.superseded_by[:12]}"


@_checks(EACH, "forgotten-has-no-words", "A forgotten memory holds no text, title or tags.")
def _forgotten(memory: Memory) -> Iterable[str]:
    if memory.status is Status.FORGOTTEN and (memory.text or memory.title or memory.tags):
        yield "is forgotten, and still has words"


@_checks(EACH, "times-are-in-order", "Nothing ends before it begins to hold.")
def _times(memory: Memory) -> Iterable[str]:
    start, end = memory.valid_from, memory.valid_until
    if start is not None and end is not None and start > end:
        yield f"holds from {start.isoformat()}, which is after its end {end.isoformat()}"


@_checks(
    EACH,
    "foreign-does-not-bind",
    "Nothing that others wrote, or that looks like an instruction, counts as a rule or as important"
    ", unless it is held back.",
)
def _foreign(memory: Memory) -> Iterable[str]:
    is_there = memory.status is Status.ACTIVE and not memory.is_held
    if is_there and memory.trust == 0 and memory.weight:
        told = ", ".join(f"{name} {value}" for name, value in memory.weight.items())
        yield f"was written by others or looks like an instruction, and has {told}"


@_checks(EACH, "no-secret-is-stored", "The redactor of today finds nothing in any text or title.")
def _secrets(memory: Memory) -> Iterable[str]:
    for name, text in (("text", memory.text), ("title", memory.title)):
        try:
            if text and redact.clean(text).text != text:
                yield f"its {name} holds what the rules of today redact"
        except UnsafeTextError:
            yield f"its {name} cannot be looked at for secrets"


@_checks(
    EACH, "conditions-can-be-read", "Each procedure's conditions have a form that hooks understand."
)
def _conditions(memory: Memory) -> Iterable[str]:
    triggers = memory.extra.get(TRIGGERS)
    if memory.status is Status.ACTIVE and triggers is not None:
        try:
            procedures.read(map(str, triggers))
        except (BadInputError, UnsafeTextError, TypeError) as error:
            yield str(error)


@_checks(EACH, "plans-have-an-order", "No tasks of a plan wait for each other.")
def _plans(memory: Memory) -> Iterable[str]:
    if memory.kind == plan.PLAN and memory.status is Status.ACTIVE:
        try:
            plan.ordered(plan.items_of(memory))
        except BadInputError as error:
            yield error.message


# -- properties of all rows together --


@_checks(ALL, "rows-can-be-read", "Every row's checksum is right.")
def _whole(shelf: Shelf, rows: Mapping[str, Row]) -> Found:
    there = sum(shelf.journal.count(Scope(), status) for status in Status)
    if there != len(rows):
        yield shelf.folder, f"{there - len(rows)} of {there} rows cannot be read"


@_checks(ALL, "successors-exist", "Each successor is there.")
def _successors(shelf: Shelf, rows: Mapping[str, Row]) -> Found:
    for id, row in rows.items():
        if row.successor and row.successor not in rows:
            yield id, f"gave way to {row.successor[:12]}, which is not there"


@_checks(ALL, "supersession-ends", "No chain of successors comes back to itself.")
def _cycles(shelf: Shelf, rows: Mapping[str, Row]) -> Found:
    ended: set[str] = set()
    for start in rows:
        chain: dict[str, None] = {}
        at = start
        while at in rows and at not in ended and at not in chain:
            chain[at] = None
            at = rows[at].successor
        if at in chain:
            ring = list(chain)[list(chain).index(at) :]
            yield at, f"gave way to itself: {' → '.join(one[:8] for one in (*ring, at))}"
        ended.update(chain)


@_checks(ALL, "links-have-ends", "Both ends of every link are there and not forgotten.")
def _links(shelf: Shelf, rows: Mapping[str, Row]) -> Found:
    ids = list(rows)
    for place in range(0, len(ids), PAGE):
        for link in shelf.journal.links_of(ids[place : place + PAGE]):
            for end in (link.from_id, link.to_id):
                if end not in rows or rows[end].status is Status.FORGOTTEN:
                    told = f"{link.from_id[:12]} {link.relation} {link.to_id[:12]}"
                    yield end, f"{told}: an end is gone"


def _served(ctx: Context, asker: Asker, over: Sequence[Memory]) -> Found:
    """Ask for each memory that is over in its own words, in its own collection."""
    for memory in over:
        scope = Scope(projects=(memory.project,), collections=(memory.collection,))
        asked = Asker(asker.place, scope, asker.open_shelves)
        hits = lookup.find(ctx, memory.text[:SEARCHED_CHARS], asked, SERVED)
        if any(hit.memory.id == memory.id for hit in hits):
            yield memory.id, "has expired or holds no longer, and a recall brings it"


def _contracts(ctx: Context) -> Found:
    known = contracts.kept(ctx)
    mine = {one.word for one in contracts.keyring(ctx).entries()} if known else set()
    for id, one in known.items():
        line = contracts.chain(one, known)
        if not line:
            yield id, "was changed since it was signed, or allows more than what it was made from"
        elif not mine.issuperset(part.key for part in line):
            yield id, "was signed by no key of this installation"
