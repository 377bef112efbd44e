"""Reading a transcript on from its cursor, and finding transcripts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from vector_memory.errors import UnsafeTextError
from vector_memory.index import gemini
from vector_memory.index.codex import is_rollout, read_common_fields, translate
from vector_memory.index.cursor import HEAD_BYTES, Cursor, Position, fingerprint
from vector_memory.index.exchanges import MOST_BEFORE, SAID, Exchange, ExchangeStep, Reading
from vector_memory.index.fixes.fix_drafts import fix_drafts
from vector_memory.index.memories import Draft, to_drafts
from vector_memory.index.transcript import Lines, TranscriptEntry
from vector_memory.system import json_in
from vector_memory.system.files import RefusedError, open_plain, with_real_folder
from vector_memory.system.json_in import Record

_TALK = frozenset({"user", "assistant", "summary", "system", "attachment", "file-history-snapshot"})
_MOST_LOOKED_AT = 40
_DAMAGED = "is cut off or damaged: nothing in it can be read"
Clean = Callable[[str], str]

PRODUCERS = (to_drafts, fix_drafts)
"""What makes drafts of an exchange: each takes (exchange, path, time where the transcript tells none,
redactor) and names its drafts by `external_id`, so that reading again makes the same ones."""


@dataclass
class TurnRead:
    """What one reading of a transcript gave, for all that is made of it: memories, verdicts, lessons.

    Attributes:
        path: the transcript's real path.
        cursor: where to read on.
        drafts: what is to be remembered of what is new or has grown, redacted.
        exchanges: all that was read, as it stands in the transcript, those that may still grow included, in
            the order of their start; None where another process read it, which keeps them.
        reaches_back: whether it began where lessons begin again, or before.
        session: the session that the file begins with, and `cwd` its folder.
        redactions: values that were redacted.
        dropped: texts that could not be redacted.
        over: the rules that are not followed any more (`policy.given_up`).
    """

    path: str
    cursor: Cursor
    drafts: list[Draft] = field(default_factory=list)
    exchanges: list[Exchange] | None = None
    reaches_back: bool = False
    session: str = ""
    cwd: str = ""
    redactions: int = 0
    dropped: int = 0
    over: list[list[str]] = field(default_factory=list)


def read_new(
    path: str,
    cursor: Cursor | None,
    *,
    final: bool,
    last_assistant_message: str = "",
    stopped_at: float | None = None,
    clean: Clean = str,
    for_lessons: bool = False,
    clean_of: Callable[[Exchange], Clean] | None = None,
) -> TurnRead:
    """Read what is new or has grown in a transcript.

    Args:
        path: the transcript.
        cursor: where the last reading ended; None for the start. One that does not fit the file
            any more counts as None: ids do not depend on it, so nothing is stored twice.
        final: the session is over: open exchanges are complete, as is a last line without an end.
        last_assistant_message: the last answer, where the transcript may lag behind it; `stopped_at` is when
            it had been given, in seconds since 1970: a later prompt has no part in it.
        clean: redacts a text before it is cut. Texts that it refuses are left out.
        for_lessons: begin where lessons begin again, if that comes first. There is no draft of what lies
            before the cursor's own place.
        clean_of: returns what redacts the texts of one exchange, where that is more than `clean` does.
    """
    cursor = _fitting_cursor(path, cursor)
    begin = min(cursor.position, cursor.lessons) if for_lessons else cursor.position
    reading, lines = _read_from(path, begin, final)
    closed = [exchange for exchange in reading.closed if _has_new(exchange, cursor)]
    open_ones = [exchange for exchange in reading.open() if _has_new(exchange, cursor)]
    if not _is_answered_before(reading, last_assistant_message, stopped_at):
        open_ones = _with_last_words(open_ones, last_assistant_message)
    ready = [*closed, *(exchange for exchange in open_ones if final or exchange.is_answered)]
    digests = dict(cursor.emitted)
    changed = [exchange for exchange in ready if digests.get(exchange.key) != exchange.digest()]
    digests.update((exchange.key, exchange.digest()) for exchange in changed)
    at = datetime.fromtimestamp(os.path.getmtime(path), timezone.utc)
    changed.sort(key=lambda exchange: exchange.turn)
    drafts = _make_drafts(changed, path, at, clean, clean_of or (lambda _: clean))
    end = Position(lines.offset, lines.part, lines.line, reading.turns)
    # Where all that was open was taken back, the one before is needed to know what comes again.
    next_start = _oldest_needed(closed, open_ones or reading.closed[-1:]) or end
    behind = [exchange for exchange in (*closed, *open_ones) if exchange.turn > next_start.turns]
    live_keys = {exchange.key for exchange in behind}
    emitted = {key: digest for key, digest in digests.items() if key in live_keys}
    return TurnRead(
        path,
        _cursor_at(path, next_start, emitted, cursor.lessons),
        drafts,
        reading.all(),
        reaches_back=begin <= cursor.lessons,
    )


def read_exchanges(
    path: str, cursor: Cursor | None = None, *, final: bool = False
) -> list[Exchange]:
    """Return the exchanges of a transcript from where lessons begin again, those that may still grow
    included, in the order of their start. A cursor that does not fit the file any more counts as none.

    Raises:
        OSError: the file cannot be read.
    """
    reading, _ = _read_from(path, _fitting_cursor(path, cursor).lessons, final)
    return reading.all()


def _has_new(exchange: Exchange, cursor: Cursor) -> bool:
    """Whether an exchange begins or goes on after a cursor."""
    return exchange.position >= cursor.position or exchange.line_end > cursor.line


def _fitting_cursor(path: str, cursor: Cursor | None) -> Cursor:
    if cursor is None or not cursor.still_fits(path):
        return Cursor()
    # Where no prompt was found there may be one: an earlier version did not know the form.
    return cursor if cursor.turns else replace(cursor, **Position()._asdict())


def _read_from(
    path: str, begin: Position, final: bool
) -> tuple[Reading, gemini.ChatDocument | Lines]:
    reading = Reading(begin.turns)
    lines = _entries_from(path, begin, final)
    is_begun = bool(begin.offset)
    rollout_fields = read_common_fields(path, begin.offset) if is_begun else None
    chat_fields = gemini.read_common_fields(path) if is_begun else Record()
    for entry in translate(
        _entries_after(gemini.translate(path, lines, chat_fields), begin), rollout_fields
    ):
        reading.add(entry)
    if reading.is_rewound_before and begin.turns:
        # Only from the file's start is it known what that was.
        return _read_from(path, Position(), final)
    return reading, lines


def _entries_from(path: str, begin: Position, final: bool) -> gemini.ChatDocument | Lines:
    """Return the entries of a transcript from a place on, as they stand in it."""
    if gemini.is_document(path):
        return gemini.ChatDocument(path)
    return Lines(path, begin.offset, begin.line, final=final)


def _entries_after(
    entries: Iterable[TranscriptEntry], begin: Position
) -> Iterable[TranscriptEntry]:
    """Return the entries without those of the first line that belong to what was read before."""
    return (entry for entry in entries if entry.start > begin.offset or entry.part >= begin.part)


def _is_answered_before(reading: Reading, words: str, stopped_at: float | None) -> bool:
    """Whether a last answer is one to a prompt before the newest: that one came after it, or the transcript
    has the answer there already."""
    main = [exchange for exchange in reading.all() if not exchange.is_subagent]
    started_at = main[-1].started_at if main else None
    if started_at and stopped_at is not None and started_at.timestamp() > stopped_at:
        return True
    words = words.strip()
    return bool(words) and any(exchange.answer.endswith(words) for exchange in main[:-1])


def _with_last_words(open_exchanges: list[Exchange], words: str) -> list[Exchange]:
    """Return the open exchanges, the newest of the main chain with the answer that the transcript
    may not hold yet."""
    words = words.strip()
    if not words or not open_exchanges:
        return open_exchanges
    last = max(open_exchanges, key=lambda exchange: (not exchange.is_subagent, exchange.turn))
    if any(step.kind == SAID and words in step.text for step in last.steps):
        return open_exchanges
    answered = replace(last, steps=(*last.steps, ExchangeStep(SAID, words)))
    return [answered if exchange is last else exchange for exchange in open_exchanges]


def _make_drafts(
    exchanges: Sequence[Exchange],
    path: str,
    at: datetime,
    clean: Clean,
    clean_of: Callable[[Exchange], Clean],
) -> list[Draft]:
    drafts: list[Draft] = []
    checked = [
        exchange
        for exchange in exchanges
        if learn_secrets(exchange, clean) and exchange.is_worth_keeping
    ]
    for exchange in checked:
        with contextlib.suppress(UnsafeTextError):
            clean_exchange = clean_of(exchange)
            for producer in PRODUCERS:
                drafts.extend(producer(exchange, path, at, clean_exchange))
    return drafts


def learn_secrets(exchange: Exchange, clean: Clean) -> bool:
    """Look at whole commands and at what files are given before anything is kept: there a secret has its name
    ("DB_PASSWORD=…"), which it seldom has in the prompt that told it ("the login is anna with …").

    Returns:
        Whether all commands could be checked: nothing is kept of an exchange with one that could not.
    """
    for call in exchange.calls:
        with contextlib.suppress(UnsafeTextError):
            clean(call.written)
    try:
        for call in exchange.calls:
            clean(call.command)
    except UnsafeTextError:
        return False
    return True


def _oldest_needed(closed: list[Exchange], open_exchanges: list[Exchange]) -> Position | None:
    """Return where to read on: before the oldest open exchange, the few that it may look back to, and
    every one that overlaps them; None where nothing is open."""
    if not open_exchanges:
        return None
    first = min(open_exchanges, key=lambda exchange: exchange.turn)
    main = [
        exchange for exchange in closed if not exchange.is_subagent and exchange.turn < first.turn
    ]
    first = min([first, *main[-MOST_BEFORE:]], key=lambda exchange: exchange.turn)
    for exchange in sorted(closed, key=lambda exchange: -exchange.turn):
        if exchange.turn < first.turn and exchange.line_end >= first.line_start:
            first = exchange
    return first.position


def _cursor_at(path: str, place: Position, emitted: dict[str, str], lessons: Position) -> Cursor:
    head_bytes = min(place.offset, HEAD_BYTES)
    head, tail = fingerprint(path, place.offset, head_bytes)
    return Cursor(
        **place._asdict(),
        head_bytes=head_bytes,
        head=head,
        tail=tail,
        emitted=emitted,
        lessons=lessons,
    )


def session_and_folder(path: str) -> tuple[str, str]:
    """Return the session that a transcript begins with, and the folder that it was started in; ""
    where its first entries tell none."""
    session = cwd = ""
    entries = gemini.translate(path, _entries_from(path, Position(), False), Record())
    for number, entry in enumerate(translate(entries)):
        session = session or json_in.session_id(entry.data.get("sessionId"))
        cwd = cwd or str(entry.data.get("cwd") or "")
        if (session and cwd) or number >= _MOST_LOOKED_AT:
            break
    return session, cwd


def _is_transcript(path: str, refused: list[OSError]) -> bool:
    """Whether a file is a transcript: a regular file, to which no link leads, with a line of talk among its first;
    `refused` takes why one that is named like one cannot be read."""
    lines, count = _entries_from(path, Position(), True), 0
    try:
        for count, entry in enumerate(lines, 1):
            if (
                gemini.is_header(entry.data)
                or str(entry.data.get("type")) in _TALK
                or is_rollout(entry.data)
            ):
                return True
            if count > _MOST_LOOKED_AT:
                break
        if lines.is_damaged and not count and os.path.getsize(path) and not _is_json_document(path):
            refused.append(RefusedError(path, _DAMAGED, "A copy of it may be whole."))
    except OSError as error:
        refused.append(error)
    return False


def _is_json_document(path: str) -> bool:
    """Whether a file is one document of JSON, on however many lines."""
    with open_plain(path) as file:
        raw = file.read(gemini.MOST_BYTES + 1)
    try:
        json_in.load(raw)
    except ValueError:
        return False
    return True


def transcripts_below(path: str, refused: list[OSError] | None = None) -> list[str]:
    """Return the transcripts in a folder and below, oldest first, by their real paths; a file gives
    itself. Links, pipes and other files are left out.

    Args:
        refused: takes why files that are named like transcripts were left out, and folders that are
            links.
    """
    refused = [] if refused is None else refused
    if not os.path.isdir(path):
        real_path = with_real_folder(path)
        return [real_path] if _is_transcript(real_path, refused) else []
    timed_paths: list[tuple[float, str]] = []
    for folder, folders, names in os.walk(os.path.realpath(path), followlinks=False):
        linked_folders = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        transcript_names = [
            name
            for name in names
            if name.endswith(".jsonl") or gemini.is_document(os.path.join(folder, name))
        ]
        paths = [os.path.join(folder, name) for name in (*transcript_names, *linked_folders)]
        timed_paths += [
            (os.path.getmtime(path), path) for path in paths if _is_transcript(path, refused)
        ]
    return [real_path for _, real_path in sorted(timed_paths)]
