"""Backfill: the transcripts of earlier sessions become memories, a file after the other."""

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
from vector_memory.service.capture.store_session import to_ask
from vector_memory.system.files import explained

LIVE_S = 300.0
"""A transcript that was written to so lately may belong to a session that goes on."""
TOGETHER = 16
"""Files that are stored together: syncing after each of many small ones takes longer than they."""
TOGETHER_DRAFTS = 256
TOGETHER_S = 0.5
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
class Filled:
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

    Who asked may go away in the middle: what was read stays, and the next backfill goes on there.

    Raises:
        BadInputError, NotFoundError: nothing to read is named, or it is not there.
        OSError: who asked has gone.
    """
    started = time.monotonic()
    done = Filled()
    places = roots(request)
    files = list(dict.fromkeys(path for root in places for path in _below(root, done)))
    asks = (to_ask(ctx, path, final=not is_live(path, request.session)) for path in files)
    whole = False
    try:
        with ctx.filling.going_on(), ReadingProcess(ctx.home.pycache) as process:
            for batch in _batches(process.read_all(asks)):
                _store(ctx, batch, done)
                progress(done.files, len(files), "reading")
        whole = True
    finally:
        detail = {"files": done.files, "stored": done.captured.stored, "whole": whole}
        ctx.state.audit("backfill", request.actor, [], detail)
    counts = {**vars(done.captured), "sessions": len(done.captured.sessions)}
    seconds = round(time.monotonic() - started, 3)
    return BackfillAnswer(
        files=done.files,
        known=done.known,
        **counts,
        errors=done.errors,
        looked_in=places,
        seconds=seconds,
        gone=list(done.gone) or None,
    )


def roots(request: BackfillRequest) -> list[str]:
    """Return what is to be read: the paths named, or every transcript of the clients.

    Raises:
        BadInputError, NotFoundError: nothing is named, or it is not there.
    """
    if request.everything:
        return _everything(request)
    named = [os.path.join(request.base, path) for path in request.paths]
    if not named:
        raise BadInputError("Backfill what?", "Name a file or a folder, or give --all.")
    for root in named:
        if not os.path.lexists(root):
            raise NotFoundError(f"There is no {root}.", "Check the path.")
    return named


def _below(root: str, done: Filled) -> list[str]:
    """Return the transcripts of a root; what was left out of a folder is told with the errors. What is not there
    holds none: `roots` has seen to it that what was named is.

    Raises:
        BadInputError: a file that was named is none to read.
    """
    if not os.path.lexists(root):
        return []
    refused: list[OSError] = []
    found = transcripts_below(root, refused)
    if refused and not os.path.isdir(root):
        raise explained(root, refused[0])
    if not found and not os.path.isdir(root):
        raise BadInputError(f"{root} is no transcript.", "Name one, or a folder of them.")
    for error in refused[: MOST_ERRORS - len(done.errors)]:
        done.errors.append(_error(error.filename or root, error))
    return found


def _everything(request: BackfillRequest) -> list[str]:
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


Found = tuple[ReadRequest, TurnRead | OSError]


def _batches(found: Iterator[Found]) -> Iterator[list[Found]]:
    """Put small files together, as long as nobody waits long to see it go on."""
    batch: list[Found] = []
    drafts, since = 0, time.monotonic()
    for one in found:
        batch.append(one)
        drafts += len(one[1].drafts) if isinstance(one[1], TurnRead) else 0
        late = time.monotonic() - since > TOGETHER_S
        if late or len(batch) >= TOGETHER or drafts >= TOGETHER_DRAFTS:
            yield batch
            batch, drafts, since = [], 0, time.monotonic()
    if batch:
        yield batch


def _store(ctx: Context, batch: Sequence[Found], done: Filled) -> None:
    for final in (True, False):
        reads = [made for ask, made in batch if isinstance(made, TurnRead) and ask.final is final]
        if reads:
            tasks = (deferred.TOPICS, deferred.SUMMARY) if final else (deferred.TOPICS,)
            lessons = (deferred.LESSONS,) if ctx.settings.learn_from_outcomes else ()
            done.captured.add(store_session.store(ctx, reads, tasks=tasks, by_path=lessons))
            done.files += len(reads)
            done.gone |= dict.fromkeys(_gone(ctx, made.cwd) for made in reads if made.drafts)
    done.gone.pop("", None)
    done.known += sum(
        isinstance(made, TurnRead) and not made.drafts and ask.cursor != Cursor()
        for ask, made in batch
    )
    done.errors += [_error(ask.path, made) for ask, made in batch if isinstance(made, OSError)]


def _gone(ctx: Context, folder: str) -> str:
    """Return the folder of a project that is gone, "" for any other."""
    root = ctx.place(folder).root if folder else ""
    return "" if not root or os.path.isdir(root) else root


def _error(path: str, error: OSError) -> FileError:
    # All of its words would name the path again.
    return FileError(path, error.strerror or str(error.args[0]))
