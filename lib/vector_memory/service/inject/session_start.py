"""What a session is given at its start, a briefing: how the session before ended, what the user wants kept to,
what is open, what usually goes wrong, and what waits for the user."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from itertools import chain
from typing import TYPE_CHECKING

from vector_memory import aging, redact
from vector_memory.model import (
    BINDING,
    EPISODES,
    PASSAGE,
    PROBLEM,
    QUIET,
    TOPIC,
    WAITING,
    Memory,
    Origin,
    Priority,
    Relation,
    Scope,
    Source,
    Temporal,
)
from vector_memory.retrieve import render
from vector_memory.retrieve.echoes import ShownTexts
from vector_memory.retrieve.search import holds_at
from vector_memory.service.base import client_memory, leases, privacy_rules
from vector_memory.service.base.asker import HookQuestion, ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_block import checked, show
from vector_memory.service.base.shelf import each_of
from vector_memory.service.base.shown_notes import START, Showing
from vector_memory.service.inject import after_compaction, start_rules
from vector_memory.service.inject.start_rules import NOTE_TOKENS, StartRules
from vector_memory.service.memory import last_session, merging, moved_projects, proposals
from vector_memory.service.memory.last_session import SessionEnd
from vector_memory.system.durable_files import write_durably
from vector_memory.text import days, fence
from vector_memory.text.words import clauses_in, words_in

if TYPE_CHECKING:
    from vector_memory.journal.journal import Journal

SESSION_TOKENS, NOTICE_TOKENS = 200, 60
"""Tokens at most of the end of the session before, and of the line for the user."""
TOLD_AT_START = "start:"
"""What stands before a memory's id among what a session was shown, where a start told a part of it."""
LOOKED_AT = 100
LEAST_ROOM, MOST_MISSES = 28, 5
"""Tokens that a short note needs, and how many notes may be too long before no shorter one is looked for."""
MOST_OPEN, SESSIONS_BACK = 3, 3
LEAST_SESSIONS = 2
"""In how many sessions the user must have said what counts as a standing rule."""
UNTOLD_KINDS = (PASSAGE, TOPIC, PROBLEM, *WAITING)
"""Of what somebody had remembered, what is neither a rule nor a fact."""
MOST_DATED = 3
"""How many of what has its date these days come with their words; the line of notices counts all."""


def on_start(ctx: Context, question: HookQuestion, unread: str = "") -> str:
    """Return the fenced briefing that a session starts with, "" where there is nothing to tell.

    After a compaction the model has forgotten what it was shown, so all of it may be shown again.

    Args:
        unread: the sentence that tells of a newer session than those that were read, "" for none.
    """
    if question.source in ("compact", "clear"):
        ctx.state.clear_shown(question.session)
    line = _notices(ctx, question, unread)
    if not ctx.settings.recall_on_start:
        return line
    shown_ids = ctx.state.shown_ids(question.session)
    hidden = shown_ids | {id.removeprefix(TOLD_AT_START) for id in shown_ids}
    own_notes = after_compaction.notes(ctx, question) if question.source == "compact" else []
    from vector_memory.service.learning import guidance

    # Under a ceiling nothing is told of whole sessions.
    guidance_notes = [] if question.scope.levels else guidance.for_start(ctx, question, hidden)
    spare = fence.tokens(line) if line else 0
    client_sentences = client_memory.known_to_client(question.transcript)
    notes = start_notes(
        ctx, question, hidden, [*own_notes, *guidance_notes], spare, client_sentences
    )
    notes = [*own_notes, *notes, *guidance_notes]
    ctx.later(lambda: save_snapshot(ctx, question, question.folder))
    title = f"Project {question.place.name}:"
    block = show(
        ctx,
        question.session,
        notes,
        title,
        client_sentences,
        mark_of_cut=TOLD_AT_START,
        showing=Showing(START),
    )
    return "\n".join(filter(None, (block, line)))


def _notices(ctx: Context, question: HookQuestion, unread: str) -> str:
    """Return the line of what the memory itself has to say to the user, "" for nothing. Proposals are counted, not
    named: the model has written them, and would read them again."""
    sentences, room = [privacy_rules.notice(ctx, question.place)], NOTICE_TOKENS
    if ctx.settings.recall_on_start and question.source != "compact":
        moved = list(moved_projects.likely(ctx, question.place).values())[:1]
        # A command that is cut short is of no use.
        sentences, room = [*moved, *sentences], room + sum(map(fence.tokens, moved))
        sentences.append(unread)
        sentences.append(proposals.notice(ctx, question.shelves, question.place.id))
        sentences.append(_dates_sentence(ctx, question))
        sentences.append(leases.notice(ctx, question.place.id, question.session))
    line = " ".join(filter(None, sentences))
    return fence.fence([], fence.cut(line, room), fence.OWN_HEAD) if line else ""


def _dates_sentence(ctx: Context, question: HookQuestion) -> str:
    """Return the sentence that tells of deadlines that are near and of what comes back these days, "" for none.
    Their words come as notes of their own, since nobody vouches for them here."""
    coming = sorted(day for day, _ in _dated_memories(ctx, question))
    if not coming:
        return ""
    subject = (
        "1 memory has its date" if len(coming) == 1 else f"{len(coming)} memories have their dates"
    )
    return f"{subject} soon, the next on {coming[0]}."


def _dated_memories(ctx: Context, asker: ProjectAsker) -> list[tuple[date, Memory]]:
    """Return what comes up by the calendar now, each with its day, the nearest first."""
    now = ctx.local_now()
    pairs = [
        (day, memory)
        for memory in each_of(asker.shelves, lambda journal: journal.with_dates(asker.scope))
        if (day := aging.day_of(memory, now)) is not None and memory.collection not in QUIET
    ]
    return sorted(pairs, key=lambda pair: (pair[0], pair[1].id))


def start_notes(
    ctx: Context,
    asker: ProjectAsker,
    hidden: set[str],
    beside: Sequence[fence.Note] = (),
    spare: int = 0,
    client_sentences: frozenset[str] = frozenset(),
) -> list[fence.Note]:
    """Return a start's notes within its budget: the session before, what is open, what is to be kept to, then
    what else somebody had remembered.

    Args:
        hidden: ids that the session was shown already.
        beside: notes that come beside these and take their part of the budget.
        spare: tokens that are needed for something else.
        client_sentences: what the client has told the model itself.
    """
    room = ctx.settings.start_tokens - render.FENCE_TOKENS - spare
    room -= sum(note.tokens for note in beside)
    shares = render.Shares(room, ctx.settings.origin_share)
    hidden = hidden | {note.id for note in beside}
    ends = _ends(asker)
    notes: list[fence.Note] = []
    if ends and not continues_session(asker) and ends[0].passages[-1].id not in hidden:
        end = last_session.in_short(ends[0], asker.place.name, min(SESSION_TOKENS, room))
        if end.tokens <= room:
            notes.append(end)
            room -= end.tokens
    shown_texts = ShownTexts([note.text for note in [*beside, *notes]])
    rules = StartRules(ctx, asker, notes, client_sentences)
    misses, dated = 0, _dated_memories(ctx, asker)
    day_of = {memory.id: day for day, memory in dated}
    for memory in _ranked_memories(ctx, asker, ends, [memory for _, memory in dated], shown_texts):
        # To render a note takes longer than to read it: where nothing fits any more, none is tried.
        if len(notes) >= ctx.settings.start_memories or misses == MOST_MISSES or room < LEAST_ROOM:
            break
        is_told = memory.id in hidden or _is_repeated(memory, notes, shown_texts)
        if is_told or _is_in_view(asker, memory):
            continue
        contradictions = _contradictions(asker, memory)
        day = day_of.get(memory.id)
        if day is None and not contradictions and _is_rule_here(asker, memory):
            if not rules.wants(memory):
                continue
            cost = rules.add(memory, room)
            room, misses = room - cost, misses + (not cost)
            if cost:
                shown_texts.add(memory)
            continue
        note = _note(asker, memory, contradictions, day, rules)
        # What matters stands first here, whoever said it: others alone keep to their share.
        if note.tokens <= min(room, shares.room(memory, note.tokens, within=False)):
            notes.append(note)
            shown_texts.add(memory)
            shares.count(memory, note.tokens)
            room -= note.tokens
        else:
            misses += 1
    return notes


def _is_repeated(memory: Memory, notes: Sequence[fence.Note], shown_texts: ShownTexts) -> bool:
    """Whether notes that are made say a memory already; a rule only where the user asked last in these very sentences:
    what the assistant says beside it may be that it holds no more."""
    if not is_lasting(memory):
        return shown_texts.holds(memory)
    is_end = bool(notes) and last_session.KIND in notes[0].head
    lines = notes[0].text.split("\n") if is_end else []
    head = last_session.ASKED_LAST
    asked = [line.removeprefix(head) for line in lines if line.startswith(head)]
    told = (line for line in asked if not line.rstrip().endswith("?"))
    sentences = {sentence for line in told for sentence in _sentences(line)}
    return sentences.issuperset(_sentences(memory.text))


def _sentences(text: str) -> list[tuple[str, ...]]:
    """Return the words of each sentence of a text."""
    return [tuple(words_in(sentence)) for sentence in clauses_in(text, ".;!?") if sentence.strip()]


def _is_own(asker: ProjectAsker, memory: Memory) -> bool:
    return memory.is_captured and memory.project == asker.place.id


def _is_rule_here(asker: ProjectAsker, memory: Memory) -> bool:
    """Whether a memory is a rule that the user said once in the project's own sessions."""
    return _is_own(asker, memory) and is_lasting(memory) and not is_standing(memory)


def _note(
    asker: ProjectAsker,
    memory: Memory,
    contradictions: Sequence[Memory],
    day: date | None,
    rules: StartRules,
) -> fence.Note:
    """Return one memory as a start tells it, a rule with what became of it; `day` is when it has its date."""
    # The block's title names the project, and the id leads to where it was said: without them more notes fit.
    is_own = _is_own(asker, memory)
    bare_memory = replace(memory, title="", source=Source()) if is_own else memory
    name = "" if is_own else asker.names[memory.project]
    note = _with_sessions(
        memory, render.note(bare_memory, name, NOTE_TOKENS, against=contradictions)
    )
    if is_own and memory.kind in BINDING:
        text = note.text + rules.change_of(memory)
        note = fence.Note(note.id, note.head, text, note.foreign, note.is_cut)
    if day and memory.temporal is Temporal.PERIODIC:
        note = note.with_head(f"{note.head} · comes back {day}")
    return note


def continues_session(asker: ProjectAsker) -> bool:
    """Whether a session goes on and is told of itself, not of the one before."""
    return isinstance(asker, HookQuestion) and asker.source in ("compact", "resume")


def _is_in_view(asker: ProjectAsker, memory: Memory) -> bool:
    """Whether a session that is resumed still has a memory's own words before it."""
    return isinstance(asker, HookQuestion) and asker.source == "resume" and asker.sees(memory)


def _ends(asker: ProjectAsker) -> list[SessionEnd]:
    own_session = asker.session if isinstance(asker, HookQuestion) else ""
    project_scope = replace(asker.scope, projects=(asker.place.id,))
    return last_session.ends(asker.shelves, project_scope, own_session, SESSIONS_BACK)


def _ranked_memories(
    ctx: Context,
    asker: ProjectAsker,
    ends: Sequence[SessionEnd],
    dated: Sequence[Memory],
    shown_texts: ShownTexts,
) -> Iterator[Memory]:
    """Yield what a start tells beside the session before, the most worth first, each once: what has its date these
    days before all, and on other days not at all. What waits for a condition comes with that. Open items that were shown
    until then take no place."""
    from vector_memory.service.learning import procedures

    dated_ids = {memory.id for memory in dated}
    scope, own_scope = asker.scope, replace(asker.scope, projects=(asker.place.id,))
    purpose_scope = replace(scope, sessions=("",))
    now, local_now, yielded_ids = ctx.now(), ctx.local_now(), set()

    def may_be_told(memory: Memory) -> bool:
        has_date = memory.temporal in (Temporal.DEADLINE, Temporal.PERIODIC)
        return (
            holds_at(memory, now)
            and not memory.is_quiet
            # What mended an error comes with that error.
            and memory.collection != EPISODES
            and (memory.id in dated_ids or not (has_date or memory.kind in (PROBLEM, TOPIC)))
            and (memory.id in dated_ids or not procedures.comes_by_itself(ctx, memory))
            and not start_rules.is_over(memory, local_now)
        )

    def ordered() -> Iterator[Memory]:
        yield from dated[:MOST_DATED]
        important = _newest(asker, lambda journal: journal.important(scope, LOOKED_AT))
        yield from (memory for memory in important if is_standing(memory))
        binding = [shelf.journal.recent(scope, LOOKED_AT, kinds=BINDING) for shelf in asker.shelves]
        yield from filter(is_standing, _core_first(chain.from_iterable(binding)))
        # Few and short, while what was once wished for may take all of the room.
        yield from _open_items(asker, own_scope, ends, shown_texts)
        # A rule that is not told itself hides no older one.
        lasting = [
            [rule for rule in recent if is_lasting(rule) and may_be_told(rule)]
            for recent in binding
        ]
        yield from start_rules.in_order(asker.shelves, lasting)
        limit = 4 * ctx.settings.start_memories
        remembered = _newest(asker, lambda journal: journal.recent(purpose_scope, limit))
        yield from (memory for memory in remembered if memory.kind not in UNTOLD_KINDS)

    for memory in ordered():
        if memory.id not in yielded_ids and may_be_told(memory):
            yielded_ids.add(memory.id)
            yield memory


def _newest(asker: ProjectAsker, ask: Callable[[Journal], list[Memory]]) -> list[Memory]:
    """Return memories of all stores, those of CORE priority first, then the newest."""
    return _core_first(each_of(asker.shelves, ask))


def _core_first(memories: Iterable[Memory]) -> list[Memory]:
    newest = sorted(memories, key=lambda memory: memory.created_at, reverse=True)
    return sorted(newest, key=lambda memory: memory.priority is not Priority.CORE)


def is_standing(memory: Memory) -> bool:
    """Whether a memory counts until something else is said: remembered on purpose, or said by the user himself
    in several sessions. What he said once was for the moment."""
    if not memory.source.session:
        return True
    return (
        memory.origin is Origin.USER
        and memory.kind in BINDING
        and len(merging.sessions_of(memory)) >= LEAST_SESSIONS
    )


def is_lasting(memory: Memory) -> bool:
    """Whether what the user said in one session likely binds later ones. Other wishes that were said once were for the
    moment."""
    if memory.origin is not Origin.USER or memory.kind not in BINDING or memory.is_suspicious:
        return False
    from vector_memory.index import rules

    return rules.binds(memory.text)


def _open_items(
    asker: ProjectAsker, own_scope: Scope, ends: Sequence[SessionEnd], shown_texts: ShownTexts
) -> list[Memory]:
    """Return what is open and still true: what was noted on purpose, then what the last sessions left."""
    scope = replace(own_scope, kinds=WAITING)
    items = each_of(asker.shelves, lambda journal: journal.open_items(scope, LOOKED_AT))
    noted = [memory for memory in items if not memory.source.session]
    left_open = last_session.left_open(asker.shelves, own_scope, ends, 2 * MOST_OPEN)
    return [*noted, *(memory for memory in left_open if not shown_texts.holds(memory))][:MOST_OPEN]


def _contradictions(asker: ProjectAsker, memory: Memory) -> list[Memory]:
    """Return what contradicts a memory and holds too: nobody has said yet which of both does."""
    linked = (pair for shelf in asker.shelves for pair in shelf.linked([memory.id]))
    return [
        other
        for link, other in linked
        if other is not None
        and asker.scope.holds(other)
        and link.relation is Relation.CONTRADICTS
        and not proposals.may_stand_beside(memory, other)
    ]


def _with_sessions(memory: Memory, note: fence.Note) -> fence.Note:
    """Return a note that tells in how many sessions it was said, and when last."""
    sessions = merging.sessions_of(memory)
    if len(sessions) < LEAST_SESSIONS:
        return note
    last = max(sessions.values())
    with suppress(ValueError):
        # What was imported may say anything.
        last = days.local_time(datetime.fromisoformat(last)).isoformat()
    return note.with_head(f"{note.head} · said in {len(sessions)} sessions, last {last[:10]}")


def save_snapshot(ctx: Context, asker: ProjectAsker, folder: str) -> None:
    """Write what a session in a folder would start with, for a start without a daemon."""
    # As a plain asker: a session that begins later is told of this one, too.
    later_asker = ProjectAsker(asker.place, asker.scope, asker.open_shelves)
    with redact.for_project(asker.place.folders):
        notes = checked(start_notes(ctx, later_asker, set()))
    path = ctx.home.snapshot(folder)
    names = ("id", "head", "text", "foreign")
    records = [{name: getattr(note, name) for name in names} for note in notes]
    write_durably(path, json.dumps({"notes": records}).encode())
