"""What is known of a topic, a session or a stretch of time, in sentences that stand in memories. Nothing is
written anew: each sentence is somebody's, and says whose memory it is from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from vector_memory.errors import BadInputError
from vector_memory.index.topics import summaries
from vector_memory.model import DECISION, DERIVED, PASSAGE, QUIET, SUMMARY, Memory, Scope
from vector_memory.service.base import messages, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import ProjectNames, Shelf, newest_of
from vector_memory.service.memory.lookup import answer, is_open
from vector_memory.service.memory.views import BriefView, brief
from vector_memory.text import analysis

MOST_READ = 200
MOST_FOUND = 30
OVERLAP = 0.6
"""The share of a sentence's words that were said already, from which it is left out."""
WEIGHTS = {"decision": 1.5, "conclusion": 1.3, "todo": 1.2, "question": 1.1}


class Point(NamedTuple):
    """One sentence with what it is and the memory that it stands in."""

    text: str
    sort: str
    memory: Memory
    terms: frozenset[str]
    score: float


def _query_of(request: request_fields.Sent, name: str) -> str:
    """Return the topic, "" for none: one of blanks alone is none."""
    query = str(request.get(name) or "").strip()
    return request_fields.text_of(request, name) if query else ""


class SummaryRequest(messages.Filter):
    """A summary of `k` sentences: of a topic (`query`), of sessions, or of a time (`since`, `until`)."""

    query: str = messages.read_by(_query_of, "")
    k: int = messages.number(8, 1, 40)


class PointView(BriefView, kw_only=True):
    """A sentence of a summary.

    Attributes:
        sort: what it is: `decision`, `conclusion`, `todo`, `question`, the kind of its memory, or `other`.
        id: the memory that it stands in, whose marks it has.
        foreign: others wrote it than the user and the assistant, or it looks like instructions.
    """

    sort: str
    foreign: bool
    project: str


class SummaryAnswer(messages.Answer):
    """Sentences in the order of their time, and how many memories were read for them."""

    points: list[PointView]
    read: int


def summarize(ctx: Context, request: SummaryRequest) -> SummaryAnswer:
    """Return the sentences that say most, in the order of their time.

    Raises:
        BadInputError: neither a topic, a session, a collection nor a time is named.
    """
    asker, query = messages.asker_of(ctx, request), request.query
    if not (query or request.sessions or request.since or request.until or request.collections):
        raise BadInputError(
            "A summary of what?",
            "Name a topic, a session, a collection, or a time with since and until.",
        )
    memories = (
        _relevant_memories(ctx, query, asker)
        if query
        else _scope_memories(asker.shelves, asker.scope)
    )
    points = _best(_points(memories, analysis.query_terms(query.strip())), request.k)
    names = asker.names
    return SummaryAnswer([_view(point, names) for point in points], len(memories))


def _relevant_memories(ctx: Context, query: str, asker: messages.Asker) -> list[Memory]:
    ctx.embedding.wait(3.0)
    hits = answer(ctx, query, asker, MOST_FOUND, allowed=is_open, cold=True).hits
    threshold = ctx.settings.threshold
    return [hit.memory for hit in hits if hit.relevance >= threshold]


def _scope_memories(shelves: Sequence[Shelf], scope: Scope) -> list[Memory]:
    """Return the memories of a scope, without talk where there is anything drawn from it."""
    newest = newest_of(
        shelves, lambda journal: journal.iter_memories(scope, newest_first=True, limit=MOST_READ)
    )
    memories = [
        memory
        for memory in newest
        if is_open(memory) and (memory.collection not in QUIET or scope.collections)
    ]
    derived = [memory for memory in memories if memory.kind != PASSAGE]
    return (derived or memories)[:MOST_READ]


def _points(memories: Sequence[Memory], asked_terms: Sequence[str]) -> list[Point]:
    """Return the sentences of memories, weighed by how many of them speak of the same things."""
    sentences = [
        (sentence, frozenset(analysis.analyse(sentence)), memory)
        for memory in memories
        for sentence in (list(summaries.sentences(_words(memory))) or [str(memory.text)])
    ]
    counts = Counter(term for _, terms, _ in sentences for term in terms)
    query_terms = set(asked_terms)
    points = []
    for sentence, terms, memory in sentences:
        if not terms:
            continue
        sort = summaries.intent_of(sentence)
        if not sort and memory.kind in WEIGHTS:
            sort = memory.kind
        central = sum(counts[term] - 1 for term in terms) / len(terms)
        score = (1.0 + central + 2.0 * len(terms & query_terms)) * WEIGHTS.get(sort, 1.0)
        score *= 1.2 if memory.trust > 1 or memory.kind in (SUMMARY, DECISION) else 1.0
        points.append(Point(sentence, sort, memory, terms, score))
    return points


def _words(memory: Memory) -> str:
    """Return a memory's text; of one drawn from talk without the title that it begins with."""
    text = str(memory.text)
    if memory.kind in DERIVED and memory.title and text.startswith(memory.title):
        return text[len(memory.title) :]
    return text


def _best(points: Sequence[Point], k: int) -> list[Point]:
    """Return the best points that do not say one thing twice, in the order of time."""
    chosen: list[Point] = []
    for point in sorted(points, key=lambda point: -point.score):
        if len(chosen) >= k:
            break
        if all(len(point.terms & other.terms) < OVERLAP * len(point.terms) for other in chosen):
            chosen.append(point)
    return sorted(chosen, key=lambda point: (point.memory.created_at, point.memory.seq))


def _view(point: Point, names: ProjectNames) -> PointView:
    memory = point.memory
    return brief(
        PointView,
        memory,
        text=point.text,
        sort=point.sort or "other",
        foreign=memory.is_foreign or memory.is_suspicious,
        project=names[memory.project],
    )
