"""Memories as rows and back. Times are integer microseconds since 1970 (UTC), lists and `extra`
are JSON text ("" when empty), and each row carries a checksum of its content."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from hashlib import blake2b
from typing import Any

from vector_memory.errors import BadInputError, StoreDamagedError
from vector_memory.journal import schema
from vector_memory.model import (
    OPEN_KINDS,
    CleanText,
    Memory,
    Origin,
    Priority,
    Sensitivity,
    Source,
    Status,
    Temporal,
    Tier,
)

Row = tuple[Any, ...]

NUMBERS = (
    "seq", "created_at", "confidence", "valid_from", "valid_until", "expires_at", "stored_at",
    "updated_at", "turn", "line_start", "line_end",
)  # fmt: skip
WORDS = (
    "id", "project", "status", "kind", "collection", "priority", "origin", "temporal",
    "sensitivity", "jurisdiction", "superseded_by", "external_id", "speaker", "tags", "files",
    "extra", "title", "text",
)  # fmt: skip
SOURCE = ("session", "path")
"""Together these are what the checksum covers: everything but the model and the tier, which change in place."""
ALL = (*NUMBERS, *WORDS, "source", "open", "model", "hash", "checksum", "lexical")

_COLUMNS = [*(f"m.{name}" for name in NUMBERS + WORDS), *(f"s.{name}" for name in SOURCE)]
_FROM = " FROM memories m JOIN sources s ON s.id = m.source LEFT JOIN usage u ON u.seq = m.seq"
SELECT_MEMORY = f"SELECT {', '.join(_COLUMNS)}, m.checksum, m.model, u.uses, u.last_used_at,"
SELECT_MEMORY += f" m.tier, u.applied, u.applied_at{_FROM}"
SELECT = SELECT_MEMORY.replace(_FROM, ", m.lexical, m.hash" + _FROM)
"""What the journal reads: the columns of `SELECT_MEMORY`, then the analysed text and the hash."""
INSERT = (
    f"INTO memories({', '.join(ALL)}) VALUES ({', '.join('?' * len(ALL))})"  # after INSERT [OR …]
)
UPDATE = f"UPDATE memories SET {', '.join(f'{name} = ?' for name in ALL)} WHERE id = ?"

_WORDS_FROM = len(NUMBERS)
_SIZE = len(_COLUMNS)
AT_ID, AT_STATUS, AT_TITLE, AT_TEXT = (
    _COLUMNS.index(f"m.{name}") for name in ("id", "status", "title", "text")
)
AT_MODEL, AT_LEXICAL, AT_HASH = _SIZE + 1, _SIZE + 7, _SIZE + 8

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
DAY_US = 86_400_000_000
_STATUS = {str(status): status for status in Status}
_PRIORITY = {str(priority): priority for priority in Priority}
_ORIGIN = {str(origin): origin for origin in Origin}
_TIER = {str(tier): tier for tier in Tier}
_TEMPORAL = {str(temporal): temporal for temporal in Temporal}
_SENSITIVITY = {str(sensitivity): sensitivity for sensitivity in Sensitivity}


def text_hash(text: str) -> bytes:
    """Return the 16 bytes by which a text is known to the vector cache."""
    # A lone surrogate is no reason to fail: what comes from a transcript may hold one.
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def hash_fits(row: Row) -> bool:
    """Whether a row of `SELECT` has the hash of its text, or of its title and text."""
    text = row[AT_TEXT]
    return row[AT_HASH] in (text_hash(text), text_hash(f"{row[AT_TITLE]}\n{text}"))


def microseconds(at: datetime) -> int:
    """Return an aware time as microseconds since 1970 (UTC)."""
    return (at - _EPOCH) // _MICROSECOND


def utc_now() -> datetime:
    """Return the time, aware, in UTC."""
    return datetime.now(timezone.utc)


def moment(at_us: int) -> datetime:
    """Return the aware UTC time of microseconds since 1970."""
    return _EPOCH + timedelta(microseconds=at_us)


def checksum(numbers: Row, words: Row) -> bytes:
    """Return the 8-byte checksum of a row's content.

    Args:
        numbers: the values of `NUMBERS`.
        words: the values of `WORDS`, then of `SOURCE`.
    """
    content = "\x1f".join(words) + repr(numbers)
    return blake2b(content.encode(), digest_size=8).digest()


def is_sound(row: Row) -> bool:
    """Whether a row of `SELECT` still has the content that was written."""
    try:
        computed = checksum(row[:_WORDS_FROM], row[_WORDS_FROM:_SIZE])
    except TypeError:
        # A damaged column may come back as another type.
        return False
    return bool(computed == row[_SIZE])


def to_row(memory: Memory, source_id: int, model_id: int) -> Row:
    """Return the values of `ALL` for a memory whose `seq` and `stored_at` are set.

    Raises:
        TypeError: its text or title did not go through the redactor.
        BadInputError: a value has no form in the journal.
    """
    _require_clean(memory)
    try:
        numbers, words = _numbers(memory), _words(memory)
        digest = checksum(numbers, (*words, memory.source.session, memory.source.path))
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInputError(
            f"Memory {memory.id!r} cannot be stored: {error}.",
            "Times must be aware datetimes, words strings and `extra` plain JSON.",
        ) from error
    forgotten = memory.status is Status.FORGOTTEN
    # A tombstone has no text, and must not be found by the hash of one.
    hash = b"" if forgotten else text_hash(memory.embedded)
    is_open = int(_is_open(memory))
    return (*numbers, *words, source_id, is_open, model_id, hash, digest, analysed(memory))


def analysed(memory: Memory) -> str:
    """Return the terms of a memory between single spaces, as the lexical indexes hold them."""
    return schema.analysed(memory.title, memory.text, memory.files, memory.tags)


def to_memory(row: Row, models: dict[int, str]) -> Memory:
    """Return the memory of a row of `SELECT`.

    The fields are set directly: going through the frozen classes' constructors takes three times
    as long, and recall reads hundreds of rows for each prompt.

    Args:
        row: its columns; what comes after the model's and the usage's is not read.
        models: the models' names by their numbers.

    Returns:
        The memory, its times aware UTC. Its checksum is not looked at: `is_sound` does that.

    Raises:
        StoreDamagedError: a value is none of those that this version knows.
    """
    (
        seq, created_at, confidence, valid_from, valid_until, expires_at, stored_at, updated_at,
        turn, line_start, line_end, id, project, status, kind, collection, priority, origin,
        temporal, sensitivity, jurisdiction, superseded_by, external_id, speaker, tags, files,
        extra, title, text, session, path, _, model, uses, last_used_at, tier,
        applied, applied_at,
    ) = row[:AT_LEXICAL]  # fmt: skip
    source = Source.__new__(Source)
    source.__dict__.update(
        session=session, path=path, line_start=line_start, line_end=line_end, turn=turn,
        speaker=speaker,
    )  # fmt: skip
    memory = Memory.__new__(Memory)
    try:
        memory.__dict__.update(
            id=id, text=CleanText(text), created_at=moment(created_at), kind=kind,
            title=CleanText(title) if title else "", collection=collection, project=project,
            priority=_PRIORITY[priority], confidence=confidence, origin=_ORIGIN[origin],
            temporal=_TEMPORAL[temporal], sensitivity=_SENSITIVITY[sensitivity],
            jurisdiction=jurisdiction,
            tags=tuple(json.loads(tags)) if tags else (),
            files=tuple(json.loads(files)) if files else (),
            source=source, external_id=external_id,
            valid_from=None if valid_from is None else moment(valid_from),
            valid_until=None if valid_until is None else moment(valid_until),
            expires_at=None if expires_at is None else moment(expires_at),
            status=_STATUS[status], superseded_by=superseded_by, model=models[model],
            extra=json.loads(extra) if extra else {},
            seq=seq, stored_at=moment(stored_at),
            updated_at=None if updated_at is None else moment(updated_at),
            uses=uses or 0,
            last_used_at=None if last_used_at is None else moment(last_used_at),
            # It stands beside the checksum: a word that none knows is no reason to lose the memory.
            tier=_TIER.get(tier, Tier.WARM), applied=applied or 0,
            applied_at=moment(applied_at) if applied_at else None,
        )  # fmt: skip
    except (KeyError, ValueError) as error:
        raise StoreDamagedError(
            f"Memory {id!r} holds an unknown value: {error}.", "Run `vector-memory check`."
        ) from error
    return memory


def _numbers(memory: Memory) -> Row:
    """Return the values of `NUMBERS`. Types are forced, so that the checksum of what SQLite gives
    back is the checksum of what it was given."""
    source = memory.source
    return (
        memory.seq, _readable_us(memory.created_at), float(memory.confidence),
        _optional_us(memory.valid_from), _optional_us(memory.valid_until), _optional_us(memory.expires_at),
        _optional_us(memory.stored_at), _optional_us(memory.updated_at), int(source.turn),
        int(source.line_start), int(source.line_end),
    )  # fmt: skip


def _words(memory: Memory) -> Row:
    """Return the values of `WORDS`."""
    return (
        memory.id, memory.project, str(memory.status), memory.kind, memory.collection,
        str(memory.priority), str(memory.origin), str(memory.temporal), str(memory.sensitivity),
        memory.jurisdiction, memory.superseded_by, memory.external_id, memory.source.speaker,
        _json(list(memory.tags)), _json(list(memory.files)), _json(memory.extra),
        str(memory.title), str(memory.text),
    )  # fmt: skip


# The last gate: whatever the callers do, no other text gets into the file.
def _require_clean(memory: Memory) -> None:
    if not isinstance(memory.text, CleanText):
        raise TypeError("a memory's text must be CleanText: pass it through redact.clean")
    if memory.title and not isinstance(memory.title, CleanText):
        raise TypeError("a memory's title must be CleanText: pass it through redact.clean")


def _is_open(memory: Memory) -> bool:
    return (
        memory.status is Status.ACTIVE
        and memory.kind in OPEN_KINDS
        and not memory.extra.get("done")
    )


def _optional_us(at: datetime | None) -> int | None:
    return None if at is None else _readable_us(at)


def _readable_us(at: datetime) -> int:
    """Return a time as microseconds, and make sure that they can be read back: the calendar's last hours in some
    zones lie beyond its end in UTC, which raises OverflowError."""
    at_us = microseconds(at)
    moment(at_us)
    return at_us


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) if value else ""
