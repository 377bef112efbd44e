"""How tasks went: done or not, by what one knows it, and what usually goes wrong. Pure: no clock, no I/O."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from statistics import median
from typing import Any, NamedTuple

from vector_memory.observe.learning import tasks
from vector_memory.observe.learning.tasks import EDIT, RUN, TaskStep, TaskTurn

MOST_STAGES, MOST_FILES, MOST_TROUBLE, MOST_TERMS = 8, 12, 8, 16
LONGEST_PAUSE_S = 600.0
"""A pause between two steps counts as so much at most: nobody works while he waits to be answered."""
LEAST_TASKS, LEAST_AGAIN = 3, 2
"""How many tasks there must be, and how often the same trouble, before anything is said of it."""
_CHECK = re.compile(
    r"\b(?:tests?|pytest|jest|vitest|mocha|tox|nox|unittest|rspec|phpunit|ctest|check|lint|typecheck|tsc|mypy|pyright|ruff|"
    r"eslint|clippy|vet|build|compile|verify|ci|biome|playwright|cypress|make|just|bats|shellcheck|prettier|biome)\b"
)
_OF_WORK = re.compile(
    r"^\W*(?:(?:found )?\d+ (?:\w+ )?(?:failed|failures?|errors?|passed|problems?|warnings?)\b|FAILED|FAIL\b|AssertionError\b|assert\b"
    r"|expected\b|Tests?\b)|\bwould reformat\b",
    re.IGNORECASE,
)
"""Errors that are a check's result: they come with the work, and the next ones are others."""
_PARTLY = re.compile(
    r"\b(?:install|add|remove|clean|init|format|fmt|up|down|start|dev|serve|watch|deploy)\b"
)


def is_check(job: str) -> bool:
    """Whether a job is one by whose exit code one knows whether the work is right."""
    return bool(_CHECK.search(job)) and not _PARTLY.search(job)


class Trouble(NamedTuple):
    """An error of a task: by what it is known again, its line, and the job that failed."""

    sign: str
    line: str
    job: str


class Mended(NamedTuple):
    """A job that failed first and went well as another command line, with nothing changed between."""

    job: str
    wrong: str
    right: str


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
        tools: how often which tool was used.
        stages: its steps in order, each once: `read`, `edit` or a job.
        commands: the command line by which each of its jobs went well.
        first_failed: jobs whose first run failed.
    """

    key: str
    at: str
    kind: str
    done: bool | None = None
    sure: bool = False
    errors: int = 0
    retries: int = 0
    minutes: float = 0.0
    turns: int = 1
    tools: dict[str, int] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    stages: list[str] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)
    first_failed: list[str] = field(default_factory=list)
    trouble: list[Trouble] = field(default_factory=list)
    mended: list[Mended] = field(default_factory=list)
    session: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {**asdict(self), "trouble": [list(one) for one in self.trouble],
                "mended": [list(one) for one in self.mended]}  # fmt: skip

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Task | None:
        """Return the task that `to_dict` made, None for anything else."""
        known = {one.name: raw[one.name] for one in fields(cls) if one.name in raw}
        try:
            made = cls(**known)
            datetime.fromisoformat(made.at)
            trouble = [Trouble(*map(str, one)) for one in made.trouble]
            mended = [Mended(*map(str, one)) for one in made.mended]
        except (TypeError, ValueError):
            return None
        return cls(**{**known, "trouble": trouble, "mended": mended})

    @property
    def ended_at(self) -> datetime:
        """When it ended, aware UTC."""
        return datetime.fromisoformat(self.at)


def measure(
    turns: Sequence[TaskTurn], next_prompt: str = "", terms: Iterable[str] = (), session: str = ""
) -> Task:
    """Return what is to be kept of a task.

    Args:
        turns: the task's turns, at least one.
        next_prompt: what the user said after it, "" if nothing yet.
        terms: the telling words of what was asked.
    """
    steps = [step for turn in turns for step in turn.steps]
    kind = tasks.classify(turns)
    done, sure = verdict(turns, next_prompt, kind)
    runs = [step for step in steps if step.what == RUN]
    failed = [step for step in runs if step.ok is False]
    return Task(
        key=turns[0].key,
        at=turns[-1].ended_at.isoformat(),
        kind=kind,
        done=done,
        sure=sure,
        errors=len(failed),
        retries=_retries(runs),
        minutes=round(_seconds(turns) / 60, 1),
        turns=len(turns),
        tools=dict(Counter(step.tool for step in steps if step.tool).most_common(MOST_FILES)),
        files=_unique(step.said for step in steps if step.what == EDIT and step.said)[-MOST_FILES:],
        terms=_unique(terms)[:MOST_TERMS],
        stages=stages(steps),
        commands=_commands(runs),
        jobs=_unique(step.job for step in runs if step.job)[:MOST_FILES],
        first_failed=_first_failed(runs),
        trouble=_trouble(failed),
        mended=_mended(steps),
        session=session,
    )


def verdict(turns: Sequence[TaskTurn], next_prompt: str, kind: str) -> tuple[bool | None, bool]:
    """Return whether a task was done (None: nothing tells), and whether that is sure.

    The user's word counts most, then whether it was broken off, then the last check; edits after which
    the user went on to something else, with no error left behind, were most likely all right.
    """
    said = _last_word(turns, next_prompt)
    if said is not None:
        return said, True
    if turns[-1].is_interrupted:
        return False, True
    steps = [step for turn in turns for step in turn.steps]
    edited = any(step.what == EDIT and step.ok is not False for step in steps)
    if edited and tasks.reports_trouble(next_prompt):
        return False, False
    checked = _last_check(steps)
    if checked is not None:
        return checked, True
    if _left_failing(steps):
        # Who asked a question may have been answered by that failure; done it is not.
        return (None if kind in ("question", "review") else False), False
    ran_well = any(step.what == RUN and step.ok for step in steps)
    if kind in tasks.CHANGING and not (edited or ran_well):
        return None, False
    return (True, False) if steps else (None, False)


def _last_word(turns: Sequence[TaskTurn], next_prompt: str) -> bool | None:
    """Return what the user said of it in the end, None for nothing: after a complaint about which
    something was done, that tells."""
    if tasks.praises(next_prompt):
        return True
    if tasks.complains(next_prompt):
        return False
    for turn in reversed(turns[1:]):
        worked = any(step.what in (EDIT, RUN) for step in turn.steps)
        if tasks.complains(turn.prompt):
            return None if worked else False
        if worked:
            return None
        if tasks.praises(turn.prompt):
            return True
    return None


def _last_check(steps: Sequence[TaskStep]) -> bool | None:
    """Return whether the checks were good in the end, None where none tells. A check that passed tells
    of no other job that failed after it, and nothing of what was edited a good while later."""
    last: dict[str, bool] = {}
    for step in steps:
        if step.what == RUN and step.ok is not None and is_check(step.job):
            last.pop(step.job, None)
            last[step.job] = step.ok
    if not last:
        return None
    return list(last.values())[-1]


def _left_failing(steps: Sequence[TaskStep]) -> bool:
    """Whether the last command that tells anything failed."""
    told = [step.ok for step in steps if step.what == RUN and step.ok is not None]
    return bool(told) and told[-1] is False


def stages(steps: Iterable[TaskStep]) -> list[str]:
    """Return the steps of a task as stages, each once, in the order in which it first went well: what
    was repeated until it did is one stage."""
    found: list[str] = []
    for step in steps:
        name = step.job if step.what == RUN else step.what
        if step.ok is False or not name or step.what == tasks.OTHER or name in found:
            continue
        found.append(name)
    return found[:MOST_STAGES]


def _commands(runs: Sequence[TaskStep]) -> dict[str, str]:
    """Return by which command line each job went well last, those preferred that ran nothing else."""
    found: dict[str, str] = {}
    for alone in (False, True):
        for step in runs:
            if step.ok and step.alone is alone and step.said:
                found[step.job] = step.said
    return found


def _first_failed(runs: Sequence[TaskStep]) -> list[str]:
    first: dict[str, bool | None] = {}
    for step in runs:
        if step.ok is not None:
            first.setdefault(step.job, step.ok)
    return [job for job, ok in first.items() if ok is False][:MOST_TROUBLE]


def _mended(steps: Sequence[TaskStep]) -> list[Mended]:
    """Return the jobs that failed and went well as another command line, with no edit between. One that
    went wrong otherwise got further, and counts where it went well later."""
    wrong: dict[str, TaskStep] = {}
    found: list[Mended] = []
    good = {step.said for step in steps if step.ok}
    for step in steps:
        if step.what == EDIT:
            wrong.clear()
        if step.what != RUN or not (step.alone and step.said) or step.ok is None:
            continue
        first = wrong.get(step.job)
        differs = first is not None and _plain(first.said) != _plain(step.said)
        if first is not None and differs and step.said in good and step.sign != first.sign:
            found.append(Mended(step.job, first.said, step.said))
            del wrong[step.job]
        elif step.ok is False:
            wrong.setdefault(step.job, step)
        else:
            wrong.pop(step.job, None)
    return found[:MOST_TROUBLE]


def _plain(command: str) -> str:
    return " ".join(sorted(command.split()))


def _retries(runs: Sequence[TaskStep]) -> int:
    """Return how often a job failed again right after it had failed."""
    count, failing = 0, set()
    for step in runs:
        if step.ok is False:
            count += step.job in failing
            failing.add(step.job)
        elif step.ok:
            failing.discard(step.job)
    return count


def _trouble(failed: Sequence[TaskStep]) -> list[Trouble]:
    found = {step.sign: Trouble(step.sign, step.error, step.job) for step in failed if step.sign}
    return list(found.values())[:MOST_TROUBLE]


def _seconds(turns: Sequence[TaskTurn]) -> float:
    total = 0.0
    for turn in turns:
        times = [turn.started_at, *(step.at for step in turn.steps if step.at), turn.ended_at]
        gaps = (
            (later - earlier).total_seconds()
            for earlier, later in zip(times, times[1:], strict=False)
        )
        total += sum(min(max(gap, 0.0), LONGEST_PAUSE_S) for gap in gaps)
    return total


def _unique(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


# -- what many tasks tell --


@dataclass(frozen=True)
class KindCount:
    """How tasks of a kind went: `n` of them, of which `done` and `undone` are sure; errors, retries and
    sessions in all; the median of their minutes; when the last was."""

    kind: str
    n: int
    done: int
    undone: int
    errors: int
    retries: int
    minutes: float
    sessions: int
    last: str

    @property
    def text(self) -> str:
        """It in words, without counts: they change with every task."""
        return f"How tasks of kind {self.kind} went here"


def evidence(known: Iterable[Task]) -> tuple[int, int]:
    """Return how many tasks were done and how many were not, as a check, the user or an interruption says:
    what only seems so is nothing to tell anybody."""
    sure = [one.done for one in known if one.sure and one.done is not None]
    return sure.count(True), sure.count(False)


def by_kind(known: Sequence[Task]) -> list[KindCount]:
    """Return how tasks went, by their kind, the most frequent first."""
    found = []
    for kind in dict.fromkeys(one.kind for one in known):
        mine = [one for one in known if one.kind == kind]
        found.append(
            KindCount(
                kind,
                len(mine),
                *evidence(mine),
                sum(one.errors for one in mine),
                sum(one.retries for one in mine),
                round(median(one.minutes for one in mine), 1),
                len({one.session for one in mine}),
                max(one.at for one in mine)[:10],
            )
        )
    return sorted(found, key=lambda one: (-one.n, one.kind))


@dataclass(frozen=True)
class Habit:
    """A trouble that came again: what it is in words, in how many tasks of how many that could have met
    it, and when last."""

    text: str
    n: int
    of: int
    last: str
    job: str
    sign: str = ""


def habits(known: Sequence[Task]) -> list[Habit]:
    """Return the troubles that came again in several tasks, the most frequent first: jobs that are called
    wrongly first, and errors that recur."""
    found = [*_called_wrongly(known), *_recurring(known)]
    told: set[str] = set()
    kept = []
    for one in sorted(found, key=lambda one: (-one.n, one.text)):
        # The errors of a job that is called wrongly are told with it.
        if one.sign and one.job in told:
            continue
        told.add(one.job)
        kept.append(one)
    return kept


def _called_wrongly(known: Sequence[Task]) -> list[Habit]:
    by_job: dict[str, list[tuple[Task, Mended]]] = {}
    for task in known:
        for one in {one.job: one for one in task.mended}.values():
            by_job.setdefault(one.job, []).append((task, one))
    found = []
    for job, cases in by_job.items():
        if len(cases) < LEAST_AGAIN:
            continue
        right, n_right = Counter(one.right for _, one in cases).most_common(1)[0]
        ran = sum(job in task.jobs for task in known)
        if n_right < LEAST_AGAIN or 3 * len(cases) < ran:
            continue
        text = f"`{job}` fails first: run `{right}`"
        found.append(Habit(text, len(cases), ran, max(task.at for task, _ in cases)[:10], job))
    return found


def _recurring(known: Sequence[Task]) -> list[Habit]:
    by_sign: dict[str, list[tuple[Task, Trouble]]] = {}
    for task in known:
        for one in task.trouble:
            by_sign.setdefault(one.sign, []).append((task, one))
    found = []
    for sign, cases in by_sign.items():
        line = cases[-1][1].line
        if len(cases) >= LEAST_AGAIN and line and not _OF_WORK.search(line):
            job = cases[-1][1].job
            ran = max(len(cases), sum(job in task.jobs for task in known))
            last = max(task.at for task, _ in cases)[:10]
            found.append(Habit(f"`{job}`: {line}", len(cases), ran, last, job, sign))
    return found


def weak_kinds(counts: Iterable[KindCount]) -> list[KindCount]:
    """Return the kinds of which at least half of what is known was not done, on enough evidence."""
    return [one for one in counts if one.done + one.undone >= 4 and one.undone >= one.done]
