"""`label`: the user's verdict whether a hit answers a question, kept for those who tune the search. No words are kept.

`benchmarks/relevance.py --own HOME` counts them beside what the product judges by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.journal.use_labels import SEARCH, UseLabel
from vector_memory.model import Memory, digest_of
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.memory.lookup import lookup

SESSION = "verdicts"
"""Stands in the place of a session's id: a verdict has no session."""
RIGHT, WRONG = "right", "wrong"


class LabelRequest(messages.Request):
    """A memory (`id`) is a `right` or a `wrong` answer (`verdict`) to a question (`query`)."""

    id: str = messages.text(64)
    query: str = messages.text(8_000)
    verdict: str = messages.one_of((RIGHT, WRONG), WRONG)


class LabelAnswer(messages.Answer):
    """The memory's id, and the verdict that is kept."""

    id: str
    verdict: str


def label(ctx: Context, request: LabelRequest) -> LabelAnswer:
    """Keep the user's verdict.

    Raises:
        BadInputError: an agent judges.
        NotFoundError: there is no such memory.

    Returns:
        What was noted.
    """
    request.require_user("judges what was found")
    _, memory = lookup(ctx, request.id)
    keep(ctx, SEARCH, [memory], request.verdict == RIGHT, request.query)
    ctx.state.audit("label", request.actor, [memory.id], {"verdict": request.verdict})
    return LabelAnswer(memory.id, request.verdict)


def keep(
    ctx: Context, channel: str, memories: Sequence[Memory], is_right: bool, query: str = ""
) -> None:
    """Keep a verdict on some memories, under a hash of the question, by which the verdicts on one question are
    known to belong together."""
    now = ctx.now()
    ctx.state.add_use_labels(
        UseLabel(
            SESSION,
            memory.id,
            now,
            channel,
            memory.kind,
            max(0.0, (now - memory.created_at).total_seconds()),
            is_right,
            prompt=digest_of(query, size=8) if query else "",
        )
        for memory in memories
    )
