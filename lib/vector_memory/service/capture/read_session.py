"""Reading a transcript: from its file to drafts without secrets. No store is touched, so that it can
be done in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from vector_memory import projects, redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.cursor import Cursor
from vector_memory.index.exchanges import Exchange
from vector_memory.index.fixes.fix_drafts import RAN, TAG
from vector_memory.index.memories import Draft, around_prompt
from vector_memory.index.reader import TurnRead, read_new, session_and_folder
from vector_memory.model import unique
from vector_memory.redact import policy
from vector_memory.service.base import offered_commands

CACHED = 512
Cleaner = Callable[[str], redact.Clean]


@dataclass(frozen=True)
class ReadRequest:
    """What is to be read.

    Attributes:
        path: the transcript's real path.
        cursor: where the last reading ended.
        final: the session is over: what is still open is complete.
        last_message: the last answer, where the transcript lags behind it; `stopped_at` is when it was given,
            in seconds since 1970, None where nobody knows.
        for_lessons: begin where lessons begin again, if that comes first.
        configurations: folders of clients' settings whose rules count, beside the one that the transcript lies in.
        folders: the project's, as far as they are known; their rules count beside those of the folder where the
            session was started, which may be a worktree that is gone.
    """

    path: str
    cursor: Cursor = field(default_factory=Cursor)
    final: bool = False
    last_message: str = ""
    stopped_at: float | None = None
    for_lessons: bool = False
    configurations: tuple[str, ...] = field(default_factory=policy.configurations)
    folders: tuple[str, ...] = ()


def read(request: ReadRequest) -> TurnRead:
    """Read what is new in a transcript.

    Raises:
        OSError: the file cannot be read.

    Returns:
        What was read, and how far.
    """
    session, cwd = session_and_folder(request.path)
    configurations = (*request.configurations, *policy.configuration_of(request.path))
    folders = projects.locate(cwd).folders if cwd else ()
    with redact.for_project(unique((*request.folders, *folders)), configurations):
        reading = _read(request)
    reading.session, reading.cwd = session, cwd
    return reading


def _read(request: ReadRequest) -> TurnRead:
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

        def clean_of(exchange: Exchange) -> Callable[[str], str]:
            values = redact.told(*around_prompt(exchange))

            def clean_own(text: str) -> str:
                nonlocal redacted
                cleaned = redact.blotted(clean(text), values)
                redacted += cleaned.redactions
                return cleaned.text

            return clean_own if values else clean

        reading = read_new(
            request.path,
            request.cursor,
            final=request.final,
            last_assistant_message=request.last_message,
            stopped_at=request.stopped_at,
            clean=clean,
            for_lessons=request.for_lessons,
            clean_of=clean_of,
        )
        drafts, reading.drafts, reading.redactions = reading.drafts, [], redacted
        for draft in drafts:
            _add_draft(reading, draft, lambda text: cached(text, redact.values_known()))
    reading.over = policy.given_up()
    return reading


def _may_be_offered(draft: Draft) -> bool:
    commands = draft.extra.get(RAN)
    return not isinstance(commands, list) or offered_commands.are_harmless(
        map(str, commands), draft.cwd
    )


def _add_draft(reading: TurnRead, draft: Draft, clean: Cleaner) -> None:
    if TAG in draft.tags and not _may_be_offered(draft):
        # What the observer would flag is no fix that anybody is to be given.
        return
    try:
        text, title = clean(draft.text), clean(draft.title)
        tags = tuple(clean(word).text for word in draft.tags)
        files = tuple(clean(word).text for word in draft.files)
    except UnsafeTextError:
        # An error in the scanner means to drop the text, never to store it.
        reading.dropped += 1
        return
    reading.redactions += text.redactions + title.redactions
    reading.drafts.append(replace(draft, text=text.text, title=title.text, tags=tags, files=files))
