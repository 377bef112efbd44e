"""From the words of a question to the query that is searched for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vector_memory import projects
from vector_memory.model import Scope
from vector_memory.retrieve import query as queries
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf

if TYPE_CHECKING:
    from vector_memory.model import Vector

Embed = Callable[[queries.Query], "Vector | None"]
"""What makes a query's vector, None where there is no model now."""
A_DAY = 1.0
PROMPT_CHARS = 320
"""What of a prompt is embedded. On 35 labelled prompts of more than 300 characters it tells what is on topic
as well as 128 tokens do (AUC 0.76 both), 240 characters do not (0.72)."""
PROMPT_WAIT_S = 0.07
"""How long a prompt's vector is waited for, of the 130 ms that a hook has."""


def query_of(
    ctx: Context,
    text: str,
    scope: Scope,
    shelves: Sequence[Shelf],
    place: projects.Place | None = None,
    session: str = "",
) -> queries.Query:
    """Return a question's query, without its vector: `embedding_of` makes that.

    Args:
        place: the project that it is asked from.
        session: the session that it is asked in: "the last session" is the one before.
    """

    def find_speakers(words: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(name for shelf in shelves for name in shelf.speakers(words)))

    own = place.id if place else ""
    query = queries.analyse(text, scope, None, own, ctx.local_now(), find_speakers)
    if query.sessions_back:
        query = _with_session(query, shelves, session)
    return query


def embedding_of(ctx: Context) -> Embed:
    """Return what makes a query's vector, None where there is no model now."""
    return lambda query: ctx.embedding.query(query.embedded)


def embedding_in_time(ctx: Context) -> Embed:
    """Return what makes the vector of a prompt for whose answer a hook waits: of its beginning, which says
    what it is about at two thirds of the cost, and None where even that takes too long."""
    return lambda query: ctx.embedding.query_within(query.embedded[:PROMPT_CHARS], PROMPT_WAIT_S)


def _with_session(query: queries.Query, shelves: Sequence[Shelf], session: str) -> queries.Query:
    """Turn "two sessions ago" into the time of that session."""
    back = query.sessions_back or 0
    spans = [
        span for shelf in shelves for span in shelf.latest_sessions(query.scope, back, session)
    ]
    spans.sort(key=lambda span: -span[1])
    if len(spans) < back:
        return query
    start, end = spans[back - 1]
    # The end of a session is its last memory's time: it belongs to the span.
    span = start, end + A_DAY / 1440
    periods = (*query.periods, span) if query.asks else query.periods
    return replace(query, spans=(*query.spans, span), periods=periods)
