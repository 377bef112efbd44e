"""Notes for the moment: what an agent keeps beside a session by a key, for an hour."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from vector_memory import projects, redact
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import COLLECTIONS, SCRATCH, Memory, Origin
from vector_memory.service.base import privacy, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records

MAX_CHARS = 8_000
MAX_KEY_CHARS = 100
MOST = 50
"""Notes of one session at most."""
ACTIONS = ("set", "get", "list", "clear")
TTL = timedelta(seconds=COLLECTIONS[SCRATCH].ttl_s or 3_600)


def scratch(ctx: Context, request: request_fields.Request) -> dict[str, Any]:
    """Write, read, list or drop notes of a session.

    Raises:
        BadInputError: the action is unknown, a key is missing, or there are too many notes.
        NotFoundError: there is no note of that key, or its hour is over.
        UnsafeTextError: the redactor could not handle the text.
    """
    place = request_fields.place_of(ctx, request)
    if place is None:
        raise BadInputError("Notes belong to a session in a folder.", "Name a project's folder.")
    session = privacy.word(str(request.get("session") or ""))
    action = str(request.get("action") or "list")
    if action not in ACTIONS:
        raise BadInputError(f"There is no action {action!r}.", f"Actions: {', '.join(ACTIONS)}.")
    living = _living(ctx, place, session)
    if action == "list":
        return {"notes": [_told(one) for one in living.values()]}
    if action == "clear":
        return _clear(ctx, place, request, living)
    key = _key(request)
    if action == "set":
        return _set(ctx, place, session, key, request, living)
    if key not in living:
        raise NotFoundError(f"There is no note {key!r}.", "List the notes: they last an hour.")
    return {"notes": [_told(living[key])]}


def _key(request: request_fields.Request) -> str:
    return privacy.word(request_fields.text_of(request, "key", MAX_KEY_CHARS).strip())


def _living(ctx: Context, place: projects.Place, session: str) -> dict[str, Memory]:
    """Return a session's notes by their keys, the oldest first; those whose hour is over are removed."""
    found = [
        one for one in counted_records.of(ctx, place, SCRATCH) if one.source.session == session
    ]
    now = ctx.now()
    over = [one for one in found if one.expires_at is not None and one.expires_at <= now]
    counted_records.drop(ctx, ctx.shelf_of(place), over)
    return {one.title: one for one in reversed(found) if one not in over}


def _set(
    ctx: Context,
    place: projects.Place,
    session: str,
    key: str,
    request: request_fields.Request,
    living: dict[str, Memory],
) -> dict[str, Any]:
    if key not in living and len(living) >= MOST:
        raise BadInputError(f"There are {MOST} notes already.", "Clear some, or store memories.")
    text = request_fields.text_of(request, "text", MAX_CHARS)
    cleaned = redact.clean(text)
    ctx.count("redactions", cleaned.redactions)
    record = counted_records.Record(
        SCRATCH,
        f"{session}\0{key}",
        text,
        key,
        kind="note",
        session=session,
        origin=Origin.ASSISTANT,
        expires_at=ctx.now() + TTL,
    )
    kept = counted_records.keep(ctx, place, record)
    if kept is None:
        raise BadInputError("A note of this key was forgotten on purpose.", "Take another key.")
    ctx.audit("scratch", request_fields.actor_of(request), [kept.id])
    return {"notes": [_told(kept)]}


def _clear(
    ctx: Context, place: projects.Place, request: request_fields.Request, living: dict[str, Memory]
) -> dict[str, Any]:
    if request.get("key") and _key(request) not in living:
        raise NotFoundError(f"There is no note {request['key']!r}.", "List the notes.")
    gone = [living[_key(request)]] if request.get("key") else list(living.values())
    counted_records.drop(ctx, ctx.shelf_of(place), gone)
    ctx.audit("scratch", request_fields.actor_of(request), [one.id for one in gone])
    return {"notes": [], "cleared": len(gone)}


def _told(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "title": memory.title,
        "text": memory.text,
        "origin": memory.origin.value,
        "until": memory.expires_at.isoformat() if memory.expires_at else None,
    }
