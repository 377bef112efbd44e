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
from vector_memory.index.reader import TurnRead, head_of, read_new
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
        configurations: the client's whose rules count, beside the one that the transcript lies in.
        folders: the project's as far as they are known, whose rules count beside those of where the session was
            started: that may be a worktree that is gone.
    """

    path: str
    cursor: Cursor = field(default_factory=Cursor)
    final: bool = False
    last_message: str = ""
    stopped_at: float | None = None
    for_lessons: bool = False
    configurations: tuple[str, ...] = field(default_factory=policy.configurations)
    folders: tuple[str, ...] = ()


def read(ask: ReadRequest) -> TurnRead:
    """Read what is new in a transcript.

    Raises:
        OSError: the file cannot be read.

    Returns:
        What was read, and how far.
    """
    session, cwd = head_of(ask.path)
    configurations = (*ask.configurations, *policy.configuration_of(ask.path))
    here = projects.locate(cwd).folders if cwd else ()
    with redact.for_project(unique((*ask.folders, *here)), configurations):
        made = _read(ask)
    made.session, made.cwd = session, cwd
    return made


def _read(ask: ReadRequest) -> TurnRead:
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

        made = read_new(
            ask.path,
            ask.cursor,
            final=ask.final,
            last_assistant_message=ask.last_message,
            stopped_at=ask.stopped_at,
            clean=clean,
            for_lessons=ask.for_lessons,
            clean_of=clean_of,
        )
        drafts, made.drafts, made.redactions = made.drafts, [], redacted
        for draft in drafts:
            _add(made, draft, lambda text: cached(text, redact.values_known()))
    made.over = policy.given_up()
    return made


def _is_offered(draft: Draft) -> bool:
    ran = draft.extra.get(RAN)
    return not isinstance(ran, list) or offered_commands.are_harmless(map(str, ran), draft.cwd)


def _add(made: TurnRead, draft: Draft, clean: Cleaner) -> None:
    if TAG in draft.tags and not _is_offered(draft):
        # What the observer would flag is no fix that anybody is to be given.
        return
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
