"""`feed`: talk that other programs hand over, message by message. It is written down as a transcript, without
secrets, and goes the way of all transcripts from there: what is acknowledged is on the disk."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from vector_memory import redact
from vector_memory.client.spool import write_spool
from vector_memory.errors import BadInputError
from vector_memory.model import digest_of
from vector_memory.service.base import messages, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.request_fields import require_text
from vector_memory.system import json_in, private
from vector_memory.system.durable_files import sync_descriptor, sync_file

ROLES = ("user", "assistant", "system", "tool")
KEPT_ROLES = ("user", "assistant")
"""Instructions and what tools print are no talk: they are acknowledged, and not kept."""
MOST_MESSAGES, MOST_CHARS, ID_CHARS = 200, 200_000, 200
SILENT_S = 2 * 86_400.0
"""How long nothing may come of a session until it counts as over."""
_LINE_START = '{"uuid": "'
_UUID_CHARS = 32
_writing = threading.Lock()


@dataclass(frozen=True)
class FedMessage:
    """One message: its id at the program that hands it over, who said it, and when (None for now)."""

    id: str
    role: str
    text: str
    at: datetime | None


def _messages_of(request: request_fields.Sent, name: str) -> tuple[FedMessage, ...]:
    items = request.get(name) or []
    if not isinstance(items, list) or len(items) > MOST_MESSAGES:
        raise BadInputError(
            f"{name} must be a list of at most {MOST_MESSAGES} messages.", "Split it."
        )
    return tuple(_message(item) for item in items)


def _message(item: object) -> FedMessage:
    if not isinstance(item, dict) or item.get("role") not in ROLES:
        raise BadInputError(
            "A message has an id, a role and a text.", f"Roles: {', '.join(ROLES)}."
        )
    text = item.get("text")
    if not isinstance(text, str) or len(text) > MOST_CHARS:
        raise BadInputError(
            f"text must be a text of at most {MOST_CHARS:,} characters.", "Split it."
        )
    id = require_text(item.get("id"), "id", ID_CHARS)
    return FedMessage(
        id, item["role"], json_in.storable_json(text), request_fields.time_of(item, "at")
    )


class FeedRequest(messages.Request):
    """Messages of a session of another program.

    Attributes:
        session: the program's name of the session.
        client: the program's own name.
        heard: what was said, in order; each counts once, by its id.
        final: the session is over.
        speaks_for_me: what has the role `user` counts as the user's words, unless an agent asks.
    """

    session: str = messages.text(200)
    client: str = messages.word(default="feed")
    heard: tuple[FedMessage, ...] = messages.read_by(_messages_of, (), "messages")
    final: bool = messages.flag()
    speaks_for_me: bool = messages.flag()


class FeedAnswer(messages.Answer):
    """What was done: messages that are safe now, how many of them wait to be read, how many were known
    already; and the name by which memories call the session."""

    accepted: int
    queued: int
    duplicates: int
    session: str


def feed(ctx: Context, request: FeedRequest) -> FeedAnswer:
    """Take messages over. When this returns they survive whatever happens; they are read soon after.

    Raises:
        BadInputError: the user wants no memory there, or it is not said which folder it is about.
        UnsafeTextError: the redactor could not handle a text.
    """
    place = messages.place_of(ctx, request)
    if place is None:
        raise BadInputError("Which project is it about?", "Name its folder as `project`.")
    if not ctx.settings.capture or ctx.is_excluded(place, place.root):
        raise BadInputError(
            "The user wants no sessions indexed there.", "See `capture` and `excluded_projects`."
        )
    session = json_in.session_id(f"{request.client[:40]}:{request.session}")
    path = os.path.join(ctx.home.feeds, _digest(place.id, session) + ".jsonl")
    with _writing:
        known_ids = set(_message_ids(path))
        new_messages: dict[str, FedMessage] = {}
        for message in request.heard:
            uuid = _digest(session, message.id)
            if message.role in KEPT_ROLES and uuid not in known_ids:
                new_messages.setdefault(uuid, message)
        lines = [_line(ctx, request, session, place.root, *pair) for pair in new_messages.items()]
        ctx.reserve.spare(lambda: _append(path, "".join(lines)))
        event: dict[str, object] = {"session_id": session, "transcript_path": path}
        kind = "SessionEnd" if request.final else "Stop"
        spooled = ctx.reserve.spare(lambda: write_spool(ctx.home, kind, event, place.root))
    ctx.spooled(spooled)
    duplicates = sum(message.role in KEPT_ROLES for message in request.heard) - len(new_messages)
    counts = {"accepted": len(request.heard) - duplicates, "duplicates": duplicates}
    ctx.audit("feed", request.actor, [], **counts)
    return FeedAnswer(counts["accepted"], len(new_messages), duplicates, session)


def size_of(ctx: Context, transcript: str) -> int:
    """Return how many bytes of a session that was handed over wait in its file; -1 for other transcripts."""
    if os.path.dirname(transcript) != os.path.realpath(ctx.home.feeds):
        return -1
    with suppress(OSError):
        return os.path.getsize(transcript)
    return -1


def remove_read(transcript: str, size: int) -> None:
    """Remove a session's file of which all is stored, unless more was said since: then it was longer than
    `size` bytes when that was looked at."""
    with _writing, suppress(FileNotFoundError):
        if os.path.getsize(transcript) == size:
            os.unlink(transcript)


def end_silent(ctx: Context) -> None:
    """Have sessions count as over whose program has said nothing for long."""
    for name in os.listdir(ctx.home.feeds) if os.path.isdir(ctx.home.feeds) else ():
        path = os.path.join(ctx.home.feeds, name)
        with suppress(OSError):
            if time.time() - os.stat(path).st_mtime > SILENT_S:
                session, cwd = _read_head(path)
                event: dict[str, object] = {"session_id": session, "transcript_path": path}
                ctx.spooled(write_spool(ctx.home, "SessionEnd", event, cwd))


def _read_head(path: str) -> tuple[str, str]:
    with open(path, encoding="utf-8") as file, suppress(ValueError):
        record = json_in.Record(json.loads(file.readline()))
        return record.text("sessionId"), record.text("cwd")
    return "", ""


def _digest(*parts: str) -> str:
    return digest_of(*parts, size=_UUID_CHARS // 2)


def _message_ids(path: str) -> Iterator[str]:
    """Yield the names of the messages that a file holds."""
    with suppress(FileNotFoundError), open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith(_LINE_START) and line.endswith("\n"):
                yield line[len(_LINE_START) : len(_LINE_START) + _UUID_CHARS]


def _line(
    ctx: Context, request: FeedRequest, session: str, folder: str, uuid: str, message: FedMessage
) -> str:
    """Return a message as a line of a transcript, without secrets. What a program says in the user's name
    binds nobody, like all that programs write, unless the user has let it speak for him."""
    cleaned = redact.clean(message.text)
    ctx.count("redactions", cleaned.redactions)
    speaks_for_user = request.speaks_for_me and not request.is_agent
    content: object = cleaned.text
    if message.role == "assistant":
        content = [{"type": "text", "text": cleaned.text}]
    line: dict[str, object] = {
        "uuid": uuid,
        "type": message.role,
        "sessionId": session,
        "cwd": folder,
        "timestamp": (message.at or ctx.now()).isoformat(),
        "message": {"role": message.role, "content": content},
    }
    if not speaks_for_user:
        line["origin"] = {"kind": "program"}
    return json.dumps(line) + "\n"


def _append(path: str, lines: str) -> None:
    """Add lines to a file, durably. A line that an earlier process did not finish was never acknowledged: it is
    cut off.

    Raises:
        OSError: they cannot be written; none of them is there then.
    """
    folder = os.path.dirname(path)
    private.make_folder(folder)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "r+b") as file:
        end = file.read().rfind(b"\n") + 1
        try:
            file.truncate(end)
            file.seek(end)
            file.write(lines.encode("ascii"))
            file.flush()
            sync_descriptor(file.fileno())
        except BaseException:
            with suppress(OSError):
                os.truncate(path, end)
            raise
    sync_file(folder)
