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
        for before, after in pairwise(task.steps):
            cases[f"{before} → {after}"].append(case)
    patterns = [
        (len({project for *_, project in pair_cases}), len(pair_cases), name, pair_cases)
        for name, pair_cases in cases.items()
    ]
    patterns.sort(key=lambda pattern: (-pattern[0], -pattern[1], pattern[2]))
    items = [
        {"text": name, "n": n, "done": sum(done for done, *_ in pair_cases), "sessions": sessions, "projects": projects}
        for projects, n, name, pair_cases in patterns
        if n >= LEAST and (sessions := len({session for _, session, _ in pair_cases})) >= LEAST_SESSIONS
    ]  # fmt: skip
    across = sum(projects > 1 for projects, *_ in patterns)
    report = {"tasks": tasks, "patterns": items[:MOST_TOLD], "across_projects": across}
    return Step(report, message=f"{len(items)} patterns in {tasks} tasks.")
