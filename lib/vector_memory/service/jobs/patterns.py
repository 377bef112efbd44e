"""predictive-patterns: which step follows which in the tasks of all projects, with counts. It is made anew
from the tasks that are kept, so that nothing counts twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from vector_memory.model import Memory
from vector_memory.observe.learning.outcomes import Task
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.learning import learned_records

LEAST, LEAST_SESSIONS = 3, 2
MOST_TOLD = 50


@dataclass
class Pattern:
    """How often a step followed another, in tasks that were `done` and in all, where."""

    n: int = 0
    done: int = 0
    sessions: set[str] = field(default_factory=set)
    projects: set[str] = field(default_factory=set)


def step(ctx: Context, run: JobRun) -> Step:
    """Count what follows what.

    Returns:
        What it did, and where the next step begins.
    """
    patterns: dict[str, Pattern] = {}
    tasks = 0
    for task, record in learned_records.tasks_of_all(ctx.all_shelves()):
        tasks += 1
        _count(patterns, task, record)
    items = [
        {
            "text": name, "n": pattern.n, "done": pattern.done,
            "sessions": len(pattern.sessions), "projects": len(pattern.projects),
        }
        for name, pattern in patterns.items()
        if pattern.n >= LEAST and len(pattern.sessions) >= LEAST_SESSIONS
    ]  # fmt: skip
    items.sort(key=lambda each: (-each["projects"], -each["n"], each["text"]))  # type: ignore[operator]
    across = sum(len(pattern.projects) > 1 for pattern in patterns.values())
    report = {
        "tasks": tasks,
        "patterns": items[:MOST_TOLD],
        "across_projects": across,
    }
    return Step(report, message=f"{len(items)} patterns in {tasks} tasks.")


def _count(patterns: dict[str, Pattern], task: Task, record: Memory) -> None:
    for first, other in pairwise(task.steps):
        pattern = patterns.setdefault(f"{first} → {other}", Pattern())
        pattern.n += 1
        pattern.done += task.done is True
        pattern.sessions.add(record.source.session)
        pattern.projects.add(record.project)
