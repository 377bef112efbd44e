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
from vector_memory.index.entities import entities_extra
from vector_memory.index.ideas import NAMED, Idea, ideas
from vector_memory.index.units import units
from vector_memory.index.voices import USER
from vector_memory.index.worth import verdicts, weights
from vector_memory.model import (
    BOX,
    EDITED,
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
        if shelf.journal.last_seq() - _reached_seq(ctx, shelf) > MOST_AT_A_TURN:
            # A backlog, which is for a quiet moment: whoever waits for this turn need not wait for that.
            continue
        while not ctx.filling and not ctx.stopping.is_set() and shelf.journal.writable:
            looked_at, added = _find(ctx, shelf, AT_ONCE)
            stored += added
            if not looked_at:
                break
    return stored


def find(ctx: Context, shelf: Shelf, most: int = AT_ONCE) -> int:
    """Find the ideas of the next passages of a store, at most so many changed memories; return how many those
    were (0: all was looked at, or the model is still being loaded)."""
    return _find(ctx, shelf, most)[0] if shelf.journal.writable else 0


def _find(ctx: Context, shelf: Shelf, most: int) -> tuple[int, int]:
    if ctx.embedding.state == "loading":
        return 0, 0
    changes = [memory for memory, _, _ in shelf.journal.changes(_reached_seq(ctx, shelf), most)]
    if not changes:
        return 0, 0
    exchange_names = unique(
        exchange_of(change.external_id) for change in changes if _is_talk(change)
    )
    exchanges = _passages(shelf, exchange_names)
    drafts = [memory for exchange in exchanges for memory in _ideas_of(ctx, exchange)]
    with ctx.capturing:
        memories = under_known_ids(shelf.journal, drafts)
        if _passages(shelf, exchange_names) != exchanges:
            # They were purged, or have grown, while they were embedded: they are read once more.
            return len(changes), 0
        purged = tombstones.purged_ids(ctx, memories)
        stored = _store(
            ctx, shelf, exchanges, [memory for memory in memories if memory.id not in purged]
        )
        seq = _fully_read_seq(changes[-1].seq, exchanges)
        ctx.state.set_cursor(_cursor_name(shelf), {"seq": seq})
    return len(changes), stored


def _cursor_name(shelf: Shelf) -> str:
    return f"ideas:{shelf.journal.store_id}"


def _reached_seq(ctx: Context, shelf: Shelf) -> int:
    """Return the sequence number up to which ideas were looked for."""
    return (ctx.state.cursor(_cursor_name(shelf)) or Record()).number("seq")


def _fully_read_seq(seq: int, exchanges: Iterable[Sequence[Memory]]) -> int:
    """Return up to which sequence number all was looked at: exchanges are read whole, so that the passages of a long
    one that come next need not have it read again."""
    seqs = {memory.seq for exchange in exchanges for memory in exchange}
    while seq + 1 in seqs:
        seq += 1
    return seq


def _is_talk(memory: Memory) -> bool:
    return memory.kind == PASSAGE and memory.status is Status.ACTIVE and memory.is_captured


def _passages(shelf: Shelf, names: Iterable[str]) -> list[list[Memory]]:
    """Return the passages of exchanges, each in their order; the same exchange in two projects is two."""
    exchanges: dict[tuple[str, str], list[Memory]] = {}
    for memory in shelf.journal.by_external_id(list(names)):
        if _is_talk(memory):
            key = exchange_of(memory.external_id), memory.project
            exchanges.setdefault(key, []).append(memory)
    return [sorted(passages, key=number_of) for passages in exchanges.values()]


def _ideas_of(ctx: Context, talk: Sequence[Memory]) -> list[Memory]:
    sentences = units(memory.text for memory in talk)
    if not sentences:
        return []
    judgements = verdicts(sentences, _vectors(ctx, [unit.text for unit in sentences]))
    judged_sentences = list(zip(sentences, judgements, strict=True))
    memories = []
    for idea in ideas(judged_sentences, talk[0].title, talk[0].files):
        try:
            memories.append(_memory(idea, talk, ctx.local_now()))
        except UnsafeTextError:
            ctx.count("texts_dropped")
    if LOOKUP in talk[0].extra:
        # The answer repeats what was remembered, and so the question was answered.
        memories = [
            memory
            for memory in memories
            if memory.origin is Origin.USER and memory.kind != QUESTION
        ]
    # What reads like an order to the model may be copied from anywhere: it becomes no todo.
    memories = [memory for memory in memories if not (BOX in memory.extra and memory.is_suspicious)]
    return [memory for memory in memories if ctx.settings.captures(memory.kind)]


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
    idea_files = passage.files if idea.intent in ("solution", "problem", "cause") else ()
    file = redact.clean(idea.unit.file).text if idea.unit.file else ""
    mark = TICKED if idea.is_answered else OPEN
    box = {BOX: {str(file): [mark, passage.created_at.isoformat()]}} if file else {}
    due = _due_at(idea, days.local_time(passage.created_at, days.zone_of(now)))
    # What was over when it was found is as good as anything else that was.
    is_to_come = due is not None and due > now
    memory_of_idea = Memory(
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
        valid_until=due if is_to_come else None,
        tags=passage.tags,
        sensitivity=passage.sensitivity,
        jurisdiction=passage.jurisdiction,
        files=(file,) if file else idea_files,
        source=replace(passage.source, speaker=idea.unit.speaker),
        external_id=idea.name,
        extra={**idea.extra, **box, **entities_extra(idea.text, passage.files)},
    )
    return trust_marks.with_trust_marks(memory_of_idea)


def _due_at(idea: Idea, said_at: datetime) -> datetime | None:
    """Return until when an idea of the user's is to be done, or the end of the day on which it happens; None for what
    has no such day, or was done at once."""
    if idea.unit.speaker != USER or (idea.intent == TODO and idea.is_answered):
        return None
    return deadline(idea.unit.text, said_at)


def _store(
    ctx: Context, shelf: Shelf, exchanges: Sequence[Sequence[Memory]], memories: Sequence[Memory]
) -> int:
    """Write the ideas of exchanges, as if these had been read in the order of time; return how many changed."""
    versions = shelf.journal.by_ids(unique(memory.id for memory in memories))
    stored = dict(versions)
    for memory in sorted(memories, key=_place_in_time):
        version = _known_version(shelf, memory, versions)
        if version is None:
            versions[memory.id] = memory
        elif BOX in memory.extra:
            if version.id not in versions:
                stored[version.id] = version
            versions[version.id] = _with_edit(version, memory)
        else:
            versions[memory.id] = _with_repetition(version, memory)
    added = [memory for id, memory in versions.items() if id not in stored]
    changed = [
        memory for id, memory in versions.items() if id in stored and memory is not stored[id]
    ]
    dropped = [
        memory.id
        for exchange in exchanges
        for memory in _open_items_of(shelf, exchange[0])
        if memory.id not in versions
    ]
    shelf.journal.write(added, changed, dropped, stored)
    if added or changed or dropped:
        ids = [*(memory.id for memory in (*added, *changed)), *dropped]
        counts = {"added": len(added), "changed": len(changed), "dropped": len(dropped)}
        ctx.audit("store", "hook", ids, **counts)
        ctx.notify()
    return len(added) + len(changed)


def _place_in_time(memory: Memory) -> tuple[datetime, str, int]:
    return memory.created_at, memory.source.session, memory.source.turn


def _with_repetition(stored: Memory, memory: Memory) -> Memory:
    """Return a known idea as it is when an exchange says it, too: where it was said first it stands, whichever
    was read first, and where the user bound himself to it again it is counted."""
    if stored.status is not Status.ACTIVE or stored.extra.get(EDITED):
        return stored
    if _place_in_time(memory)[1:] == _place_in_time(stored)[1:]:
        is_over = bool(memory.extra.get(DONE)) > bool(stored.extra.get(DONE))
        return replace(stored, extra={**stored.extra, DONE: True}) if is_over else stored
    if stored.origin is memory.origin and _place_in_time(memory) < _place_in_time(stored):
        earliest = over(memory, stored)
        return merging.said_again(earliest, stored) or earliest
    if memory.temporal is Temporal.DEADLINE and memory.valid_until != stored.valid_until:
        # "The demo is on Friday": the one that was said last.
        stored = replace(stored, temporal=memory.temporal, valid_until=memory.valid_until)
    return merging.said_again(stored, memory) or stored


def _known_version(shelf: Shelf, memory: Memory, versions: Mapping[str, Memory]) -> Memory | None:
    """Return what is known of an idea, None for nothing; of a box what stands in its place, where talk of it became one
    with it."""
    version = versions.get(memory.id)
    if version is None:
        return _box_by_beginning(shelf, memory, versions.values())
    if BOX in memory.extra and version.status is Status.SUPERSEDED:
        heir = shelf.journal.successors([version]).get(version.id, version)
        heir = versions.get(heir.id, heir)
        return replace(heir, extra={BOX: version.extra.get(BOX), **heir.extra})
    return version


def _box_by_beginning(
    shelf: Shelf, memory: Memory, ideas_around: Iterable[Memory]
) -> Memory | None:
    """Return the open box that an edit means which may name only how it begins ("- [x] ring buffer"), None where it is
    not one alone."""
    if not (BOX in memory.extra and memory.extra.get(DONE) and memory.text.endswith(CUT)):
        return None
    beginning, (file,) = memory.text.rstrip(f" {CUT}"), memory.files
    scope = Scope(projects=(memory.project,), kinds=(TODO,))
    boxes = {box.id: box for box in (*shelf.journal.open_items(scope, MOST_OPEN), *ideas_around)}
    matches = [
        box
        for box in boxes.values()
        if _box_states(box).get(file, ("",))[0] == OPEN
        and box.text.startswith(beginning)
        and not box.text[len(beginning) :][:1].isalnum()
    ]
    return matches[0] if len(matches) == 1 else None


def _box_states(memory: Memory) -> dict[str, list[str]]:
    """Return the lists in which a todo is a box, each with its mark there and when that was put, as an ISO time."""
    value = memory.extra.get(BOX)
    states_by_file = value if isinstance(value, dict) else {}
    return {
        file: state
        for file, state in states_by_file.items()
        if isinstance(state, list) and list(map(type, state)) == [str, str]
    }


def _with_edit(box: Memory, memory: Memory) -> Memory:
    """Return a todo as its box was left by the last edit of each list, whichever was read first: done when no list has
    it open. It stands where it was written first."""
    if box.status is not Status.ACTIVE:
        return box
    is_own = box.origin is memory.origin and box.id == memory.id and not box.extra.get(EDITED)
    written = over(memory, box) if is_own and _place_in_time(memory) < _place_in_time(box) else box
    states, ((file, state),) = _box_states(box), _box_states(memory).items()
    file = _known_list(file, state[0], states)
    is_newer = state[1] >= states.get(file, ["", ""])[1]
    states = {**states, file: state} if is_newer else states
    is_opened = is_newer and state[0] == OPEN
    is_open = any(mark == OPEN for mark, _ in states.values())
    # A todo that the user closed himself is opened again by an edit that opens its box, not by one of another list.
    is_done = not is_open or (bool(box.extra.get(DONE)) and not is_opened)
    extra = {name: value for name, value in written.extra.items() if name != DONE}
    edited = replace(
        written,
        kind=TODO if is_own else box.kind,
        files=unique((*written.files, *states)) if is_own else unique((*written.files, file)),
        extra={**extra, **({DONE: True} if is_done else {}), BOX: states},
    )
    return box if edited == box else edited


def _known_list(file: str, mark: str, states: Mapping[str, list[str]]) -> str:
    """Return the list that an edit closes a box of, as it is called already: in a session that was started further up or
    down its path is longer or shorter."""
    if mark == OPEN or file in states:
        return file
    matches = [
        known_file
        for known_file in states
        if f"/{known_file}".endswith(f"/{file}") or f"/{file}".endswith(f"/{known_file}")
    ]
    return matches[0] if len(matches) == 1 else file


def _open_items_of(shelf: Shelf, passage: Memory) -> list[Memory]:
    """Return what was open of an exchange when less of it was known."""
    return [
        memory
        for memory in shelf.journal.of_turn(passage.source, passage.project)
        if memory.external_id.startswith(NAMED)
        and memory.kind in OPEN_KINDS
        and not memory.extra.get(EDITED)
    ]
