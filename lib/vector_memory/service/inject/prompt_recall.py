"""What a prompt is given by itself: memories that are worth it now, and that its session has not been shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from vector_memory.config import Settings
from vector_memory.model import DECISION, DONE_HEAD, PASSAGE, Memory
from vector_memory.retrieve import gate, render
from vector_memory.retrieve.echoes import ShownTexts, without_covered, without_echoes
from vector_memory.retrieve.newer import SAME_THING
from vector_memory.retrieve.query import DAY_S
from vector_memory.retrieve.search import Answer, Hit
from vector_memory.service.base import client_memory
from vector_memory.service.base.asker import Asker, HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_block import show
from vector_memory.service.base.gate_threshold import least_worth
from vector_memory.service.base.shelf import Shelf, by_ids, each_of
from vector_memory.service.base.shown_notes import PROMPT, Showing, Worth
from vector_memory.service.inject import open_items
from vector_memory.service.inject.wider_notes import in_their_passages, widened
from vector_memory.service.memory import last_session
from vector_memory.service.memory.lookup import answer, is_open, touch
from vector_memory.service.memory.passages import TurnReader, turn_of, turn_reader
from vector_memory.service.memory.rewritten_lines import later_words
from vector_memory.service.memory.taken_back import in_short
from vector_memory.text import analysis, fence

MAX_PROMPT_CHARS = 8_000
"""How much of a prompt is searched for; the rest is most likely pasted output."""
LOOKED_AT, NEAREST = 8, 24
"""How many hits are judged: further down little is worth telling. And among how many memories other passages of an
exchange are looked for that is told anyway."""
LEAST_TERMS, LEAST_OF_AN_IDEA = 8, 5
"""Distinct terms without which a passage, and an idea, which was found worth keeping, has no content."""
_WHO = frozenset(analysis.analyse("User Assistant Task"))
"""Terms of a passage that say who speaks."""
NEAR, SHARED = 0.25, 0.3
"""The cosine, or the share of the prompt's words, without which a hit is of something else, however fresh it is:
labels are of sessions that go on with their work, and know no other. On these it changes nothing but one prompt of
54 that had something worth telling."""
MIDST, MIDST_OF = 0.1, timedelta(days=1)
"""By how much more a note must be worth in the midst of a session, where the model has what it needs, if it is younger
than a day: of 24 notes told there by the threshold of first prompts 2 helped, of 52 told to first prompts 25. Of what is
older the model knows no more there than at a first prompt."""
RETURNING = 0.06
"""By how much less a hit that fits must be worth to a session's first prompt after a day or more: of 80 such prompts that
need something 42 are told it instead of 32, 13 something else instead of 9, and of 80 that need nothing no more are told
anything (four invented projects, each by another writer)."""
SURE, SURE_OF_ALL = 0.9, 0.97
"""The relevance from which on what a session said is told with a question, and with any prompt, whatever the gate makes
of its age: it was fitted to work that goes on, where little of long ago helps. It lets 19 more labelled notes through, of
which 4 would have helped, 10 were on topic, and none misled."""
CONTEXT_CHARS = 600
"""What of the last turn is searched together with a prompt that points back to it."""
END_TOKENS, LONG_AGO, JUST_NOW = 250, timedelta(days=14), timedelta(seconds=gate.FRESH_S)
"""Tokens at most of the end of the session before; after so long a prompt hardly points back to it; and how long a
session after it goes on with it, whatever its first prompt says. Of 43 first prompts within ten minutes 22 had
something in that end that helped, in 3 it misled."""
MOST_TO_CONFIRM, TO_CONFIRM_TOKENS = 3, 80
TO_CONFIRM = (
    "Noted as decided in this session. Ask the user whether each is right; "
    "`vector-memory forget ID` removes what is not:"
)


class _NoteBlock(NamedTuple):
    """Notes that are shown together, and the sentences that the client itself has told the model."""

    notes: Sequence[fence.Note] = ()
    title: str = ""
    showing: Showing | None = None
    client_sentences: frozenset[str] = frozenset()
    most: int = 0
    """How many notes it takes to be whole, where nobody has set how many a prompt gets."""


def on_prompt(ctx: Context, question: HookQuestion) -> str:
    """Return the fenced memories that a prompt needs, "" for none: what is to be confirmed where what was recalled leaves
    room for it."""
    settings = ctx.settings
    budget, most = settings.prompt_tokens, settings.prompt_memories
    if not (settings.recall_on_prompt and most):
        return ""
    blocks = [_recall_block(ctx, question)]
    if settings.confirm_decisions and not question.prompt_text.needs_nothing:
        blocks.append(_block_to_confirm(ctx, question))
    texts, is_set = [], most != Settings.prompt_memories
    for block in blocks:
        notes = block.notes[: max(most, 0 if is_set else block.most)]
        text = notes and show(
            ctx,
            question.session,
            notes,
            block.title,
            block.client_sentences,
            showing=block.showing,
            budget=budget,
        )
        if text:
            texts.append(text)
            budget, most = budget - fence.tokens(text), max(0, most - len(notes))
    return "\n".join(texts)


def _recall_block(ctx: Context, question: HookQuestion) -> _NoteBlock:
    """Return what is told with a prompt: the end of the session before, where it means that or can hardly be searched
    for, else what was found."""
    prompt = question.prompt_text
    if prompt.goes_on or prompt.only_points_back and not prompt.needs_nothing:
        end = _previous_end(ctx, question)
        if end.notes:
            return end
    if prompt.needs_nothing:
        return _NoteBlock()
    if prompt.asks_what_is_open and (notes := open_items.notes(ctx, question)):
        showing = Showing(PROMPT, question.prompt)
        return _NoteBlock(notes, open_items.TITLE, showing, most=open_items.MOST)
    hits, worths, results = _worthy_hits(ctx, question)
    guide = guide_of(ctx, question)
    if not (hits or guide):
        may_point_back = prompt.is_short and not prompt.is_command_line
        return _previous_end(ctx, question) if may_point_back else _NoteBlock()
    notes = notes_of(ctx, question, hits, results, guide)
    chosen = {note.id for note in notes}
    touch(ctx, question.shelves, [hit for hit in hits if hit.memory.id in chosen])
    return _NoteBlock(
        notes,
        results.note if hits else "",
        Showing(PROMPT, question.prompt, worths),
        client_memory.known_to_client(question.transcript),
    )


def guide_of(ctx: Context, question: HookQuestion) -> list[fence.Note]:
    """Return the procedure whose condition a prompt meets, and a task like its own that went well."""
    from vector_memory.service.learning import guidance, procedures

    notes = [*procedures.for_prompt(ctx, question), *guidance.for_prompt(ctx, question)]
    return notes[: ctx.settings.prompt_memories]


def _previous_end(ctx: Context, question: HookQuestion) -> _NoteBlock:
    """Return what the first prompt of a session points at in the session before, else the end of that session;
    nothing where there is none so late, or the session's start has told all of it."""
    previous = None if question.before else session_before(question, question.session)
    earliest = ctx.now() - LONG_AGO
    if previous is None or not question.session or previous[1] * DAY_S < earliest.timestamp():
        return _NoteBlock()
    own_scope = replace(question.scope, sessions=(question.session,))
    if any(shelf.journal.recent(own_scope, 1, kinds=(PASSAGE,)) for shelf in question.shelves):
        # A daemon that began in the midst of a session knows of no turn before.
        return _NoteBlock()
    project_scope = replace(question.scope, projects=(question.place.id,))
    ends = last_session.ends(question.shelves, project_scope, question.session)
    if not ends or ends[0].newest.created_at < earliest:
        return _NoteBlock()
    shown_ids = ctx.state.shown_ids(question.session)
    prompt, name = question.prompt_text, question.place.name
    end_scope = replace(project_scope, sessions=(ends[0].session,))
    room = min(END_TOKENS, ctx.settings.prompt_tokens - render.FENCE_TOKENS)
    for memory, part in last_session.parts(question.shelves, end_scope, prompt.part_named):
        if memory.id not in shown_ids:
            note = render.note(replace(memory, text=part), name, room)
            return _NoteBlock([note], showing=Showing(PROMPT, question.prompt))
    # Who goes on at once in a new session may speak of what was said last in other words.
    may_point_back = prompt.goes_on or prompt.needs_what_was_before
    is_over = not may_point_back and ends[0].newest.created_at < ctx.now() - JUST_NOW
    if is_over or ends[0].passages[-1].id in shown_ids:
        return _NoteBlock()
    note = last_session.at_length(ends[0], name, room)
    return _NoteBlock([note], showing=Showing(PROMPT, question.prompt))


def _worthy_hits(
    ctx: Context, question: HookQuestion
) -> tuple[list[Hit], dict[str, Worth], Answer]:
    """Return what is worth telling and was not shown in this session, the most worth first, what each is
    worth by its memory's id, and all that was found."""
    text = question.prompt_text.text[:MAX_PROMPT_CHARS]
    # A server is told nothing that was not redacted whole: this is cut out of the talk, with no mark of what is private.
    if _is_asked_with_talk(question) and not ctx.embedding.is_served:
        text = text + "\n" + question.before[-CONTEXT_CHARS:]
    shown_ids = ctx.state.shown_ids(question.session)
    results = answer(
        ctx,
        text,
        question,
        LOOKED_AT,
        allowed=is_open,
        session=question.session,
        embed=ctx.embedding.of_prompt,
        fitting=ctx.settings.threshold,
        known=lambda memory: memory.id in shown_ids or question.sees(memory),
        is_asked=question.prompt_text.is_question,
    )
    hits = without_echoes(results.hits)
    worths = worths_of(ctx, question, hits, results.least)
    worthy = [hit for hit in hits if hit.memory.id in worths]
    return chosen(ctx, question, worthy, worths, shown_ids), worths, results


def chosen(
    ctx: Context,
    question: HookQuestion,
    hits: Sequence[Hit],
    worths: Mapping[str, Worth],
    shown_ids: set[str],
) -> list[Hit]:
    """Return those of hits worth telling that are told, the most worth first, each thing once.

    Args:
        shown_ids: ids of what the session was shown.
    """
    fresh = without_shown(question.shelves, shown_ids, hits)
    fresh = without_covered(sorted(fresh, key=lambda hit: -worths[hit.memory.id].value))
    if question.before:
        # In the midst of its work the model has what it needs, but for what is called by its name: in the prompt
        # itself, not in the talk that a prompt which points back is searched for with.
        further = fresh[1:] if question.prompt_text.names_things(MAX_PROMPT_CHARS) else []
        fresh = [*fresh[:1], *(hit for hit in further if hit.breakdown.get("exact"))]
    return fresh[: ctx.settings.prompt_memories]


def worths_of(
    ctx: Context, question: HookQuestion, hits: Sequence[Hit], relevant: float
) -> dict[str, Worth]:
    """Return what hits are worth by their memories' ids, and those alone that may be told: of what
    was made on purpose its relevance, of what sessions said the gate's word."""
    previous = session_before(question, question.session)
    moment = gate.Moment(ctx.now(), not question.before, previous)
    sure_from = SURE if question.prompt_text.is_question else SURE_OF_ALL
    if _is_asked_with_talk(question):
        # How sure it is says then what the talk was about.
        sure_from = math.inf
    worths: dict[str, Worth] = {}
    for hit in hits:
        if not hit.memory.source.path or not hit.breakdown["cosine"]:
            if hit.relevance >= relevant:
                worths[hit.memory.id] = Worth(hit.relevance)
        elif says_something(hit) and not gives_way(hit):
            features = gate.features(hit, moment)
            worth = gate.worth(features)
            least = least_worth_of(ctx, hit, moment, relevant)
            if worth >= least or hit.relevance >= sure_from:
                worths[hit.memory.id] = Worth(worth, features)
    return _without_outdated(worths, hits)


def least_worth_of(ctx: Context, hit: Hit, moment: gate.Moment, relevant: float) -> float:
    """Return from what worth on a hit is told, 0 … 1.

    Args:
        relevant: from what relevance on a hit fits.
    """
    least = least_worth(ctx)
    if not moment.first:
        return least + MIDST * (hit.memory.created_at > moment.now - MIDST_OF)
    return least - RETURNING * moment.apart * (hit.relevance >= relevant)


def _without_outdated(worths: dict[str, Worth], hits: Sequence[Hit]) -> dict[str, Worth]:
    """Return worths without those of what a later session said anew: it is worth as much as what it follows, where it
    may be told at all."""
    by_id = {hit.memory.id: hit for hit in hits}
    for hit in sorted(hits, key=lambda hit: hit.memory.created_at):
        worth = worths.get(hit.memory.id)
        if not (worth and worth.features and hit.newer and is_outdated(hit)):
            continue
        del worths[hit.memory.id]
        newer_hit, newer_worth = by_id.get(hit.newer.memory.id), worths.get(hit.newer.memory.id)
        if (
            newer_hit
            and says_something(newer_hit)
            and not (newer_worth and newer_worth.value >= worth.value)
        ):
            worths[newer_hit.memory.id] = worth
    return worths


def _is_asked_with_talk(question: HookQuestion) -> bool:
    """Whether a prompt is searched for together with the last turn."""
    return bool(question.before) and question.prompt_text.is_about_before


def session_before(asker: Asker, but: str) -> tuple[float, float] | None:
    """Return when the session before one was, in days since 1970, None where there is none known."""
    spans = [span for shelf in asker.shelves for span in shelf.latest_sessions(asker.scope, 1, but)]
    return max(spans, key=lambda span: span[1], default=None)


def says_something(hit: Hit) -> bool:
    """Whether what a session said has content and is of the same thing: not "Fixed. Lint clean", and no word on
    something else."""
    breakdown = hit.breakdown
    is_near = breakdown["words"] >= SHARED or breakdown["cosine"] >= NEAR
    return _has_content(hit) and (is_near or breakdown.get("exact", 0.0) > 0.0)


def _has_content(hit: Hit) -> bool:
    """Whether a hit holds words enough: of a passage those that somebody said, since a command line is long whatever
    it does."""
    if hit.memory.kind != PASSAGE:
        return len(hit.terms) >= LEAST_OF_AN_IDEA
    lines = hit.memory.text.split("\n")
    spoken_lines = [line for line in lines if not line.startswith(DONE_HEAD)]
    terms = (
        hit.terms
        if len(spoken_lines) == len(lines)
        else set(analysis.analyse("\n".join(spoken_lines)))
    )
    return len(terms - _WHO) >= LEAST_TERMS


def gives_way(hit: Hit) -> bool:
    """Whether another hit says otherwise since, or in the same exchange: one of both was said on the way."""
    return any(other.created_at >= hit.memory.created_at for other in hit.against)


def is_outdated(hit: Hit) -> bool:
    """Whether a later session spoke of the same thing."""
    return hit.newer is not None and hit.newer.likeness >= SAME_THING


def without_shown(shelves: Sequence[Shelf], shown_ids: set[str], hits: Sequence[Hit]) -> list[Hit]:
    """Return hits without those whose words the session was given in another memory: an idea and the
    passage that it stands in are two memories that say one thing."""
    if not shown_ids or not any(hit.memory.source.session for hit in hits):
        return list(hits)
    shown_texts = ShownTexts()
    for memory in by_ids(shelves, shown_ids).values():
        shown_texts.add(memory)
    return [hit for hit in hits if not shown_texts.holds(hit.memory)]


def notes_of(
    ctx: Context,
    question: HookQuestion,
    hits: Sequence[Hit],
    results: Answer,
    guide: Sequence[fence.Note] = (),
) -> list[fence.Note]:
    """Return as many hits as notes as there is room for, with what else was found of their exchanges, ideas in the
    passages that say them, and what corrected them at once.

    Args:
        results: all that the search found.
        guide: notes that come behind these, take their part of the budget, and are told once.
    """
    names, hit_ids = question.names, {hit.memory.id for hit in hits}
    beside = [note for note in guide if note.id not in hit_ids]
    hits = hits[: max(0, ctx.settings.prompt_memories - len(beside))]
    readers = [turn_reader(shelf) for shelf in question.shelves]
    shown_ids = ctx.state.shown_ids(question.session)

    def passages_of(hit: Hit) -> list[Memory]:
        return [
            passage
            for passage in readers[hit.shelf](hit.memory)
            if passage.kind == PASSAGE
            and passage.id not in shown_ids
            and not question.sees(passage)
            if is_open(passage) and question.scope.holds(passage)
        ]

    def render_hits(fitting: Sequence[Hit], budget: int) -> list[fence.Note]:
        notes = render.notes(
            fitting,
            budget,
            names.__getitem__,
            results.query.terms,
            ctx.settings.origin_share,
        )
        room = budget - render.FENCE_TOKENS
        notes = widened(notes, fitting, results.weighed[:NEAREST], room)
        return in_their_passages(notes, fitting, passages_of, room)

    # One that the search found as well has the room of a hit: it is told at length, and once.
    budget = ctx.settings.prompt_tokens - sum(note.tokens for note in beside)
    notes = render_hits(hits, budget)
    fitting = [hit for hit in hits if hit.memory.id in {note.id for note in notes}]
    while later := _later_words(ctx, question, readers, fitting):
        spare = sum(fence.tokens(line) for lines in later.values() for line in lines)
        notes = render_hits(fitting, budget - spare)
        if len(notes) == len(fitting):
            break
        # Rather fewer notes than a note without its later words.
        fitting = fitting[:-1]
        notes = render_hits(fitting, budget)
    told_ids = {note.id for note in notes}
    return [
        *(_with_later_words(note, later.get(note.id, ())) for note in notes),
        *(note for note in guide if note.id not in told_ids),
    ]


def _later_words(
    ctx: Context, question: HookQuestion, readers: Sequence[TurnReader], hits: Sequence[Hit]
) -> dict[str, list[str]]:
    """Return what corrected hits and what changed what they made, as it is told, by the hits' ids: once for an
    exchange, and nothing of one that is told anyway, or of this session."""
    lines_by_id, turns = dict[str, list[str]](), [turn_of(hit.memory) for hit in hits]
    for number, hit in enumerate(hits):
        if turns[number] in turns[:number]:
            continue
        for later in later_words(ctx, question, hit.shelf, readers[hit.shelf], hit.memory):
            is_own = later.memory.source.session == question.session
            if turn_of(later.memory) not in turns and not is_own:
                lines_by_id.setdefault(hit.memory.id, []).append(in_short(*later))
    return lines_by_id


def _with_later_words(note: fence.Note, later: Sequence[str]) -> fence.Note:
    if not later:
        return note
    # The ids of later words are left out of the note: as memories of their own they may still be told whole.
    text = "\n".join([note.text, *later])
    return fence.Note(note.id, note.head, text, note.foreign, note.is_cut, note.also)


def _block_to_confirm(ctx: Context, question: HookQuestion) -> _NoteBlock:
    """Return the decisions noted in a session about which nobody was asked yet, the oldest first."""
    if not question.session:
        return _NoteBlock()
    shown_ids = ctx.state.shown_ids(question.session)
    scope = replace(question.scope, projects=None, sessions=(question.session,), kinds=(DECISION,))
    decisions = each_of(question.shelves, lambda journal: journal.iter_memories(scope))
    unconfirmed = [memory for memory in decisions if memory.id not in shown_ids]
    unconfirmed.sort(key=lambda memory: (memory.created_at, memory.seq))
    names = question.names
    notes = [
        render.note(memory, names[memory.project], TO_CONFIRM_TOKENS)
        for memory in unconfirmed[:MOST_TO_CONFIRM]
    ]
    return _NoteBlock(notes, TO_CONFIRM)
