"""Backfill: the transcripts of earlier sessions become memories, one file after the other."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.index.cursor import Cursor
from vector_memory.index.reader import TurnRead, transcripts_below
from vector_memory.model import Progress
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.messages import FileError
from vector_memory.service.capture import deferred, store_session
from vector_memory.service.capture.read_session import ReadRequest
from vector_memory.service.capture.reading_process import ReadingProcess
from vector_memory.service.capture.store_session import request_for
from vector_memory.system.files import readable_error

LIVE_S = 300.0
"""A transcript that was written to within so many seconds may belong to a session that goes on."""
BATCH_FILES = 16
"""Files that are stored together: a sync after each of many small ones takes longer than storing them."""
BATCH_DRAFTS = 256
BATCH_S = 0.5
MOST_ERRORS = 100


class BackfillRequest(messages.Request):
    """Read transcripts: those named, or every one that the clients keep.

    Attributes:
        paths: files, and folders of them.
        everything: read what the clients keep.
        session: the session that asks; it goes on.
        claude_dir: where the client keeps its things, as its environment says; `codex_dir` and `gemini_dir` likewise.
        wait: until all can be found by meaning.
    """

    paths: tuple[str, ...] = messages.words()
    everything: bool = messages.flag("all")
    session: str = messages.maybe_text(256)
    claude_dir: str = messages.word()
    codex_dir: str = messages.word()
    gemini_dir: str = messages.word()
    wait: bool = messages.flag(default=True)


@dataclass
class BackfillTotals:
    """What a backfill did so far."""

    files: int = 0
    known: int = 0
    captured: store_session.Captured = field(default_factory=store_session.Captured)
    errors: list[FileError] = field(default_factory=list)
    gone: dict[str, None] = field(default_factory=dict)


class BackfillAnswer(messages.Answer):
    """What a backfill did.

    Attributes:
        files: how many were read, of how many `sessions`; in `known` of them was nothing new.
        drafts: how many memories were made of them, of which `stored` are new or changed.
        redactions: values that were taken out.
        dropped: texts that could not be looked at for secrets.
        errors: the files that could not be read, each time anew.
        looked_in: the files and folders that were looked at.
        gone: folders of sessions that are gone: each is a project by its path.
    """

    files: int
    known: int
    sessions: int
    drafts: int
    stored: int
    unchanged: int
    redactions: int
    dropped: int
    errors: list[FileError]
    looked_in: list[str]
    seconds: float
    gone: list[str] | None = messages.spare()


def backfill(ctx: Context, request: BackfillRequest, progress: Progress) -> BackfillAnswer:
    """Index transcripts; everything is durable and searchable by words when this returns.

    The caller may disconnect in the middle: what was read stays, and the next backfill goes on there.

    Raises:
        BadInputError, NotFoundError: nothing to read is named, or it is not there.
        OSError: the caller has disconnected.
    """
    started = time.monotonic()
    totals = BackfillTotals()
    places = roots(request)
    files = list(dict.fromkeys(path for root in places for path in _transcripts_of(root, totals)))
    requests = (request_for(ctx, path, final=not is_live(path, request.session)) for path in files)
    is_whole = False
    try:
        with ctx.filling.going_on(), ReadingProcess(ctx.home.pycache) as process:
            for batch in _batches(process.read_all(requests)):
                _store(ctx, batch, totals)
                progress(totals.files, len(files), "reading")
        is_whole = True
    finally:
        detail = {"files": totals.files, "stored": totals.captured.stored, "whole": is_whole}
        ctx.state.audit("backfill", request.actor, [], detail)
    counts = {**vars(totals.captured), "sessions": len(totals.captured.sessions)}
    seconds = round(time.monotonic() - started, 3)
    return BackfillAnswer(
        files=totals.files,
        known=totals.known,
        **counts,
        errors=totals.errors,
        looked_in=places,
        seconds=seconds,
        gone=list(totals.gone) or None,
    )


def roots(request: BackfillRequest) -> list[str]:
    """Return what is to be read: the paths named, or every transcript of the clients.

    Raises:
        BadInputError, NotFoundError: nothing is named, or it is not there.
    """
    if request.everything:
        return _client_folders(request)
    named = [os.path.join(request.base, path) for path in request.paths]
    if not named:
        raise BadInputError("Backfill what?", "Name a file or a folder, or give --all.")
    for root in named:
        if not os.path.lexists(root):
            raise NotFoundError(f"There is no {root}.", "Check the path.")
    return named


def _transcripts_of(root: str, totals: BackfillTotals) -> list[str]:
    """Return the transcripts of a root; what cannot be read of a folder is added to the errors. A root that does
    not exist has none: `roots` has checked those that were named.

    Raises:
        BadInputError: a file that was named is no transcript.
    """
    if not os.path.lexists(root):
        return []
    errors: list[OSError] = []
    paths = transcripts_below(root, errors)
    if errors and not os.path.isdir(root):
        raise readable_error(root, errors[0])
    if not paths and not os.path.isdir(root):
        raise BadInputError(f"{root} is no transcript.", "Name one, or a folder of them.")
    for error in errors[: MOST_ERRORS - len(totals.errors)]:
        totals.errors.append(_error(error.filename or root, error))
    return paths


def _client_folders(request: BackfillRequest) -> list[str]:
    """Return the folders in which clients may keep transcripts, as the caller's environment has it."""
    home = os.path.expanduser("~")
    claude = request.claude_dir or os.path.join(home, ".claude")
    codex = request.codex_dir or os.path.join(home, ".codex")
    gemini = request.gemini_dir or os.path.join(home, ".gemini")
    return [
        os.path.join(claude, "projects"),
        os.path.join(codex, "sessions"),
        os.path.join(codex, "archived_sessions"),
        os.path.join(gemini, "tmp"),
    ]


def is_live(path: str, own_session: str = "") -> bool:
    """Whether a session may still be going on: it asks for this, or wrote a moment ago."""
    if own_session and own_session in path:
        return True
    try:
        return time.time() - os.path.getmtime(path) < LIVE_S
    except OSError:
        return False


ReadResult = tuple[ReadRequest, TurnRead | OSError]


def _batches(results: Iterator[ReadResult]) -> Iterator[list[ReadResult]]:
    """Put small files together, as long as whoever watches the progress does not wait long for it."""
    batch: list[ReadResult] = []
    drafts, since = 0, time.monotonic()
    for result in results:
        batch.append(result)
        drafts += len(result[1].drafts) if isinstance(result[1], TurnRead) else 0
        is_late = time.monotonic() - since > BATCH_S
        if is_late or len(batch) >= BATCH_FILES or drafts >= BATCH_DRAFTS:
            yield batch
            batch, drafts, since = [], 0, time.monotonic()
    if batch:
        yield batch


def _store(ctx: Context, batch: Sequence[ReadResult], totals: BackfillTotals) -> None:
    for final in (True, False):
        reads = [
            reading
            for request, reading in batch
            if isinstance(reading, TurnRead) and request.final is final
        ]
        if reads:
            tasks = (deferred.TOPICS, deferred.SUMMARY) if final else (deferred.TOPICS,)
            lessons = (deferred.LESSONS,) if ctx.settings.learn_from_outcomes else ()
            totals.captured.add(store_session.store(ctx, reads, tasks=tasks, by_path=lessons))
            totals.files += len(reads)
            totals.gone |= dict.fromkeys(
                _missing_folder(ctx, reading.cwd) for reading in reads if reading.drafts
            )
    totals.gone.pop("", None)
    totals.known += sum(
        isinstance(reading, TurnRead) and not reading.drafts and request.cursor != Cursor()
        for request, reading in batch
    )
    totals.errors += [
        _error(request.path, reading) for request, reading in batch if isinstance(reading, OSError)
    ]


def _missing_folder(ctx: Context, folder: str) -> str:
    """Return the folder of a project that is gone, "" for any other."""
    root = ctx.place(folder).root if folder else ""
    return "" if not root or os.path.isdir(root) else root


def _error(path: str, error: OSError) -> FileError:
    # All of its words would name the path again.
    return FileError(path, error.strerror or str(error.args[0]))
