"""Notes for the moment: what an agent keeps beside a session by a key, for an hour."""

from __future__ import annotations

from datetime import datetime, timedelta

from vector_memory import redact
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import COLLECTIONS, SCRATCH, Memory, Origin
from vector_memory.service.base import messages, privacy, request_fields
from vector_memory.service.base.asker import ProjectAsker, asker_in
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records

MAX_CHARS = 8_000
MAX_KEY_CHARS = 100
MOST = 50
"""Notes of one session at most."""
ACTIONS = ("set", "get", "list", "clear")
TTL_MINUTES = (COLLECTIONS[SCRATCH].ttl_s or 3_600) // 60


class ScratchRequest(messages.Request):
    """Something is to be done with the notes of a session.

    Attributes:
        action: one of `ACTIONS`.
        key: by what a note is set, read, or dropped alone.
        text: what a note is to say.
        ttl_minutes: how long a note that is set is kept.
    """

    session: str = messages.word()
    action: str = messages.one_of(ACTIONS, "list")
    key: str = messages.maybe_text(MAX_KEY_CHARS)
    text: str = messages.maybe_text(MAX_CHARS)
    ttl_minutes: int = messages.number(TTL_MINUTES, 1, 24 * 60)


class ScratchView(messages.Answer):
    """A note, its key as `title`, and until when it is kept."""

    id: str
    title: str
    text: str
    origin: str
    until: datetime | None


class ScratchAnswer(messages.Answer):
    """Notes, the oldest first, and how many were dropped where that was asked for."""

    notes: list[ScratchView]
    cleared: int | None = messages.spare()


def scratch(ctx: Context, request: ScratchRequest) -> ScratchAnswer:
    """Write, read, list or drop notes of a session.

    Raises:
        BadInputError: the action is unknown, a key is missing, or there are too many notes.
        NotFoundError: there is no note of that key, or its hour is over.
        UnsafeTextError: the redactor could not handle the text.

    Returns:
        The notes that were asked for, or what became of one.
    """
    place = messages.place_of(ctx, request)
    if place is None:
        raise BadInputError("Notes belong to a session in a folder.", "Name a project's folder.")
    asker = asker_in(ctx, place)
    session, action = privacy.word(request.session), request.action
    live_notes = _live_notes(ctx, asker, session)
    if action == "list":
        return ScratchAnswer([_note_view(memory) for memory in live_notes.values()])
    if action == "clear":
        return _clear(ctx, asker, request, live_notes)
    key = _key(request)
    if action == "set":
        return _set_note(ctx, asker, session, request, live_notes)
    if key not in live_notes:
        raise NotFoundError(
            f"There is no note {key!r}.",
            "List the notes: they last an hour, or as long as was asked for.",
        )
    return ScratchAnswer([_note_view(live_notes[key])])


def _key(request: ScratchRequest) -> str:
    """Return the key of a note as it is stored.

    Raises:
        BadInputError: there is none.
    """
    return privacy.word(request_fields.require_text(request.key, "key").strip())


def _live_notes(ctx: Context, asker: ProjectAsker, session: str) -> dict[str, Memory]:
    """Return a session's notes by their keys, the oldest first; those whose hour is over are removed."""
    notes = [
        memory
        for memory in counted_records.counted_records_of(asker, SCRATCH)
        if memory.source.session == session
    ]
    now = ctx.now()
    expired = [note for note in notes if note.expires_at is not None and note.expires_at <= now]
    counted_records.drop(ctx, asker.own_shelf, expired)
    return {note.title: note for note in reversed(notes) if note not in expired}


def _set_note(
    ctx: Context,
    asker: ProjectAsker,
    session: str,
    request: ScratchRequest,
    live_notes: dict[str, Memory],
) -> ScratchAnswer:
    """Write a note.

    Args:
        session: the session's name, without secrets.
        live_notes: its notes by their keys.
    """
    key = _key(request)
    if key not in live_notes and len(live_notes) >= MOST:
        raise BadInputError(f"There are {MOST} notes already.", "Clear some, or store memories.")
    text = request_fields.require_text(request.text, "text")
    ctx.count("redactions", redact.clean(text).redactions)
    record = counted_records.CountedRecord(
        SCRATCH,
        f"{session}\0{key}",
        text,
        key,
        kind="note",
        session=session,
        origin=Origin.ASSISTANT,
        expires_at=ctx.now() + timedelta(minutes=request.ttl_minutes),
    )
    note = counted_records.keep(ctx, asker, record)
    if note is None:
        raise BadInputError("A note of this key was forgotten on purpose.", "Take another key.")
    ctx.audit("scratch", request.actor, [note.id])
    return ScratchAnswer([_note_view(note)])


def _clear(
    ctx: Context, asker: ProjectAsker, request: ScratchRequest, live_notes: dict[str, Memory]
) -> ScratchAnswer:
    """Drop the note of the key, all of the session without one."""
    if request.key and _key(request) not in live_notes:
        raise NotFoundError(f"There is no note {request.key!r}.", "List the notes.")
    dropped = [live_notes[_key(request)]] if request.key else list(live_notes.values())
    counted_records.drop(ctx, asker.own_shelf, dropped)
    ctx.audit("scratch", request.actor, [memory.id for memory in dropped])
    return ScratchAnswer([], len(dropped))


def _note_view(memory: Memory) -> ScratchView:
    origin = memory.origin.value
    return ScratchView(memory.id, memory.title, memory.text, origin, memory.expires_at)
