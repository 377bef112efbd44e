"""Heuristics: what a principle has been worth. A preference, procedure or learning that names a command is set beside
the tasks of its project in which that command ran: how many of them went well, between what the true share lies, and
how those went in which it did not run."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from vector_memory import model
from vector_memory.model import Memory, Scope
from vector_memory.observe.learning.figures import rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.tasks import EDIT, READ
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.learning import learned_records

HOW = "heuristic"
LEAST_SESSIONS, MOST_SESSIONS = 2, 31
Tasks = Mapping[str, tuple[Task, Memory]]
"""Tasks by their keys, each with the record of the session that it is of."""


class BorneOut(NamedTuple):
    """A principle that outcomes speak for: the command that it names, the principle and the records of the sessions in
    which that ran, what is to be said of it, and the counts."""

    command: str
    sources: list[Memory]
    text: str
    evidence: Mapping[str, object]


def borne_out(shelf: Shelf) -> Iterator[BorneOut]:
    """Yield the principles of a store with which tasks went better than without: in five tasks at least, of two
    sessions, whose end a check or the user's word tells, with 95 % certainty."""
    by_project: dict[str, dict[str, tuple[Task, Memory]]] = defaultdict(dict)
    for task, record in learned_records.tasks_of_all([shelf]):
        if task.is_judged:
            by_project[record.project][task.key] = task, record
    for project, tasks in by_project.items():
        commands = {name for task, _ in tasks.values() for name in task.steps} - {READ, EDIT}
        for principle in shelf.journal.iter_memories(Scope(projects=(project,))):
            if _is_principle(principle):
                for command in _named(principle.text, commands):
                    if (worth := _judged(principle, command, tasks)) is not None:
                        yield worth


def _is_principle(memory: Memory) -> bool:
    is_rule = memory.kind in (model.PREFERENCE, model.PROCEDURE) or memory.collection == "learnings"
    return is_rule and memory.trust > 0 and not memory.is_held and HOW not in memory.tags


def _named(text: str, commands: Collection[str]) -> list[str]:
    """Return the commands that a text names: of those that begin alike the longest."""
    names = [name for name in commands if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]
    return sorted(name for name in names if not any(o.startswith(f"{name} ") for o in names))


def _judged(principle: Memory, command: str, tasks: Tasks) -> BorneOut | None:
    ran = [(task, record) for task, record in tasks.values() if command in task.steps]
    kinds = {task.kind for task, _ in ran}
    others = [
        task for task, _ in tasks.values() if command not in task.steps and task.kind in kinds
    ]
    records = {record.id: record for _, record in ran}
    won = rate(sum(task.done is True for task, _ in ran), len(ran))
    rest = rate(sum(task.done is True for task in others), len(others))
    is_enough = won.is_enough and len(records) >= LEAST_SESSIONS
    if not is_enough or won.low <= (rest.k / rest.n if rest.is_enough else 0.5):
        return None
    text = (
        f"{principle.text} (Of {won.n} tasks in which `{command}` ran {won.k} went well: "
        f"{won.low:.0%} to {won.high:.0%} with 95 % certainty; without it {rest.k} of {rest.n}.)"
    )
    evidence = {
        "won": won.k, "n": won.n, "low": won.low, "high": won.high,
        "others_won": rest.k, "others_n": rest.n, "sessions": len(records),
    }  # fmt: skip
    return BorneOut(command, [principle, *list(records.values())[:MOST_SESSIONS]], text, evidence)
