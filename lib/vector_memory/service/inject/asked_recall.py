"""What `/remember QUESTION` is given with the prompt: the model need not run the command first. By topic, with
what was so before and until when."""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.retrieve import render
from vector_memory.retrieve.echoes import without_echoes, without_repeated_words
from vector_memory.retrieve.search import Hit
from vector_memory.retrieve.topics import topics
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_block import show
from vector_memory.service.inject.prompt_recall import MAX_PROMPT_CHARS
from vector_memory.service.memory import applied_uses, lookup
from vector_memory.service.memory.history import before, chain_of
from vector_memory.service.memory.passages import TurnReader, turn_reader
from vector_memory.service.memory.rewritten_lines import last_words, later_words
from vector_memory.service.memory.taken_back import in_short
from vector_memory.text import fence

TITLE = "Asked for with /remember, by topic:"
"""The skill looks for this line."""
NOTHING = "Nothing that is remembered fits the question."
TOKENS = 1_500
MOST_HITS = 10
LOOKED_AT = 2 * MOST_HITS


def on_remember(ctx: Context, question: HookQuestion) -> str:
    """Return the fenced memories that answer a question asked with `/remember`, or that nothing fits; "" where
    prompts are given nothing."""
    if not ctx.settings.recall_on_prompt:
        return ""
    question_text = question.prompt_text.question[:MAX_PROMPT_CHARS]
    answer = lookup.answer(
        ctx, question_text, question, LOOKED_AT, allowed=lookup.is_open, cold=True
    )
    fitting = [hit for hit in answer.hits if hit.fits]
    hits = without_repeated_words(without_echoes(fitting))[:MOST_HITS]
    if not hits:
        return fence.fence([], f"{TITLE} {answer.note or NOTHING}")
    groups = topics(hits)
    heads = {
        hits[place].memory.id: f"topic: {topic.name}" if place == topic.places[0] else "same topic"
        for topic in groups
        for place in topic.places
    }
    ordered = [hits[place] for topic in groups for place in topic.places]
    lookup.touch(ctx, question.shelves, ordered)
    notes = _notes(ctx, question, ordered, heads, answer.query.terms)
    title = f"{TITLE} {answer.note}" if answer.note else TITLE
    # The skill answers in a talk of its own: the session's own does not see these notes.
    block = show(ctx, "", notes, title)
    applied_uses.asked_for(ctx, question.shelves, ordered, question.session)
    return block


def _notes(
    ctx: Context,
    question: HookQuestion,
    hits: Sequence[Hit],
    heads: dict[str, str],
    terms: Sequence[str],
) -> list[fence.Note]:
    """Return hits as notes within the budget, each with its topic and with what was so before."""
    readers = [turn_reader(shelf) for shelf in question.shelves]
    beside = {hit.memory.id: _history_lines(ctx, question, hit, readers[hit.shelf]) for hit in hits}
    names = question.names
    spare = sum(
        fence.tokens(heads[id]) + (fence.tokens(line) if line else 0) for id, line in beside.items()
    )
    notes = render.notes(
        hits,
        TOKENS - spare,
        names.__getitem__,
        terms,
        ctx.settings.origin_share,
    )
    return [
        note.with_head(f"{note.head} · {heads[note.id]}").with_text(
            "\n".join(filter(None, (note.text, beside[note.id])))
        )
        for note in notes
    ]


def _history_lines(ctx: Context, question: HookQuestion, hit: Hit, read: TurnReader) -> str:
    """Return, in a line each, what was so before a memory, and what corrected, changed or lifted it last; "" for neither."""
    earlier = before(chain_of(question.shelves[hit.shelf], hit.memory))
    corrections = last_words(later_words(ctx, question, hit.shelf, read, hit.memory))
    lines = [f"Earlier: {', '.join(earlier)}"] if earlier else []
    return "\n".join([*lines, *(in_short(*correction) for correction in corrections)])
