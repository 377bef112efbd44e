"""Step logs: what was done in a session, a line for each prompt and each call, redacted, beside the session's
archive: the client deletes the transcript one day."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

from vector_memory.index.reader import read_exchanges, session_and_folder
from vector_memory.observe.learning.tasks import TaskTurn
from vector_memory.redact import levels
from vector_memory.service.base import privacy
from vector_memory.service.base.asker import ProjectAsker, asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.capture import archives
from vector_memory.service.learning import lessons
from vector_memory.service.learning.observed_calls import cleaner, harvest
from vector_memory.system.durable_files import write_durably
from vector_memory.system.json_in import session_id

PROMPT = "prompt"
MOST_STEPS = 5_000


@dataclass(frozen=True)
class LoggedStep:
    """A prompt or a call.

    Attributes:
        number: its place in the session, from 1; `turn` that of its prompt.
        at: when, aware UTC in ISO form.
        what: PROMPT, or what a `tasks.TaskCall` does.
        said: the prompt's words, the command line or the file.
        ok: whether it went well; None where that is not known.
        error, sign, end: as a `tasks.TaskCall` has them.
    """

    number: int
    turn: int
    at: str
    what: str
    said: str
    job: str = ""
    ok: bool | None = None
    error: str = ""
    sign: str = ""
    end: str = ""


def transcripts_of(ctx: Context, session: str) -> list[str]:
    """Return the paths of a session's transcripts that are still there."""
    return [
        path
        for path in ctx.state.cursors()
        if session and os.path.basename(path) == f"{session}.jsonl" and os.path.isfile(path)
    ]


def of_session(
    ctx: Context, session: str, projects: Sequence[str] | None = None
) -> list[LoggedStep]:
    """Return a session's steps, from its transcript, else from its log, without turns of which anything is restricted;
    [] where neither is there, or the user wants no memory of its project.

    Args:
        projects: what was done in these alone, None for any.
    """
    for path in transcripts_of(ctx, session):
        with suppress(OSError):
            if (reading := _read_steps(ctx, path)) is None:
                return []
            asker, steps = reading
            if projects is None or asker.place.id in projects:
                return steps
    return _read_log(ctx, session, projects)


def write(ctx: Context, transcript: str) -> int:
    """Log the steps of a transcript anew; return how many there are.

    Raises:
        OSError: the transcript cannot be read, or the log not written.
    """
    reading = (
        _read_steps(ctx, transcript) if ctx.settings.archive and ctx.settings.capture else None
    )
    if reading is None or not reading[1]:
        return 0
    asker, steps = reading
    session, _ = session_and_folder(transcript)
    lines = (json.dumps(asdict(step), ensure_ascii=False) for step in steps)
    path = archives.path_of(ctx.home, asker.place.id, steps[0].at[:10], session, archives.STEPS)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    write_durably(path, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    return len(steps)


def _read_steps(ctx: Context, path: str) -> tuple[ProjectAsker, list[LoggedStep]] | None:
    session, cwd = session_and_folder(path)
    asker = asker_at(ctx, cwd or "/")
    if asker is None:
        return None
    with privacy.for_folder(ctx, cwd or "/", privacy.ran_under(ctx, path)):
        turns = harvest(read_exchanges(path, final=True), cleaner())
        own_turns = [turn for turn in turns if not turn.order]
        teaching_turns = lessons.teaching(ctx, asker, session, own_turns)
    return asker, list(_steps(teaching_turns))[:MOST_STEPS]


def _steps(turns: Sequence[TaskTurn]) -> Iterator[LoggedStep]:
    number = 0
    for turn_number, turn in enumerate(turns, 1):
        number += 1
        yield LoggedStep(number, turn_number, turn.started_at.isoformat(), PROMPT, turn.prompt)
        for step in turn.calls:
            number += 1
            step_at = (step.at or turn.started_at).isoformat()
            details = (step.line, step.job, step.ok, step.error, step.sign, step.end)
            yield LoggedStep(number, turn_number, step_at, step.what, *details)


def _read_log(ctx: Context, session: str, projects: Sequence[str] | None) -> list[LoggedStep]:
    steps: list[LoggedStep] = []
    for path in archives.archives_of(ctx.home, session_id(session), archives.STEPS, projects):
        with suppress(OSError), open(path, encoding="utf-8") as file:
            for line in file:
                with suppress(ValueError, TypeError):
                    steps.append(LoggedStep(**json.loads(line)))
    restricts = levels.restricting()
    withheld = {step.turn for step in steps if restricts(vars(step))}
    return [step for step in steps if step.turn not in withheld]
