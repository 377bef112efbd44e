"""The process that reads transcripts for the daemon: parsing and redacting many of them would hold the
interpreter's lock that prompts wait for.

Frames in: `{"path", "cursor", "final", "last_message"}`. Frames out, for each: any number of
`{"drafts": […]}`, then `{"read": {…}}` or `{"error": "…"}`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import IO, Any

from vector_memory import config
from vector_memory.errors import BadInputError
from vector_memory.index.cursor import Cursor
from vector_memory.index.memories import Draft
from vector_memory.index.reader import TurnRead
from vector_memory.model import CleanText
from vector_memory.redact import policy
from vector_memory.service.capture.read_session import ReadRequest, read
from vector_memory.system import children
from vector_memory.system.children import read_frame, write_frame
from vector_memory.system.paths import Home

FRAME_DRAFTS = 32
"""Few at once: the daemon parses a frame without letting go of the interpreter's lock."""
READ_S = 30.0
READ_S_PER_MB = 10.0


def main() -> None:
    """Answer frames until stdin ends."""
    incoming, outgoing = children.begin()
    path = Home().config
    try:
        settings = config.load(path)
    except BadInputError:
        settings = config.salvaged(path)
    policy.configure(settings.redact_personal)
    try:
        while (frame := read_frame(incoming)) is not None:
            request = request_from(frame)
            children.allow(reading_s(request))
            _answer(outgoing, request)
            children.allow(0)
    except BrokenPipeError:
        pass


def reading_s(request: ReadRequest) -> float:
    """Return the seconds of processor time that a reading may take: some ten times what it takes as a
    rule."""
    try:
        size = os.path.getsize(request.path) - request.cursor.offset
    except OSError:
        size = 0
    return READ_S + max(0, size) / 1e6 * READ_S_PER_MB


def _answer(answers: IO[bytes], request: ReadRequest) -> None:
    try:
        reading = read(request)
    except OSError as error:
        write_frame(answers, json.dumps({"error": str(error)}).encode())
        return
    for frame in frames_of(reading):
        write_frame(answers, frame)


def request_frame(request: ReadRequest) -> bytes:
    """Return the frame that asks for a reading."""
    return json.dumps({**vars(request), "cursor": request.cursor.to_dict()}).encode()


def request_from(frame: bytes) -> ReadRequest:
    """Return the request that `request_frame` was made of."""
    fields = json.loads(frame)
    lists = {name: tuple(fields[name]) for name in ("configurations", "folders")}
    cursor = Cursor.from_dict(fields["cursor"])
    return ReadRequest(**{**fields, **lists, "cursor": cursor})


def frames_of(reading: TurnRead) -> Iterator[bytes]:
    """Yield a reading as frames, the drafts first."""
    for start in range(0, len(reading.drafts), FRAME_DRAFTS):
        drafts = [vars(draft) for draft in reading.drafts[start : start + FRAME_DRAFTS]]
        yield json.dumps({"drafts": drafts}, default=datetime.isoformat).encode()
    fields = {**vars(reading), "cursor": reading.cursor.to_dict(), "drafts": [], "exchanges": None}
    yield json.dumps({"read": fields}).encode()


def take_frame(frame: bytes, drafts: list[Draft]) -> TurnRead | OSError | None:
    """Take the drafts of a frame; of the last frame return the reading with all of them, or why there is none."""
    message = json.loads(frame)
    if "error" in message:
        return OSError(message["error"])
    if "read" in message:
        fields = message["read"]
        return TurnRead(
            **{**fields, "cursor": Cursor.from_dict(fields["cursor"]), "drafts": drafts}
        )
    drafts += [_draft_of(values) for values in message["drafts"]]
    return None


def _draft_of(values: Mapping[str, Any]) -> Draft:
    """Return the draft of a frame. The process that sent it has redacted it."""
    created_at = datetime.fromisoformat(values["created_at"])
    words = {name: CleanText(values[name]) for name in ("text", "title")}
    lists = {name: tuple(map(CleanText, values[name])) for name in ("tags", "files")}
    return Draft(**{**values, "created_at": created_at, **words, **lists})
