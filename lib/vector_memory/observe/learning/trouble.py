"""Trouble that comes back: an error that several tasks met, with what ended it. Pure: no clock, no I/O.

What an edit ends is the work itself: a failing test, a type error. What nothing ends, or another command
line, is how things are here, and the next session meets it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from vector_memory.observe.learning.outcomes import Task, Trouble
from vector_memory.observe.learning.tasks import EDIT, PATTERNS
from vector_memory.observe.learning.trails import evaporated, shared

LEAST_TASKS, LEAST_AGAIN = 3, 2
"""How many tasks there must be, and how often the same trouble, before anything is said of it."""
LEAST_SHARE = 0.05
"""Of the tasks that ran the job, the part that must have met the trouble: what is rarer is told when it comes."""
FLOOR = 1.0
"""What must not have evaporated of the tasks that met it: of two half is gone after three weeks."""


INSTEAD = " instead"


@dataclass(frozen=True)
class Habit:
    """A trouble that came again: what it is in words, in how many tasks of how many that ran its job, when
    last, and the words for what ended it, "" for nothing."""

    text: str
    n: int
    of: int
    last: str
    job: str
    sign: str = ""
    end: str = ""

    def is_told(self, now: datetime) -> bool:
        """Whether it came often and lately enough to be told."""
        last = datetime.fromisoformat(self.last).replace(tzinfo=now.tzinfo)
        return self.n >= LEAST_SHARE * self.of and evaporated(self.n, last, now) >= FLOOR

    @property
    def command(self) -> str:
        """The command that ended it, "" for none."""
        return _command(self.end)

    @property
    def line(self) -> str:
        """It in words, with its evidence and what ended it."""
        end = f" → {self.end}" if self.end else ""
        fails = self.text.replace(f"`{self.job}`:", f"`{self.job}` fails:", 1)
        return f"{fails} (in {self.n} of {self.of} tasks that ran it, last {self.last}){end}"


def recurring(tasks: Sequence[Task]) -> list[Habit]:
    """Return the troubles that came again in several tasks, the most frequent first; of several that the
    same command line ended only the most frequent."""
    by_sign: dict[str, list[tuple[Task, Trouble]]] = {}
    for task in tasks:
        for trouble in task.trouble:
            by_sign.setdefault(trouble.sign, []).append((task, trouble))
    habits = [habit for cases in by_sign.values() if (habit := _habit(cases, tasks))]
    by_end: dict[tuple[str, str], Habit] = {}
    for habit in sorted(habits, key=lambda habit: (-habit.n, habit.last, habit.text)):
        by_end.setdefault((habit.job, habit.end or habit.sign), habit)
    return list(by_end.values())


def _habit(cases: Sequence[tuple[Task, Trouble]], tasks: Sequence[Task]) -> Habit | None:
    """Return what came again, None for what did not, or is part of the work."""
    job = Counter(trouble.job for _, trouble in cases).most_common(1)[0][0]
    latest, ends = (
        cases[-1][1],
        [trouble.end for _, trouble in cases if _mends_job(trouble.end, job)],
    )
    by_commands = [end for end in ends if end != EDIT]
    sessions, keys = ({task.session for task, _ in cases}, {task.key for task, _ in cases})
    # Within one session, what nothing ended between is one trouble.
    came_back = len(sessions) >= LEAST_AGAIN or any(trouble.end for _, trouble in cases[:-1])
    is_work = 2 * len(by_commands) < len(ends) or PATTERNS["of_work"].search(latest.line)
    if len(cases) < LEAST_AGAIN or not came_back or is_work or not latest.line:
        return None
    run_count = max(len(cases), sum(job in task.jobs for task in tasks))
    # Where edits ended it as often, what to do about it is not known.
    is_known = 2 * len(by_commands) > len(ends)
    end = Counter(reversed(by_commands)).most_common(1)[0][0] if is_known else ""
    if end.endswith(INSTEAD):
        mending_lines = [_command(end) for end in by_commands if end.endswith(INSTEAD)]
        other_lines = [
            task.commands[job] for task in tasks if job in task.commands and task.key not in keys
        ]
        end = _without_particulars(end, job, mending_lines, other_lines)
    last = max(task.at for task, _ in cases)[:10]
    return Habit(f"`{job}`: {latest.line}", len(cases), run_count, last, job, latest.sign, end)


def _mends_job(end: str, job: str) -> bool:
    """Whether what went well afterwards mends a job: another job that was run in its place leaves it as it was."""
    return bool(end) and (job in end or not end.endswith(INSTEAD))


def _command(end: str) -> str:
    return end.partition("`")[2].rpartition("`")[0]


def _without_particulars(
    end: str, job: str, mending_lines: Sequence[str], other_lines: Sequence[str]
) -> str:
    """Return what ended a trouble without what belongs to one task alone, "" where then only the job is left."""
    lines, line = [*mending_lines, *other_lines], _command(end)
    shared_words = shared(line, lines, 2) if len(lines) > 1 else line
    if shared_words in ("", job):
        return "" if len(mending_lines) > 1 else end
    return end.replace(line, shared_words)
