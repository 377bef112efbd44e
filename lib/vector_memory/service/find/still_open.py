"""`open_items`: questions, todos and problems, with what answers them."""

from __future__ import annotations

from dataclasses import replace

from vector_memory.model import OPEN_KINDS, Relation
from vector_memory.service.base import messages, reach
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import by_ids, each_of, newest_of
from vector_memory.service.memory.views import BriefView, MemoryView, brief, memory_view


class OpenItemsRequest(messages.Filter):
    """What is open: `k` of it at most, and as many that are answered."""

    k: int = messages.number(60, 1, 1_000)


class AnsweredView(messages.Answer):
    """A memory, and what answers it."""

    memory: MemoryView
    answers: list[BriefView]


class OpenItemsAnswer(messages.Answer):
    """What is open, and what is answered, the newest first."""

    open: list[MemoryView]
    answered: list[AnsweredView]


def open_items(ctx: Context, request: OpenItemsRequest) -> OpenItemsAnswer:
    """Return what is open as a session's start and `resume` count it, and the newest that is answered."""
    asker = messages.reader_of(ctx, request)
    scope = replace(asker.scope.listed_at(ctx.now()), kinds=OPEN_KINDS)
    open_memories = newest_of(asker.shelves, lambda journal: journal.open_items(scope, request.k))
    answered = newest_of(asker.shelves, lambda journal: journal.answered(scope, request.k))
    ids = [memory.id for memory in answered[: request.k]]
    links = each_of(asker.shelves, lambda journal: journal.links_of(ids))
    answering = [link for link in links if link.relation is Relation.ANSWERS and link.to_id in ids]
    answers = by_ids(asker.shelves, [tie.from_id for tie in answering])
    for shelf in asker.shelves:
        answers |= shelf.journal.successors(list(answers.values()))
    visible = {id: memory for id, memory in answers.items() if reach.holds(memory)}
    return OpenItemsAnswer(
        [memory_view(memory, asker.names, ctx.now()) for memory in open_memories[: request.k]],
        [
            AnsweredView(
                memory_view(memory, asker.names, ctx.now()),
                [
                    brief(BriefView, visible[tie.from_id])
                    for tie in answering
                    if tie.to_id == memory.id and tie.from_id in visible
                ],
            )
            for memory in answered[: request.k]
        ],
    )
