"""Trails: the steps that tasks of a kind took, stronger where they led somewhere. Pure.

As ants find their ways: each success adds to a trail, each failure takes from it, and all of it evaporates
day by day, so that what worked last month gives way to what works now. A trail is worked out anew from
the tasks that are kept, so that one that is read again counts once.

Source: M. Dorigo, T. Stützle, Ant Colony Optimization, MIT Press 2004, chapter 3 (evaporation and deposit).
"""

from __future__ import annotations

import ntpath
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.tasks import CHANGING, EDIT, PATTERNS

RHO = 0.97
"""What is left of a trail after a day: half of it after three weeks."""
FLOOR = 0.75
"""Strength below which a trail is gone."""
SURE, LIKELY, FAILURE = 1.0, 0.5, 1.0
"""What a success adds that a check or the user confirmed, and one that nobody did; what a failure takes."""
LEAST_WON, LEAST_SESSIONS, LEAST_RATE = 3, 2, 0.7
LONGEST = 4
GENERAL = 0.5
"""The share of a kind's tasks, of those that ran a job which comes again, that must have taken a step."""
COMMON = 0.75
"""The share of a job's command lines in which a word must stand: what differs from task to task is of the task."""
_WRAPPERS = ("gradlew", "mvnw")
"""Scripts of a project's that say no more than the program that they start."""
ANY = "change"
"""Not a kind of task: all that change files."""
NAMES = {
    ANY: "changes", "fix": "fixes", "feature": "new features", "refactor": "refactorings",
    "test": "work on tests", "docs": "documentation", "setup": "set-up work", "question": "questions",
    "review": "reviews", "release": "commits and releases",
}  # fmt: skip
_WORD = re.compile(r"cd \S+ &&|\S+")
"""A word of a command line; the folder that it changes to is one."""


@dataclass(frozen=True)
class Trail:
    """Steps that tasks of a kind, or of ANY, took.

    Attributes:
        text: what it says, with its evidence.
        steps: in order, each once: `edit`, or a job's command line as it is called here.
        n: tasks that took these steps and whose end is known, `won` of them done.
        sessions: in how many sessions it was won.
        strength: at the time `at`; it evaporates from then on.
        id: the name of the record that keeps it.
    """

    kind: str
    text: str
    steps: list[str]
    n: int
    won: int
    sessions: int
    strength: float
    at: str
    last: str
    id: str = ""

    @property
    def key(self) -> str:
        """By what it is known in its project."""
        return "\0".join((self.kind, *self.steps))

    @property
    def commands(self) -> list[str]:
        """Those of its steps that are command lines."""
        return [step for step in self.steps if step != EDIT]

    def strength_at(self, now: datetime) -> float:
        """Return what has not evaporated of it."""
        return evaporated(self.strength, datetime.fromisoformat(self.at), now)


def evaporated(strength: float, at: datetime, now: datetime) -> float:
    """Return what is left of a strength after the time between."""
    return float(strength * RHO ** max(0.0, (now - at).total_seconds() / 86_400))


def find(tasks: Sequence[Task], now: datetime) -> list[Trail]:
    """Return the trails that tasks have left, the strongest first, at most one of each kind."""
    judged = [task for task in tasks if task.done is not None]
    groups = {ANY: [task for task in judged if task.kind in CHANGING]}
    for task in judged:
        groups.setdefault(task.kind, []).append(task)
    trails = filter(
        None, (_trail_of_kind(kind, kind_tasks, now) for kind, kind_tasks in groups.items())
    )
    return sorted(trails, key=lambda trail: (-trail.strength, trail.kind))


def _trail_of_kind(kind: str, judged: Sequence[Task], now: datetime) -> Trail | None:
    """Return the steps that most of these tasks took, None where they are not proven, or what anybody does."""
    momentary = PATTERNS["of_the_moment"]
    pairs = ((task, {job for job in task.jobs if not momentary.fullmatch(job)}) for task in judged)
    lasting = [(task, jobs) for task, jobs in pairs if jobs]
    counts = Counter(job for _, jobs in lasting for job in jobs)
    general = {job for job, n in counts.items() if n >= max(LEAST_WON, GENERAL * len(lasting))}
    tried = [task for task, jobs in lasting if general <= jobs]
    wins = [task for task in tried if task.done]
    sessions = len({task.session for task in wins})
    is_proven = len(wins) >= LEAST_WON and sessions >= LEAST_SESSIONS
    is_proven = is_proven and len(wins) >= LEAST_RATE * len(tried)
    if not is_proven or not any(task.sure for task in wins):
        return None
    strength = sum(evaporated(SURE if task.sure else LIKELY, task.ended_at, now) for task in wins)
    strength -= sum(evaporated(FAILURE, task.ended_at, now) for task in tried if not task.done)
    names = [step for step in wins[-1].steps if step == EDIT or step in general][:LONGEST]
    command_lines = (name if name == EDIT else usual(name, wins) for name in names)
    steps = [step for step in dict.fromkeys(command_lines) if step]
    if strength < FLOOR or all(map(_needs_no_memory, steps)):
        return None
    path = " → ".join(step if step == EDIT else f"`{step}`" for step in steps)
    rate = round(100 * len(wins) / len(tried))
    last = max(task.at for task in wins)[:10]
    text = (
        f"For {NAMES.get(kind, kind)} here these steps worked in {rate} % of {len(tried)} tasks "
        f"({sessions} sessions, last {last}): {path}"
    )
    figures = (len(tried), len(wins), sessions, round(strength, 3))
    return Trail(kind, text, steps, *figures, now.isoformat(), last)


def _needs_no_memory(step: str) -> bool:
    """Whether whoever knows the program runs it so: options alone are no news."""
    return step == EDIT or bool(PATTERNS["by_itself"].fullmatch(" ".join(_plain_words(step))))


def _plain_words(command_line: str) -> list[str]:
    return [word for word in command_line.split() if not word.startswith("-")]


def usual(job: str, won_tasks: Sequence[Task]) -> str:
    """Return how a job is called here: the words of its newest command line that nearly all have. "" where that is a
    program alone, and most lines go on behind it: what it does is another thing from task to task, as `./gradlew`."""
    lines = [task.commands[job] for task in won_tasks if job in task.commands]
    head = shared(lines[-1], lines, COMMON * len(lines)) or job if lines else job
    program, *operands = [word for word in _plain_words(head) if word != "."] or [""]
    is_script = _is_in_project(program) and not _is_wrapper(program)
    if operands or is_script:
        return head
    further_words = (line.removeprefix(head).split() for line in lines)
    are_whole = [not words or words[0].startswith("-") for words in further_words]
    return head if 2 * sum(are_whole) >= len(lines) else ""


def _is_in_project(program: str) -> bool:
    """Whether a program is called by a path from the folder on: `/usr/bin/make` or `~/bin/x` is one like any other."""
    folder = ntpath.split(program)[0]
    return bool(folder) and folder[0] not in "/\\~$" and ":" not in folder


def _is_wrapper(program: str) -> bool:
    # On Windows it has an ending.
    return ntpath.basename(program).partition(".")[0] in _WRAPPERS


def shared(line: str, lines: Sequence[str], least: float) -> str:
    """Return the words of a command line that so many of these have. An option goes with the value that belongs to
    one task alone."""
    words, line_words = _WORD.findall(line), [_WORD.findall(other) for other in lines]
    are_common = [sum(word in other_words for other_words in line_words) >= least for word in words]
    kept_words = [
        word
        for word, is_common, next_is_common in zip(
            words, are_common, [*are_common[1:], True], strict=True
        )
        if is_common and (next_is_common or not word.startswith("-"))
    ]
    return " ".join(kept_words)
