"""A transcript's lines, one JSON object each, read as the client leaves them: broken, glued
together, megabytes long, or still being written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import BinaryIO, NamedTuple

from vector_memory.system.files import open_plain
from vector_memory.system.json_in import Record, is_crowded, storable_json

LONGEST_LINE_BYTES = 6_000_000
MOST_BROKEN = 8
"""Broken pieces of one line after which the rest of it is left: a writer that was cut off leaves one,
and to look for the next in megabytes that hold thousands would take for ever."""
MOST_GLUED = 1_000
_CHUNK_BYTES = 1_000_000
_SPACE = " \t\r\n\x00"
_UNFIT = re.compile(rb"\\u(?:[dD][89a-fA-F]|0000)")
"""What may be half of a surrogate pair, or NUL."""
_DECODER = json.JSONDecoder()


class TranscriptEntry(NamedTuple):
    """One JSON object of a transcript. `line` counts from 1; `start` and `end` are the byte offsets
    of its line; `part` tells objects apart that share a line (0 for the first)."""

    line: int
    start: int
    end: int
    part: int
    data: Record

    @property
    def written_at(self) -> datetime | None:
        """When it was written, an aware UTC time; None where it does not say."""
        return parse_time(self.data.get("timestamp"))


def parse_time(raw: object) -> datetime | None:
    """Return an ISO time as an aware UTC datetime; None when it is none."""
    if not isinstance(raw, str):
        return None
    try:
        at = datetime.fromisoformat(raw.replace("Z", "+00:00"))
        return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        # In the first hours of the year 1 there is no such time in UTC.
        return None


class Lines:
    """The entries of a transcript from a line's start on. Iterate once; afterwards `offset` and
    `line` tell how far it was read, and `is_damaged` that a whole line of it is no JSON.

    Args:
        path: the transcript.
        offset: the byte offset of a line's start.
        line: how many lines lie before it.
        final: read a last line that no line break ends, too; without it, it is left for later. It
            does not count as read, since the rest of it may still come.
    """

    def __init__(self, path: str, offset: int = 0, line: int = 0, *, final: bool = False) -> None:
        self.path = path
        self.offset = offset
        self.line = line
        self.part = 0
        self.is_damaged = False
        self._final = final

    def __iter__(self) -> Iterator[TranscriptEntry]:
        with open_plain(self.path) as file:
            file.seek(self.offset)
            while True:
                raw, size, is_ended = _next_line(file)
                if not size or not (is_ended or self._final):
                    return
                start, line = self.offset, self.line + 1
                if is_ended:
                    self.offset, self.line = start + size, line
                objects = parse_objects(raw)
                self.is_damaged |= is_ended and not objects and not _is_json(raw)
                for part, data in enumerate(objects):
                    yield TranscriptEntry(line, start, start + size, part, data)
                if not is_ended:
                    return


def talk_line(role: str, content: object, timestamp: object, uuid: str = "") -> Record:
    """Return a line of talk in the form of Claude Code, of what another client wrote."""
    message = Record(role=role, content=content)
    return Record(type=role, uuid=uuid, timestamp=timestamp, message=message)


def tool_use(id: object, name: str, arguments: object) -> Record:
    """Return a call of a tool as it stands in such a line."""
    return Record(type="tool_use", id=id, name=name, input=arguments)


def tool_result(id: object, text: str, failed: bool) -> Record:
    """Return what a tool answered as it stands in such a line."""
    return Record(type="tool_result", tool_use_id=id, content=text, is_error=failed)


def read_entries(path: str, offset: int = 0, *, final: bool = False) -> Iterator[TranscriptEntry]:
    """Return the transcript's entries from a byte offset on; see `Lines`."""
    return iter(Lines(path, offset, final=final))


def _next_line(file: BinaryIO) -> tuple[bytes, int, bool]:
    """Return (bytes, size, whether a line break ends it). Overlong lines come back empty, with
    their size, without ever being held in memory."""
    raw = file.readline(LONGEST_LINE_BYTES)
    size = len(raw)
    if raw.endswith(b"\n") or size < LONGEST_LINE_BYTES:
        return raw, size, raw.endswith(b"\n")
    while True:
        raw = file.readline(_CHUNK_BYTES)
        size += len(raw)
        if not raw or raw.endswith(b"\n"):
            return b"", size, raw.endswith(b"\n")


def parse_objects(raw: bytes) -> list[Record]:
    """Return the JSON objects of a line in order: several when lines were glued together, none
    when it is broken, the whole ones before the broken one otherwise."""
    if is_crowded(raw):
        return []
    text, unfit = raw.decode("utf-8", "replace"), _UNFIT.search(raw)
    objects: list[Record] = []
    position, broken_count = _skip_space(text, 0), 0
    while position < len(text) and broken_count < MOST_BROKEN and len(objects) < MOST_GLUED:
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            position, broken_count = _next_object(text, position), broken_count + 1
            continue
        if isinstance(value, dict):
            objects.append(Record(storable_json(value) if unfit else value))
        position = _skip_space(text, position)
    return objects


def _is_json(raw: bytes) -> bool:
    """Whether a line without objects is blank, or is JSON of another sort; so counts what is left unread for its length."""
    if not raw.strip() or is_crowded(raw):
        return True
    try:
        _DECODER.decode(raw.decode("utf-8-sig", "replace"))
    except ValueError:
        return False
    except RecursionError:
        # It is nested too deep to be read.
        pass
    return True


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _next_object(text: str, position: int) -> int:
    """Return where another entry starts after a broken one on the same line."""
    starts = [text.find(mark, position + 1) for mark in ('}{"', '{"parentUuid":', '{"type":')]
    places = [
        start for start in (starts[0] + 1 if starts[0] >= 0 else -1, *starts[1:]) if start >= 0
    ]
    return min(places, default=len(text))
