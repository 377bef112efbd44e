"""How tasks went: what is kept of each, whether it was done, and by what one knows it. Pure: no clock, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from vector_memory.observe.learning import tasks
from vector_memory.observe.learning.tasks import EDIT, PATTERNS, RUN, TaskCall, TaskTurn

MOST_STEPS, MOST_FILES, MOST_TROUBLE, MOST_TERMS = 8, 12, 8, 16
LONGEST_PAUSE_S = 600.0
"""A pause between two calls counts as so much at most: nobody works while he waits to be answered."""


def is_check(job: str) -> bool:
    """Whether a job is one by whose exit code one knows whether the work is right."""
    return bool(PATTERNS["check"].search(job)) and not PATTERNS["no_check"].search(job)


class Trouble(NamedTuple):
    """An error of a task: by what it is known again, its line, the job that failed, and what ended it:
    EDIT, words for the command that did, "" for nothing."""

    sign: str
    line: str
    job: str
    end: str = ""


@dataclass(frozen=True)
class Task:
    """What is kept of a task.

    Attributes:
        key: its first turn's name.
        at: when it ended, aware UTC.
        kind: one of `tasks.KINDS`.
        done: whether it was done; None where nothing tells.
        sure: whether a check or the user's own words say so.
        retries: how often a job that had failed was run again and failed again.
        minutes: how long it took, pauses left out.
        terms: the words by which what was asked is like another request.
        steps: what went well in it, in order, each once: `read`, `edit` or a job.
        commands: how each of its jobs was called last when it went well.
        model: which one did it, "" where the transcript does not say.
        agent: the kind of subagent that did it, "" for the session itself.
        order: by what a subagent's prompt is known again.
        skills: those that were called for it.
        asked: how its prompt began, as it may be told; "" where it may not.
    """

    key: str
    at: str
    kind: str
    done: bool | None = None
    sure: bool = False
    errors: int = 0
    retries: int = 0
    minutes: float = 0.0
    files: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)
    trouble: list[Trouble] = field(default_factory=list)
    session: str = ""
    model: str = ""
    agent: str = ""
    order: str = ""
    skills: list[str] = field(default_factory=list)
    asked: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether a check, the user or an interruption says how it ended."""
        return self.sure and self.done is not None

    @property
    def ended_at(self) -> datetime:
        """When it ended, aware UTC."""
        return datetime.fromisoformat(self.at)


def of_turns(turns: Sequence[TaskTurn], session: str = "") -> list[Task]:
    """Return the tasks of a conversation in which anything was done, in their order."""
    groups = tasks.group(turns)
    following = [*(group[0].prompt for group in groups[1:]), ""]
    return [
        task_of(group, next_prompt, session)
        for group, next_prompt in zip(groups, following, strict=False)
        if any(turn.calls for turn in group)
    ]


def task_of(turns: Sequence[TaskTurn], next_prompt: str = "", session: str = "") -> Task:
    """Return what is to be kept of a task.

    Args:
        turns: the task's turns, at least one.
        next_prompt: what the user said after it, "" if nothing yet.
    """
    calls = [call for turn in turns for call in turn.calls]
    kind, asking_turn = tasks.classify(turns), tasks.asking(turns)
    done, sure = verdict(turns, next_prompt, kind)
    runs = [call for call in calls if call.what == RUN]
    failed = [call for call in runs if call.ok is False]
    troubles = {call.sign: Trouble(call.sign, call.error, call.job, call.end) for call in failed}
    return Task(
        key=turns[0].key,
        at=turns[-1].ended_at.isoformat(),
        kind=kind,
        done=done,
        sure=sure,
        errors=len(failed),
        retries=_retries(runs),
        minutes=round(_working_seconds(turns) / 60, 1),
        files=_unique(call.said for call in calls if call.what == EDIT and call.said)[-MOST_FILES:],
        terms=_unique(asking_turn.terms)[:MOST_TERMS],
        steps=steps_of(calls),
        commands={call.job: call.line for call in runs if call.ok and call.said},
        jobs=_unique(call.job for call in runs if call.job)[:MOST_FILES],
        trouble=[trouble for sign, trouble in troubles.items() if sign][:MOST_TROUBLE],
        session=session,
        model=next((turn.model for turn in reversed(turns) if turn.model), ""),
        order=turns[0].order,
        skills=_unique(call.said for call in calls if call.job == tasks.SKILL and call.said),
        asked=asking_turn.opening,
    )


def verdict(turns: Sequence[TaskTurn], next_prompt: str, kind: str) -> tuple[bool | None, bool]:
    """Return whether a task was done (None: nothing tells), and whether that is sure.

    The user's word counts most, then whether it was broken off, then the last check; edits after which
    the user went on to something else, with no error left behind, were most likely all right.
    """
    user_verdict = _user_verdict(turns, next_prompt)
    if user_verdict is not None:
        return user_verdict, True
    if turns[-1].is_interrupted:
        return False, True
    calls = [call for turn in turns for call in turn.calls]
    edited = any(call.what == EDIT and call.ok is not False for call in calls)
    if edited and tasks.reports_trouble(next_prompt):
        return False, False
    runs = [call for call in calls if call.what == RUN and call.ok is not None]
    checks = [call.ok for call in runs if is_check(call.job)]
    if checks:
        return checks[-1], True
    if runs and runs[-1].ok is False:
        # Who asked a question may have been answered by that failure; done it is not.
        return (None if kind in ("question", "review") else False), False
    if kind in tasks.CHANGING and not (edited or any(call.ok for call in runs)):
        return None, False
    return (True, False) if calls else (None, False)


def _user_verdict(turns: Sequence[TaskTurn], next_prompt: str) -> bool | None:
    """Return what the user said of it in the end, None for nothing: after a complaint about which
    something was done, that tells."""
    if tasks.praises(next_prompt):
        return True
    if tasks.complains(next_prompt):
        return False
    for turn in reversed(turns[1:]):
        if any(call.what in (EDIT, RUN) for call in turn.calls):
            return None
        if tasks.complains(turn.prompt):
            return False
        if tasks.praises(turn.prompt):
            return True
    return None


def steps_of(calls: Iterable[TaskCall]) -> list[str]:
    """Return the steps of a task, each once, in the order in which it first went well."""
    names = (
        call.job if call.what == RUN else call.what
        for call in calls
        if call.ok is not False and call.what != tasks.OTHER
    )
    return _unique(filter(None, names))[:MOST_STEPS]


def _retries(runs: Sequence[TaskCall]) -> int:
    """Return how often a job failed again right after it had failed."""
    count, failing = 0, set()
    for call in runs:
        if call.ok is False:
            count += call.job in failing
            failing.add(call.job)
        elif call.ok:
            failing.discard(call.job)
    return count


def _working_seconds(turns: Sequence[TaskTurn]) -> float:
    total = 0.0
    for turn in turns:
        times = [turn.started_at, *(call.at for call in turn.calls if call.at), turn.ended_at]
        gaps = ((end - start).total_seconds() for start, end in pairwise(times))
        total += sum(min(max(gap, 0.0), LONGEST_PAUSE_S) for gap in gaps)
    return total


def _unique(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


# -- what many tasks tell --


def evidence(work: Iterable[Task]) -> tuple[int, int]:
    """Return how many tasks were done and how many were not, as a check, the user or an interruption says:
    what only seems so is nothing to tell anybody."""
    judged = [task.done for task in work if task.is_judged]
    return judged.count(True), judged.count(False)


def figures(work: Sequence[Task]) -> dict[str, object]:
    """Return how many `tasks` there are, in how many `sessions`, from when to when (`since`, `last`: days), and of how
    many it is known that they were `done` or not (`undone`)."""
    days = sorted(task.at[:10] for task in work) or [""]
    (done, undone), sessions = evidence(work), len({task.session for task in work})
    counts = {"tasks": len(work), "done": done, "undone": undone, "sessions": sessions}
    return {**counts, "since": days[0], "last": days[-1]}


def by_kind(work: Sequence[Task]) -> list[dict[str, object]]:
    """Return how tasks went, by their `kind`, the most frequent first: `n` of them, of which `done` and `undone` are
    sure; `errors`, `retries` and `sessions` in all; the median of their `minutes`; when the `last` was."""
    groups: dict[str, list[Task]] = {}
    for task in work:
        groups.setdefault(task.kind, []).append(task)
    return [
        {"kind": kind, "n": len(kind_tasks)}
        | {
            name: value
            for name, value in figures(kind_tasks).items()
            if name not in ("tasks", "since")
        }
        | {name: sum(getattr(task, name) for task in kind_tasks) for name in ("errors", "retries")}
        | {"minutes": round(median(task.minutes for task in kind_tasks), 1)}
        for kind, kind_tasks in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    ]
