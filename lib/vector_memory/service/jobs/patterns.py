"""predictive-patterns: which step follows which in the tasks of all projects, with counts. It is made anew
from the tasks that are kept, so that nothing counts twice."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.learning import learned_records

LEAST, LEAST_SESSIONS = 3, 2
MOST_TOLD = 50


def step(ctx: Context, run: JobRun) -> Step:
    """Count what follows what.

    Returns:
        What it did, and where the next step begins.
    """
    cases: defaultdict[str, list[tuple[bool, str, str]]] = defaultdict(list)
    tasks = 0
    for task, record in learned_records.tasks_of_all(ctx.all_shelves()):
        tasks += 1
        case = (task.done is True, record.source.session, record.project)
        for first, other in pairwise(task.steps):
            cases[f"{first} → {other}"].append(case)
    counted = [
        (len({project for *_, project in some}), len(some), name, some)
        for name, some in cases.items()
    ]
    counted.sort(key=lambda each: (-each[0], -each[1], each[2]))
    items = [
        {"text": name, "n": n, "done": sum(done for done, *_ in some), "sessions": sessions, "projects": projects}
        for projects, n, name, some in counted
        if n >= LEAST and (sessions := len({session for _, session, _ in some})) >= LEAST_SESSIONS
    ]  # fmt: skip
    across = sum(projects > 1 for projects, *_ in counted)
    report = {"tasks": tasks, "patterns": items[:MOST_TOLD], "across_projects": across}
    return Step(report, message=f"{len(items)} patterns in {tasks} tasks.")
