"""`resume`: where work stopped in a project, and what is open there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from vector_memory.model import DERIVED, PASSAGE, TOPIC, Memory, Scope, unique
from vector_memory.service.base import request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import deferred
from vector_memory.service.find import topic_outline
from vector_memory.service.memory.lookup import name_in, project_names
from vector_memory.service.memory.views import memory_json
from vector_memory.text import harmless

DECIDED = ("decision", "preference", "conclusion", "solution", "fix")
MOST_DECIDED, MOST_OPEN, MOST_EARLIER, MOST_FILES = 5, 8, 3, 10
LOOKED_AT = 2_000
"""Of the newest memories, so many are looked at for sessions."""
SAME_CHARS = 60
END_CHARS = 600
"""What is shown of the end of the last answer."""


def resume(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Return the last session of a project: its topics, what was said last, what was decided in it, its
    files; what is open in the project; and the sessions before. `but` names a session that is no answer,
    such as the one that asks."""
    scope, place = request_fields.scope_asked(ctx, request)
    shelves = request_fields.shelves_asked(ctx, request, place)
    if place is not None:
        # What the user keeps for all projects was no work in this one.
        scope = replace(scope, projects=(place.id,))
    names = project_names(shelves)
    sessions = _sessions(shelves, scope, str(request.get("but") or ""))
    told = place.name if place is not None else ""
    answer: dict[str, Any] = {"project": told, "session": None, "decided": [], "earlier": []}
    if sessions:
        shelf, newest = sessions[0]
        answer |= _last(ctx, shelf, newest, scope, names)
        answer["earlier"] = [_line(*one, scope) for one in sessions[1 : MOST_EARLIER + 1]]
    still = [one for shelf in shelves for one in shelf.journal.open_items(scope, MOST_OPEN)]
    still.sort(key=lambda one: one.created_at, reverse=True)
    fit = [one for one in still if not one.is_held][:MOST_OPEN]
    return {**answer, "open": [memory_json(one, names) for one in fit]}


def _sessions(shelves: Sequence[Shelf], scope: Scope, but: str) -> list[tuple[Shelf, Memory]]:
    """Return a store and the newest memory of each session, the newest session first."""
    found: dict[str, tuple[Shelf, Memory]] = {}
    for shelf in shelves:
        looked = shelf.journal.iter_memories(scope, newest_first=True, limit=LOOKED_AT)
        for one in looked:
            session = one.source.session
            # Without a transcript it is an import's conversation or a note: nobody worked there.
            if session and session != but and one.source.path:
                found.setdefault(session, (shelf, one))
    return sorted(found.values(), key=lambda one: one[1].created_at, reverse=True)


def _last(
    ctx: Context, shelf: Shelf, newest: Memory, scope: Scope, names: dict[str, str]
) -> dict[str, Any]:
    session = newest.source.session
    deferred.finish(ctx, [session])
    memories = list(shelf.journal.iter_memories(replace(scope, sessions=(session,))))
    memories = [one for one in memories if not one.is_held]
    memories.sort(key=lambda one: (one.created_at, one.source.turn))
    talk = [one for one in memories if one.kind == PASSAGE]
    prompts = {one.title for one in talk}
    decided = [one for one in memories if one.kind in DECIDED and one.text not in prompts]
    last = talk[-1] if talk else newest
    topics = [one for one in memories if one.kind == TOPIC and int(one.extra.get("level", 1)) == 1]
    files = unique(path for one in reversed(memories) for path in one.files)
    return {
        "session": {
            "session": session,
            "project": name_in(names, newest.project),
            "path": newest.source.path,
            "started_at": memories[0].created_at.isoformat() if memories else None,
            "ended_at": newest.created_at.isoformat(),
            "topics": [one.title for one in topics],
            "asked": last.title,
            "answered": _end(harmless.with_old_marked(last.text)),
            "files": list(files[:MOST_FILES]),
        },
        "decided": [memory_json(one, names) for one in _distinct(reversed(decided))],
    }


def _distinct(memories: Iterable[Memory]) -> list[Memory]:
    """Return the first few memories that do not begin as one before says."""
    chosen: list[Memory] = []
    for one in memories:
        if len(chosen) < MOST_DECIDED and not any(
            one.text[:SAME_CHARS] in other.text for other in chosen
        ):
            chosen.append(one)
    return chosen


def _end(text: str) -> str:
    """Return the end of a text, from the beginning of a line or a word on."""
    if len(text) <= END_CHARS:
        return text
    end = text[-END_CHARS:]
    cut = end.find("\n") if "\n" in end[: END_CHARS // 2] else end.find(" ")
    return "… " + harmless.excerpt(text, len(text) - len(end) + cut + 1)


def _line(shelf: Shelf, newest: Memory, scope: Scope) -> dict[str, Any]:
    """Return an earlier session in a line: when, and what it was about."""
    own = replace(scope, sessions=(newest.source.session,))
    topics = topic_outline.nested(list(shelf.journal.iter_memories(replace(own, kinds=(TOPIC,)))))
    titles = [one["title"] for one in topics]
    return {
        "session": newest.source.session,
        "ended_at": newest.created_at.isoformat(),
        "topics": titles or ([newest.title] if newest.title and newest.kind not in DERIVED else []),
    }
