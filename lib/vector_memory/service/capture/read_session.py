"""Reading a transcript: from its file to drafts without secrets. No store is touched, so that it can
be done in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from vector_memory import projects, redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.cursor import Cursor
from vector_memory.index.memories import Draft
from vector_memory.index.reader import head_of, read_new
from vector_memory.redact import policy

CACHED = 512
Cleaner = Callable[[str], redact.Clean]


@dataclass(frozen=True)
class ReadRequest:
    """What is to be read.

    Attributes:
        path: the transcript's real path.
        cursor: where the last reading ended; None for the start.
        final: the session is over: what is still open is complete.
        last_message: the last answer, where the transcript lags behind it.
        configurations: the client's whose rules count, beside the one that the transcript lies in.
    """

    path: str
    cursor: Cursor | None = None
    final: bool = False
    last_message: str = ""
    configurations: tuple[str, ...] = field(default_factory=policy.configurations)


@dataclass
class SessionRead:
    """What one reading gave: redacted drafts, where to read on, the session that the file begins with
    and its folder, values redacted, texts dropped because they could not be redacted, and the rules that are
    not followed any more (`policy.given_up`)."""

    path: str
    cursor: Cursor
    session: str
    cwd: str
    drafts: list[Draft] = field(default_factory=list)
    redactions: int = 0
    dropped: int = 0
    over: list[list[str]] = field(default_factory=list)


def read(ask: ReadRequest) -> SessionRead:
    """Read what is new in a transcript.

    Raises:
        OSError: the file cannot be read.
    """
    session, cwd = head_of(ask.path)
    configurations = (*ask.configurations, *policy.configuration_of(ask.path))
    with redact.for_project(projects.locate(cwd).root if cwd else "", configurations):
        return _read(ask, session, cwd)


def _read(ask: ReadRequest, session: str, cwd: str) -> SessionRead:
    redacted = 0
    # The same prompt, title and file names come again and again in one transcript. A value that came to be
    # known since then may stand in a text that was looked at before.
    cached = lru_cache(CACHED)(lambda text, known: redact.clean(text))

    with redact.together():

        def clean(text: str) -> str:
            nonlocal redacted
            cleaned: redact.Clean = cached(text, redact.values_known())
            redacted += cleaned.redactions
            return cleaned.text

        drafts, moved = read_new(
            ask.path,
            ask.cursor,
            final=ask.final,
            last_assistant_message=ask.last_message,
            clean=clean,
        )
        made = SessionRead(ask.path, moved, session, cwd, redactions=redacted)
        for draft in drafts:
            _add(made, draft, lambda text: cached(text, redact.values_known()))
    made.over = policy.given_up()
    return made


def _add(made: SessionRead, draft: Draft, clean: Cleaner) -> None:
    try:
        text, title = clean(draft.text), clean(draft.title)
        tags = tuple(clean(word).text for word in draft.tags)
        files = tuple(clean(word).text for word in draft.files)
    except UnsafeTextError:
        # An error in the scanner means to drop the text, never to store it.
        made.dropped += 1
        return
    made.redactions += text.redactions + title.redactions
    made.drafts.append(replace(draft, text=text.text, title=title.text, tags=tags, files=files))
