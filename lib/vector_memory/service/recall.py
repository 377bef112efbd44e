"""Recall that is asked for: `recall`, `list`, `get`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from vector_memory import projects
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.harmless import with_old_marked
from vector_memory.model import DERIVED, Memory, Scope
from vector_memory.retrieve import rerank
from vector_memory.retrieve.echoes import without_echoes
from vector_memory.retrieve.search import Hit, search
from vector_memory.retrieve.topics import topics
from vector_memory.service import asked, generation, standing
from vector_memory.service.context import Context
from vector_memory.service.history import history_of
from vector_memory.service.merging import sources_of
from vector_memory.service.passages import in_context
from vector_memory.service.questions import embedding_of, query_of
from vector_memory.service.shelf import Shelf

MAX_K = 1_000
MAX_AROUND = 10
MODEL_WAIT_S = 3.0
MOST_ECHOES = 8
"""How many topics and summaries may stand before a hit whose part they are."""


def recall(ctx: Context, request: asked.Request) -> dict[str, Any]:
    """Answer a question with hits, best first.

    Waits for a model that is still loading: whoever asks on purpose wants the whole answer.
    """
    text = asked.text_of(request, "query")
    k = asked.number_of(request, "k", 10, 1, MAX_K)
    around = asked.number_of(request, "context", 0, 0, MAX_AROUND)
    scope, place = asked.scope_asked(ctx, request)
    shelves = asked.shelves_asked(ctx, request, place)
    ctx.embedding.wait(MODEL_WAIT_S)
    wanted = max(k, rerank.MOST) if ctx.settings.rerank else k
    allowed = is_open if asked.is_agent(request) else None
    hits = find(ctx, text, scope, shelves, wanted + MOST_ECHOES, place, True, allowed)
    hits = (hits if set(scope.kinds) & set(DERIVED) else without_echoes(hits))[:wanted]
    if ctx.settings.rerank:
        hits = generation.reordered(ctx, text, hits)[:k]
    touch(ctx, shelves, hits)
    ctx.noted("recall", asked.actor_of(request), [hit.memory.id for hit in hits])
    if request.get("for_session"):
        # It stands in the session from now on: no hook says it again.
        given = [hit.memory.id for hit in hits]
        ctx.state.add_shown(str(request["for_session"]), given, ctx.now())
    names = project_names(shelves)
    answer: dict[str, Any] = {
        "hits": [hit_json(hit, names) for hit in hits],
        "mode": "full" if all(_by_meaning(shelf) for shelf in shelves) else "lexical",
    }
    for hit, shown in zip(hits, answer["hits"], strict=True):
        shelf = shelves[hit.shelf]
        shown["text"] = with_old_marked(in_context(shelf, hit.memory))
        if around:
            shown |= surroundings(shelf, hit.memory, around)
        if request.get("history") and (told := history_of(shelf, hit.memory))["summary"]:
            shown["history"] = told
    if request.get("by_topic"):
        answer["topics"] = [
            {"topic": topic.name, "ids": [hits[place].memory.id for place in topic.places]}
            for topic in topics(hits)
        ]
    return answer


def surroundings(shelf: Shelf, memory: Memory, count: int) -> dict[str, Any]:
    """Return the texts said right before and after a memory in its session, in their order."""
    sides: dict[str, Any] = {}
    for place, name in enumerate(("before", "after")):
        texts: list[str] = []
        seq = memory.seq
        while len(texts) < count and (near := shelf.journal.neighbours(seq)[place]) is not None:
            texts.append(str(near.text))
            seq = near.seq
        sides[name] = texts[::-1] if name == "before" else texts
    return sides


def _by_meaning(shelf: Shelf) -> bool:
    """Whether a store answers by meaning too, and not by words alone."""
    return shelf.index is not None and shelf.index.vectors_ready


def find(
    ctx: Context,
    text: str,
    scope: Scope,
    shelves: Sequence[Shelf],
    k: int,
    place: projects.Place | None = None,
    widen: bool = False,
    allowed: Callable[[Memory], bool] | None = None,
) -> list[Hit]:
    """Return at most k hits of some stores for a text, best first.

    Args:
        widen: let the language model help, where the settings have one.
        allowed: which memories may come; all of them by default.
    """
    query = query_of(ctx, text, scope, shelves, place)
    embed = generation.widening(ctx) if widen and ctx.settings.hyde else embedding_of(ctx)
    count = max(ctx.settings.candidates, 2 * k)
    return search(
        query,
        shelves,
        k,
        ctx.now(),
        candidates=count,
        scoring=ctx.settings.scoring,
        embed=embed,
        allowed=allowed,
    )


def is_open(memory: Memory) -> bool:
    """Whether a memory may be put before the model: it is not held back."""
    return not memory.is_held


def touch(ctx: Context, shelves: Sequence[Shelf], hits: Sequence[Hit]) -> None:
    """Count the use of what was found."""
    for number, shelf in enumerate(shelves):
        ids = [hit.memory.id for hit in hits if hit.shelf == number]
        if ids:
            ctx.uses.add(shelf, ids, ctx.now())
    if ctx.uses.due:
        ctx.later(ctx.uses.write)


def list_memories(ctx: Context, request: asked.Request) -> dict[str, Any]:
    """Return memories newest first, with how many there are in all."""
    k = asked.number_of(request, "k", 20, 1, 100_000)
    offset = asked.number_of(request, "offset", 0, 0, 100_000_000)
    scope, place = asked.scope_asked(ctx, request)
    scope = asked.listed(scope)
    shelves = asked.shelves_asked(ctx, request, place)
    newest: list[Memory] = []
    for shelf in shelves:
        newest.extend(shelf.journal.iter_memories(scope, newest_first=True, limit=offset + k))
    newest.sort(key=lambda memory: memory.created_at, reverse=True)
    names = project_names(shelves)
    left_out = ctx.unopened(place) if place or request.get("all_projects") else {}
    return {
        "memories": [memory_json(memory, names) for memory in newest[offset : offset + k]],
        "total": sum(shelf.journal.count(scope) for shelf in shelves),
        "unopened": {at: str(error) for at, error in left_out.items()},
    }


def get(ctx: Context, request: asked.Request) -> dict[str, Any]:
    """Return one memory by its id or the beginning of it."""
    shelf, memory = lookup(ctx, asked.text_of(request, "id", 64))
    return {"memory": memory_json(memory, project_names([shelf]))}


def entities(ctx: Context, request: asked.Request) -> dict[str, Any]:
    """Return what memories are about by name, the commonest first."""
    k = asked.number_of(request, "k", 50, 1, 10_000)
    scope, place = asked.scope_asked(ctx, request)
    counts: dict[str, int] = {}
    for shelf in asked.shelves_asked(ctx, request, place):
        for name, n in shelf.journal.count_entities(scope, k).items():
            counts[name] = counts.get(name, 0) + n
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:k]
    return {
        "entities": [
            {"kind": kind, "name": name, "memories": n}
            for (kind, _, name), n in ((entity.partition(":"), n) for entity, n in ordered)
        ]
    }


def history(ctx: Context, request: asked.Request) -> dict[str, Any]:
    """Return the chain of memories that gave way to one another, oldest first, by one of them."""
    return history_of(*lookup(ctx, asked.text_of(request, "id", 64)))


def lookup(ctx: Context, prefix: str) -> tuple[Shelf, Memory]:
    """Return the memory whose id begins so, and its store.

    Raises:
        NotFoundError: there is none.
        BadInputError: there are several.
    """
    found = [
        (shelf, memory) for shelf in ctx.all_shelves() for memory in shelf.journal.find(prefix)
    ]
    if not found:
        raise NotFoundError(f"There is no memory {prefix!r}.", "`vector-memory list` shows ids.")
    if len(found) > 1:
        raise BadInputError(f"Several ids begin with {prefix!r}.", "Give more of it.")
    return found[0]


def project_names(shelves: Sequence[Shelf]) -> dict[str, str]:
    """Return the projects' names by their ids."""
    return {one.id: one.name for shelf in shelves for one in shelf.journal.projects()}


def name_in(names: dict[str, str], project: str) -> str:
    """Return a project's name, or what its id says of it; "" for the global one."""
    return names.get(project) or project.rpartition("-")[0] or project


def hit_json(hit: Hit, names: dict[str, str]) -> dict[str, Any]:
    """Return a hit as programs see it."""
    told = {
        **memory_json(hit.memory, names),
        "score": round(hit.score, 4),
        "breakdown": hit.breakdown,
    }
    if hit.against:
        told["contradicts"] = [
            {"id": one.id, "created_at": one.created_at.isoformat()} for one in hit.against
        ]
    return told


def memory_json(memory: Memory, names: dict[str, str]) -> dict[str, Any]:
    """Return a memory as programs see it."""
    return {
        "id": memory.id,
        "text": with_old_marked(memory.text),
        "title": memory.title,
        "kind": memory.kind,
        "created_at": memory.created_at.isoformat(),
        "project": name_in(names, memory.project),
        "project_id": memory.project,
        "source": asdict(memory.source),
        **({"sources": merged} if (merged := sources_of(memory)) else {}),
        "external_id": memory.external_id or None,
        "tags": list(memory.tags),
        "files": list(memory.files),
        "entities": list(memory.entities),
        "priority": memory.priority.value,
        "confidence": memory.confidence,
        "origin": memory.origin.value,
        **standing.warning(memory),
        "collection": memory.collection,
        "status": memory.status.value,
        "uses": memory.uses,
    }
