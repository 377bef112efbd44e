"""Which of the sentences that were stored as passages are ideas: looked for when passages are durable.

It follows the journal from the sequence number that it has reached, as weaving does: a daemon that ends in the
middle goes on there, and what was found before is known by its words. After a turn it is done at once; after a
backfill when nobody waits, since every sentence needs a vector.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vector_memory import redact
from vector_memory.errors import EmbeddingError, UnsafeTextError
from vector_memory.index.boxes import CUT, OPEN, TICKED
from vector_memory.index.entities import named_in
from vector_memory.index.ideas import NAMED, Idea, ideas
from vector_memory.index.units import units
from vector_memory.index.voices import USER
from vector_memory.index.worth import verdicts, weights
from vector_memory.model import (
    BOX,
    LOOKUP,
    OPEN_KINDS,
    PASSAGE,
    QUESTION,
    TODO,
    Memory,
    Origin,
    Scope,
    Status,
    Temporal,
    unique,
)
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import merging, tombstones, trust_marks
from vector_memory.service.memory.exchange_versions import (
    EDITED,
    exchange_of,
    memory_id,
    over,
    under_known_ids,
)
from vector_memory.service.memory.passages import number_of
from vector_memory.standing import DONE
from vector_memory.system.json_in import Record
from vector_memory.text import days
from vector_memory.text.deadlines import deadline

if TYPE_CHECKING:
    from datetime import datetime

    from vector_memory.model import Vectors

log = logging.getLogger(__name__)

MOST_AT_A_TURN = 200
"""Changed memories whose ideas are found at a turn's end at most: a turn changes some tens."""
MOST_OPEN = 200
"""How many open todos a box that is ticked is looked for among."""
AT_ONCE = 64
"""Changed memories that are looked at together: some hundred sentences, which are embedded at once."""


def find_all(ctx: Context) -> int:
    """Find the ideas of all that was stored in the open stores, unless much is being stored or turns wait to be
    read; return how many were stored."""
    stored = 0
    if ctx.is_behind:
        return stored
    for shelf in ctx.opened_shelves():
        if shelf.journal.last_seq() - _reached(ctx, shelf) > MOST_AT_A_TURN:
            # A backlog, which is for a quiet moment: whoever waits for this turn need not wait for that.
            continue
        while not ctx.filling and not ctx.stopping.is_set() and shelf.journal.writable:
            moved, added = _find(ctx, shelf, AT_ONCE)
            stored += added
            if not moved:
                break
    return stored


def find(ctx: Context, shelf: Shelf, most: int = AT_ONCE) -> int:
    """Find the ideas of the next passages of a store, at most so many changed memories; return how many those
    were (0: all was looked at, or the model is still being loaded)."""
    return _find(ctx, shelf, most)[0] if shelf.journal.writable else 0


def _find(ctx: Context, shelf: Shelf, most: int) -> tuple[int, int]:
    if ctx.embedding.state == "loading":
        return 0, 0
    changes = [memory for memory, _, _ in shelf.journal.changes(_reached(ctx, shelf), most)]
    if not changes:
        return 0, 0
    names = unique(exchange_of(change.external_id) for change in changes if _is_talk(change))
    talks = _passages(shelf, names)
    found = [memory for talk in talks for memory in _ideas_of(ctx, talk)]
    with ctx.capturing:
        made = under_known_ids(shelf.journal, found)
        if _passages(shelf, names) != talks:
            # They were purged, or have grown, while they were embedded: they are read once more.
            return len(changes), 0
        purged = tombstones.is_purged(ctx, made)
        stored = _store(ctx, shelf, talks, [memory for memory in made if memory.id not in purged])
        reached = _read_up_to(changes[-1].seq, talks)
        ctx.state.set_cursor(_cursor(shelf), {"seq": reached})
    return len(changes), stored


def _cursor(shelf: Shelf) -> str:
    return f"ideas:{shelf.journal.store_id}"


def _reached(ctx: Context, shelf: Shelf) -> int:
    """Return the sequence number up to which ideas were looked for."""
    return (ctx.state.cursor(_cursor(shelf)) or Record()).number("seq")


def _read_up_to(reached: int, talks: Iterable[Sequence[Memory]]) -> int:
    """Return up to which sequence number all was looked at: exchanges are read whole, so that the passages of a long
    one that come next need not have it read again."""
    read = {memory.seq for talk in talks for memory in talk}
    while reached + 1 in read:
        reached += 1
    return reached


def _is_talk(memory: Memory) -> bool:
    return memory.kind == PASSAGE and memory.status is Status.ACTIVE and memory.is_captured


def _passages(shelf: Shelf, names: Iterable[str]) -> list[list[Memory]]:
    """Return the passages of exchanges, each in their order; the same exchange in two projects is two."""
    found: dict[tuple[str, str], list[Memory]] = {}
    for memory in shelf.journal.below(list(names)):
        if _is_talk(memory):
            key = exchange_of(memory.external_id), memory.project
            found.setdefault(key, []).append(memory)
    return [sorted(talk, key=number_of) for talk in found.values()]


def _ideas_of(ctx: Context, talk: Sequence[Memory]) -> list[Memory]:
    said = units(memory.text for memory in talk)
    if not said:
        return []
    judged = verdicts(said, _vectors(ctx, [unit.text for unit in said]))
    told = list(zip(said, judged, strict=True))
    made = []
    for idea in ideas(told, talk[0].title, talk[0].files):
        try:
            made.append(_memory(idea, talk, ctx.local_now()))
        except UnsafeTextError:
            ctx.count("texts_dropped")
    if LOOKUP in talk[0].extra:
        # The answer repeats what was remembered, and so the question was answered.
        made = [one for one in made if one.origin is Origin.USER and one.kind != QUESTION]
    # What reads like an order to the model may be copied from anywhere: nobody is told to do it.
    made = [one for one in made if not (BOX in one.extra and one.is_suspicious)]
    return [memory for memory in made if ctx.settings.captures(memory.kind)]


def _vectors(ctx: Context, texts: Sequence[str]) -> Vectors | None:
    """Return the vectors of sentences, None where the weights are for another model or it fails now."""
    if ctx.embedding.model != weights().model:
        return None
    try:
        return ctx.embedding.sentences(texts)
    except EmbeddingError as error:
        log.warning("ideas are found without vectors: %s", error)
        return None


def _memory(idea: Idea, talk: Sequence[Memory], now: datetime) -> Memory:
    passage = next((memory for memory in talk if idea.unit.raw[:60] in memory.text), talk[0])
    origin = Origin(idea.unit.speaker)
    of_files = passage.files if idea.intent in ("solution", "problem", "cause") else ()
    file = redact.clean(idea.unit.file).text if idea.unit.file else ""
    mark = TICKED if idea.is_answered else OPEN
    box = {BOX: {str(file): [mark, passage.created_at.isoformat()]}} if file else {}
    until = _until(idea, days.local(passage.created_at, now.tzinfo), now)
    # What was over when it was found is as good as anything else that was.
    is_to_come = until is not None and until > now
    made = Memory(
        id=memory_id(idea.name, passage.project),
        text=redact.clean(idea.text).text,
        title=redact.clean(passage.title).text,
        created_at=passage.created_at,
        kind=idea.intent,
        project=passage.project,
        confidence=idea.confidence,
        priority=idea.priority,
        origin=origin,
        temporal=Temporal.DEADLINE if is_to_come else Temporal.PERMANENT,
        valid_until=until if is_to_come else None,
        tags=passage.tags,
        sensitivity=passage.sensitivity,
        jurisdiction=passage.jurisdiction,
        files=(file,) if file else of_files,
        source=replace(passage.source, speaker=idea.unit.speaker),
        external_id=idea.name,
        extra={**idea.extra, **box, **named_in(idea.text, passage.files)},
    )
    return trust_marks.settled(made)


def _until(idea: Idea, said_at: datetime, now: datetime) -> datetime | None:
    """Return until when an idea of the user's is to be done, or the end of the day on which it happens; None for what
    has no such day, or was done at once."""
    if idea.unit.speaker != USER or (idea.intent == TODO and idea.is_answered):
        return None
    end = deadline(idea.unit.text, said_at)
    return days.shown_at(end.astimezone(now.tzinfo), now) if end else None


def _store(
    ctx: Context, shelf: Shelf, talks: Sequence[Sequence[Memory]], made: Sequence[Memory]
) -> int:
    """Write the ideas of exchanges, as if these had been read in the order of time; return how many changed."""
    known = shelf.journal.by_ids(unique(one.id for one in made))
    stored = dict(known)
    for memory in sorted(made, key=_when):
        old = _meant(shelf, memory, known)
        if old is None:
            known[memory.id] = memory
        elif BOX in memory.extra:
            if old.id not in known:
                stored[old.id] = old
            known[old.id] = _as_written(old, memory)
        else:
            known[memory.id] = _with_saying(old, memory)
    added = [one for id, one in known.items() if id not in stored]
    changed = [one for id, one in known.items() if id in stored and one is not stored[id]]
    dropped = [one.id for talk in talks for one in _settled(shelf, talk[0]) if one.id not in known]
    shelf.journal.write(added, changed, dropped)
    if added or changed or dropped:
        ids = [*(one.id for one in (*added, *changed)), *dropped]
        counts = {"added": len(added), "changed": len(changed), "dropped": len(dropped)}
        ctx.audit("store", "hook", ids, **counts)
        ctx.notify()
    return len(added) + len(changed)


def _when(memory: Memory) -> tuple[datetime, str, int]:
    return memory.created_at, memory.source.session, memory.source.turn


def _with_saying(old: Memory, memory: Memory) -> Memory:
    """Return a known idea as it is when an exchange says it, too: where it was said first it stands, whichever
    was read first, and where the user bound himself to it again it is counted."""
    if old.status is not Status.ACTIVE or old.extra.get(EDITED):
        return old
    if _when(memory)[1:] == _when(old)[1:]:
        is_over = bool(memory.extra.get(DONE)) > bool(old.extra.get(DONE))
        return replace(old, extra={**old.extra, DONE: True}) if is_over else old
    if old.origin is memory.origin and _when(memory) < _when(old):
        first = over(memory, old)
        return merging.said_again(first, old) or first
    if memory.temporal is Temporal.DEADLINE and memory.valid_until != old.valid_until:
        # "The demo is on Friday": the one that was said last.
        old = replace(old, temporal=memory.temporal, valid_until=memory.valid_until)
    return merging.said_again(old, memory) or old


def _meant(shelf: Shelf, memory: Memory, known: Mapping[str, Memory]) -> Memory | None:
    """Return what is known of an idea, None for nothing; of a box what stands in its place, where talk of it became one
    with it."""
    old = known.get(memory.id)
    if old is None:
        return _named_in_part(shelf, memory, known.values())
    if BOX in memory.extra and old.status is Status.SUPERSEDED:
        heir = shelf.journal.successors([old]).get(old.id, old)
        heir = known.get(heir.id, heir)
        return replace(heir, extra={BOX: old.extra.get(BOX), **heir.extra})
    return old


def _named_in_part(shelf: Shelf, memory: Memory, known: Iterable[Memory]) -> Memory | None:
    """Return the open box that an edit means which may name only how it begins ("- [x] ring buffer"), None where it is
    not one alone."""
    if not (BOX in memory.extra and memory.extra.get(DONE) and memory.text.endswith(CUT)):
        return None
    begin, (file,) = memory.text.rstrip(f" {CUT}"), memory.files
    scope = Scope(projects=(memory.project,), kinds=(TODO,))
    boxes = {one.id: one for one in (*shelf.journal.open_items(scope, MOST_OPEN), *known)}
    meant = [
        one
        for one in boxes.values()
        if _states(one).get(file, ("",))[0] == OPEN
        and one.text.startswith(begin)
        and not one.text[len(begin) :][:1].isalnum()
    ]
    return meant[0] if len(meant) == 1 else None


def _states(memory: Memory) -> dict[str, list[str]]:
    """Return the lists in which a todo is a box, each with its mark there and when that was put, as an ISO time."""
    noted = memory.extra.get(BOX)
    known = noted if isinstance(noted, dict) else {}
    return {
        file: state
        for file, state in known.items()
        if isinstance(state, list) and list(map(type, state)) == [str, str]
    }


def _as_written(old: Memory, memory: Memory) -> Memory:
    """Return a todo as its box was left by the last edit of each list, whichever was read first: done when no list has
    it open. It stands where it was written first."""
    if old.status is not Status.ACTIVE:
        return old
    is_own = old.origin is memory.origin and old.id == memory.id and not old.extra.get(EDITED)
    first = over(memory, old) if is_own and _when(memory) < _when(old) else old
    states, ((file, state),) = _states(old), _states(memory).items()
    file = _list_meant(file, state[0], states)
    is_newer = state[1] >= states.get(file, ["", ""])[1]
    states = {**states, file: state} if is_newer else states
    is_opened = is_newer and state[0] == OPEN
    is_open = any(mark == OPEN for mark, _ in states.values())
    # What the user closed himself is opened by an edit that does so, not by one of another list.
    is_done = not is_open or (bool(old.extra.get(DONE)) and not is_opened)
    extra = {name: value for name, value in first.extra.items() if name != DONE}
    made = replace(
        first,
        kind=TODO if is_own else old.kind,
        files=unique((*first.files, *states)) if is_own else unique((*first.files, file)),
        extra={**extra, **({DONE: True} if is_done else {}), BOX: states},
    )
    return old if made == old else made


def _list_meant(file: str, mark: str, states: Mapping[str, list[str]]) -> str:
    """Return the list that an edit closes a box of, as it is called already: in a session that was started further up or
    down its path is longer or shorter."""
    if mark == OPEN or file in states:
        return file
    ends = [
        one for one in states if f"/{one}".endswith(f"/{file}") or f"/{file}".endswith(f"/{one}")
    ]
    return ends[0] if len(ends) == 1 else file


def _settled(shelf: Shelf, passage: Memory) -> list[Memory]:
    """Return what was open of an exchange when less of it was known."""
    return [
        memory
        for memory in shelf.journal.of_turn(passage.source, passage.project)
        if memory.external_id.startswith(NAMED)
        and memory.kind in OPEN_KINDS
        and not memory.extra.get(EDITED)
    ]
