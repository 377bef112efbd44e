"""Trajectories: single tasks that went well, as examples to the next of their like. Pure.

A trail says what most tasks of a kind have in common; a trajectory is one of them from its prompt to its end: what
was asked, the files and commands in their order, and what had to be mended on the way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.tasks import CHANGING, EDIT, READ

MOST = 30
"""How many are kept of a project, the newest."""
MOST_FILES, MOST_STEPS, MOST_TROUBLE = 3, 6, 2
LEAST_SHARED, LIKE = 3, 0.5
"""How many terms two tasks have in common at least, and which share of the shorter one's, when one is an
example to the other."""
FRESH = timedelta(days=60)
"""How long one is told: what worked longer ago may work no more."""
MET = ". Met on the way: "
SAME = 0.8
"""The share from which the newer one stands for both."""
MOST_FAILED, MOST_TRIED = 2, 20
"""So many tasks that it came into and that failed, more than were done, end its being told; so many are kept."""


@dataclass(frozen=True)
class Trajectory:
    """A task that went well.

    Attributes:
        key: by what it is known in its project.
        text: what it says.
        terms: those of what was asked, as `Task` has them.
        commands: those of its steps that are command lines.
        at: the day on which it ended; `session` is where.
        id: the name of the record that keeps it.
        tried: the tasks that it came into, by their keys, and whether they were done.
    """

    key: str
    kind: str
    text: str
    terms: list[str]
    commands: list[str]
    session: str
    at: str
    id: str = ""
    tried: dict[str, bool] = field(default_factory=dict)

    @property
    def is_told(self) -> bool:
        """Whether it may come: not where more of the tasks that it came into failed than were done."""
        done = sum(self.tried.values())
        failed = len(self.tried) - done
        return failed < MOST_FAILED or failed <= done

    def with_tried(self, tried: Mapping[str, bool]) -> Trajectory:
        """Return it with the tasks that it came into, the newest last, and in its words how many were done."""
        tries = dict(list(tried.items())[-MOST_TRIED:])
        words = f". Of {len(tries)} tasks that it came into {sum(tries.values())} were done"
        return replace(self, tried=tries, text=self.text + words) if tries else self


def find(tasks: Iterable[Task]) -> list[Trajectory]:
    """Return the tasks that are an example, the newest first, of several of one kind about the same the newest.

    One is an example if a check or the user says that it was done, files were changed for it, and at least one
    command went well.
    """
    examples: list[Trajectory] = []
    for task in sorted(tasks, key=lambda task: task.at, reverse=True):
        went_well = task.done and task.sure and task.kind in CHANGING and task.asked
        if went_well and EDIT in task.steps and task.commands:
            example = _trajectory_of(task)
            is_other = (
                example.kind != newer.kind or _shared(example.terms, newer.terms) < SAME
                for newer in examples
            )
            if all(is_other):
                examples.append(example)
    return examples[:MOST]


def _trajectory_of(task: Task) -> Trajectory:
    steps = [step for step in task.steps if step != READ][:MOST_STEPS]
    lines = {step: task.commands.get(step, step) for step in steps if step != EDIT}
    edit = f"edit {', '.join(task.files[:MOST_FILES])}".strip()
    path = " → ".join(f"`{lines[step]}`" if step in lines else edit for step in steps)
    troubles = [trouble for trouble in task.trouble if trouble.end][:MOST_TROUBLE]
    ends = "; ".join(
        f"{trouble.line} → {'edited files' if trouble.end == EDIT else f'`{trouble.end}`'}"
        for trouble in troubles
    )
    text = f"A {task.kind} that went well here ({task.at[:10]}): “{task.asked}”. Steps: {path}"
    return Trajectory(
        key=f"task:{task.key}",
        kind=task.kind,
        text=f"{text}{MET}{ends}" if ends else text,
        terms=task.terms,
        commands=list(lines.values()),
        session=task.session,
        at=task.at[:10],
    )


def most_similar(
    examples: Sequence[Trajectory], kind: str, terms: Collection[str], now: datetime, but: str = ""
) -> Trajectory | None:
    """Return the fresh trajectory that is most like a task, of equals the first, None where none is.

    Args:
        kind: the task's kind.
        terms: those of what is asked.
        but: a session whose own tasks are no examples to it.
    """
    similar = [
        example
        for example in examples
        if example.kind == kind
        and example.session != but
        and example.is_told
        and example.at >= (now - FRESH).date().isoformat()
        and len(set(terms) & set(example.terms)) >= LEAST_SHARED
        and _shared(terms, example.terms) >= LIKE
    ]
    return max(similar, key=lambda example: _shared(terms, example.terms), default=None)


def _shared(terms: Collection[str], other_terms: Collection[str]) -> float:
    """Return which share of the shorter one's words both have, 0 … 1."""
    least = min(len(set(terms)), len(set(other_terms)))
    return len(set(terms) & set(other_terms)) / least if least else 0.0
