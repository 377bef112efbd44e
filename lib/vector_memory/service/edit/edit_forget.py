"""Change what is stored: edit and forget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.model import Memory
from vector_memory.service.base import privacy, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.messages import Asker
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import session_summary
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.companions import companions
from vector_memory.service.memory.exchange_versions import EDITED
from vector_memory.service.memory.lookup import find, lookup, project_names
from vector_memory.service.memory.views import memory_json

MAX_BY_QUERY = 20


def edit(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Change a memory's text, kind, tags or priority; its vector follows."""
    shelf, memory = lookup(ctx, request_fields.text_of(request, "id", 64))
    changes = _changes(request, memory)
    if "text" in changes:
        # Whoever writes it anew has read it: the marks belonged to the old words.
        changes["extra"] = trust_marks.unmarked(changes["extra"])
    changed = replace(memory, **changes, updated_at=ctx.now())
    stored = shelf.journal.update(changed)
    ctx.notify()
    ctx.state.audit("edit", request_fields.actor_of(request), [memory.id], {})
    return {"memory": memory_json(stored, project_names([shelf]))}


def _changes(request: request_fields.Request, memory: Memory) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if request.get("text") is not None:
        changes["text"] = redact.clean(request_fields.text_of(request, "text")).text
        changes["extra"] = {**memory.extra, EDITED: True}
    if request.get("kind"):
        changes["kind"] = privacy.word(str(request["kind"]))
    if request.get("tags") is not None:
        changes["tags"] = tuple(
            redact.clean(tag).text for tag in request_fields.words_of(request, "tags")
        )
    if request.get("priority") is not None:
        changes["priority"] = request_fields.priority_of(request)
    if not changes:
        raise BadInputError("Nothing to change.", "Give --text, --kind, --tag or --priority.")
    return changes


def forget(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Forget memories by id, query, tag or date, with what cannot be found without them and what was
    drawn from them; with `dry_run` only show which.

    Their words are gone from the journal at once, and from the index when it has followed.
    """
    chosen = with_companions(_chosen(ctx, request))
    names = project_names([shelf for shelf, _ in chosen])
    shown = [memory_json(memory, names) for _, memory in chosen]
    if request.get("dry_run"):
        return {"memories": shown, "forgotten": 0}
    shelves = list({id(shelf): shelf for shelf, _ in chosen}.values())
    for shelf in shelves:
        ids = [memory.id for own, memory in chosen if own is shelf]
        shelf.journal.forget(ids)
        ctx.state.audit("forget", request_fields.actor_of(request), ids, {})
    # Topics, summaries and archives repeat what was said.
    sessions = {memory.source.session for _, memory in chosen if memory.source.session}
    ctx.later(lambda: session_summary.forgotten(ctx, sessions))
    for shelf in shelves:
        # What the full-text index and the log still hold of the words goes when nobody waits.
        ctx.later(shelf.journal.scrub)
    ctx.drop_snapshots()
    ctx.notify()
    return {"memories": shown, "forgotten": len(chosen)}


def _chosen(ctx: Context, request: request_fields.Request) -> list[tuple[Shelf, Memory]]:
    ids = request_fields.words_of(request, "ids")
    if ids:
        return [lookup(ctx, prefix) for prefix in ids]
    scope, place = request_fields.scope_asked(ctx, request)
    shelves = request_fields.shelves_asked(ctx, request, place)
    if request.get("query"):
        text = request_fields.text_of(request, "query")
        k = request_fields.number_of(request, "k", MAX_BY_QUERY, 1, 1_000)
        ctx.embedding.wait(3.0)
        hits = find(ctx, text, Asker(place, shelves, scope), k)
        least = ctx.settings.threshold
        return [(shelves[hit.shelf], hit.memory) for hit in hits if hit.relevance >= least]
    if scope.only_projects:
        raise BadInputError("Forget what?", "Name ids, or give --query, --tag, --since or --until.")
    return [(shelf, memory) for shelf in shelves for memory in shelf.journal.iter_memories(scope)]


def with_companions(chosen: list[tuple[Shelf, Memory]]) -> list[tuple[Shelf, Memory]]:
    """Return memories with those that go with them."""
    shelves = list({id(shelf): shelf for shelf, _ in chosen}.values())
    more = [
        (shelf, one)
        for shelf in shelves
        for one in companions(shelf, [memory for own, memory in chosen if own is shelf])
    ]
    return [*chosen, *more]
