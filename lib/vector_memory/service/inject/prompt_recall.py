"""What a prompt is given by itself: memories that are relevant enough to speak up, and that its session has not
been shown."""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.model import DECISION, Scope
from vector_memory.retrieve import query as queries
from vector_memory.retrieve import render
from vector_memory.retrieve.echoes import ShownTexts, without_echoes
from vector_memory.retrieve.factors import least_relevance
from vector_memory.retrieve.search import Hit, search
from vector_memory.service.base import client_memory
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_block import show
from vector_memory.service.base.query_building import embedding_of, query_of
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory.lookup import is_open, name_in, project_names, touch
from vector_memory.text import fence, prompts

MAX_PROMPT_CHARS = 8_000
"""What of a prompt is searched for; the rest is most likely pasted output."""
CONTEXT_CHARS = 600
"""What of the last turn is searched together with a prompt that points back to it."""
MOST_TO_CONFIRM, TO_CONFIRM_TOKENS = 3, 80
TO_CONFIRM = (
    "Noted as decided in this session. Ask the user whether each is right; "
    "`vector-memory forget ID` removes what is not:"
)


def on_prompt(ctx: Context, question: HookQuestion) -> str:
    """Return the fenced memories that a prompt needs, "" for none."""
    if not ctx.settings.recall_on_prompt or prompts.needs_nothing(question.prompt):
        return ""
    hits = _relevant(ctx, question)
    from vector_memory.service.learning import guidance

    guide = guidance.for_prompt(ctx, question)
    told = _present(ctx, question, hits, guide) if hits or guide else ""
    decided = _to_confirm(ctx, question) if ctx.settings.confirm_decisions else []
    asking = show(ctx, question.session, decided, TO_CONFIRM) if decided else ""
    return "\n".join(filter(None, (told, asking)))


def _relevant(ctx: Context, question: HookQuestion) -> list[Hit]:
    """Return what is relevant enough to speak up and was not shown in this session."""
    text = question.prompt[:MAX_PROMPT_CHARS]
    if question.before and prompts.points_back(text):
        text = text + "\n" + question.before[-CONTEXT_CHARS:]
    query = query_of(ctx, text, question.scope, question.shelves, question.place, question.session)
    shown = ctx.state.shown(question.session)
    k = ctx.settings.prompt_memories
    hits = search(
        query,
        question.shelves,
        k + len(shown),
        ctx.now(),
        candidates=ctx.settings.candidates,
        scoring=ctx.settings.scoring,
        embed=embedding_of(ctx),
        allowed=is_open,
    )
    least = least_relevance(
        ctx.settings.threshold, sum(shelf.size(query.scope) for shelf in question.shelves)
    )
    fit = [
        hit
        for hit in without_echoes(hits)
        if hit.relevance >= least and hit.memory.id not in shown and not question.sees(hit.memory)
    ]
    return _not_told(question.shelves, shown, fit)[:k]


def _not_told(shelves: Sequence[Shelf], shown: set[str], hits: list[Hit]) -> list[Hit]:
    """Return hits without those whose words the session was given in another memory: an idea and the
    passage that it stands in are two memories that say one thing."""
    if not shown or not any(hit.memory.source.session for hit in hits):
        return hits
    told = ShownTexts()
    for shelf in shelves:
        for memory in shelf.journal.by_ids(list(shown)).values():
            told.add(memory)
    return [hit for hit in hits if not told.holds(hit.memory)]


def _present(
    ctx: Context,
    question: HookQuestion,
    hits: Sequence[Hit],
    guide: Sequence[fence.Note],
) -> str:
    names = project_names(question.shelves)
    notes = render.notes(
        hits,
        ctx.settings.prompt_tokens - sum(note.tokens for note in guide),
        lambda project: name_in(names, project),
        queries.analyse(question.prompt[:MAX_PROMPT_CHARS], Scope()).terms,
        ctx.settings.origin_share,
    )
    chosen = {note.id for note in notes}
    touch(ctx, question.shelves, [hit for hit in hits if hit.memory.id in chosen])
    known = client_memory.known_to_client(question.transcript)
    return show(ctx, question.session, [*notes, *guide], known=known)


def _to_confirm(ctx: Context, question: HookQuestion) -> list[fence.Note]:
    """Return the decisions noted in a session about which nobody was asked yet, the oldest first."""
    if not question.session:
        return []
    shown = ctx.state.shown(question.session)
    scope = Scope(sessions=(question.session,), kinds=(DECISION,))
    fresh = [
        memory
        for shelf in question.shelves
        for memory in shelf.journal.iter_memories(scope)
        if memory.id not in shown
    ]
    fresh.sort(key=lambda memory: (memory.created_at, memory.seq))
    names = project_names(question.shelves)
    return [
        render.note(memory, name_in(names, memory.project), TO_CONFIRM_TOKENS)
        for memory in fresh[:MOST_TO_CONFIRM]
    ]
