"""predictive-patterns: which step follows which in the tasks of all projects, with counts. It is made anew
from the tasks that are kept, so that nothing counts twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from vector_memory.model import HEURISTICS, Scope
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import Step, Turn
from vector_memory.service.learning import learned_records
from vector_memory.system.json_in import Record

MOST_LEDGERS = 2_000
LEAST, LEAST_SESSIONS = 3, 2
MOST_TOLD = 50


@dataclass
class Pattern:
    """How often a step followed another, in tasks that were `done` and in all, where."""

    n: int = 0
    done: int = 0
    sessions: set[str] = field(default_factory=set)
    projects: set[str] = field(default_factory=set)


def step(ctx: Context, turn: Turn) -> Step:
    """Count what follows what.

    Returns:
        What it did, and where the next step begins.
    """
    found: dict[str, Pattern] = {}
    seen: set[str] = set()
    scope = Scope(collections=(HEURISTICS,), kinds=(learned_records.LEDGER,))
    for shelf in ctx.all_shelves():
        for memory in shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LEDGERS):
            for task in Record(memory.extra).parts("tasks"):
                # A fork of a session holds the tasks before it, too.
                if task.text("key") not in seen:
                    seen.add(task.text("key"))
                    _count(found, task, memory.source.session, memory.project)
    told = [
        {
            "text": name, "n": pattern.n, "done": pattern.done,
            "sessions": len(pattern.sessions), "projects": len(pattern.projects),
        }
        for name, pattern in found.items()
        if pattern.n >= LEAST and len(pattern.sessions) >= LEAST_SESSIONS
    ]  # fmt: skip
    told.sort(key=lambda each: (-each["projects"], -each["n"], each["text"]))  # type: ignore[operator]
    across = sum(len(pattern.projects) > 1 for pattern in found.values())
    report = {
        "tasks": len(seen),
        "patterns": told[:MOST_TOLD],
        "across_projects": across,
    }
    return Step(report, message=f"{len(told)} patterns in {len(seen)} tasks.")


def _count(found: dict[str, Pattern], task: Record, session: str, project: str) -> None:
    for one, other in pairwise(task.words("stages")):
        pattern = found.setdefault(f"{one} → {other}", Pattern())
        pattern.n += 1
        pattern.done += task.get("done") is True
        pattern.sessions.add(session)
        pattern.projects.add(project)
