"""hierarchical-abstraction: what three sessions said is proposed as a principle or a procedure, what three findings say
about one thing as a learning, and what a principle has been worth as a heuristic: a preference, procedure or learning
that names a command is set beside the tasks of its project in which that command ran: how many of them went well,
between what the true share lies, and how those went in which it did not run."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import partial

from vector_memory import model
from vector_memory.index.tools import clip
from vector_memory.model import Memory, Scope
from vector_memory.observe.learning.figures import rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.tasks import EDIT, READ
from vector_memory.service.base.context import Context
from vector_memory.service.jobs import derived
from vector_memory.service.jobs.derived import AS_FACT, AS_PROCEDURE, HEURISTIC, TAG, Derivation
from vector_memory.service.jobs.paging import Page
from vector_memory.service.jobs.step import JobRun, Step, in_turn
from vector_memory.service.learning import learned_records
from vector_memory.service.memory.merging import sessions_of

FINDINGS = (model.CONCLUSION, model.CAUSE, model.SOLUTION)
LEAST, LINE_CHARS = 3, 160
LEAST_SESSIONS, MOST_SESSIONS = 2, 31
PROPOSED_AS = {
    model.PREFERENCE: {"kind": model.PREFERENCE, "priority": "HIGH"},
    model.SOLUTION: AS_PROCEDURE,
}
Tasks = Mapping[str, tuple[Task, Memory]]
"""Tasks by their keys, each with the record of the session that it is of."""


def step(ctx: Context, run: JobRun) -> Step:
    """Propose what a page of memories has come to, part by part.

    Returns:
        What it did, and where the next step begins.
    """
    return in_turn(ctx, run, PARTS)


def _finding_groups(ctx: Context, page: Page) -> Iterator[Derivation]:
    for members in derived.clusters(ctx, page.shelf, page.memories, _may_support, LEAST):
        sessions = {id for member in members for id in sessions_of(member)}
        if len(sessions) >= LEAST:
            similar = " · ".join(clip(member.text, LINE_CHARS) for member in members[1:LEAST])
            evidence = {"findings": len(members), "sessions": len(sessions)}
            yield Derivation(members, f"{members[0].text} Likewise: {similar}", evidence, AS_FACT)


def _may_support(memory: Memory) -> bool:
    """Whether a finding may support a principle: not one that was derived, nor others' words."""
    is_derived = TAG in memory.tags or memory.kind not in FINDINGS
    return not is_derived and bool(memory.entities) and memory.trust > 0 and not memory.is_held


def _proven_principles(_: Context, page: Page) -> Iterator[Derivation]:
    """Yield the principles of a store with which tasks went better than without: in five tasks at least, of two
    sessions, whose end a check or the user's word tells, with 95 % certainty."""
    if page.cursor.get("seq"):
        # A store is judged as a whole, on its last page.
        return
    by_project: dict[str, dict[str, tuple[Task, Memory]]] = defaultdict(dict)
    for task, record in learned_records.tasks_of_all([page.shelf]):
        if task.is_judged:
            by_project[record.project][task.key] = task, record
    for project, tasks in by_project.items():
        commands = {name for task, _ in tasks.values() for name in task.steps} - {READ, EDIT}
        for principle in page.shelf.journal.iter_memories(Scope(projects=(project,))):
            if _is_principle(principle):
                for command in _commands_named_in(principle.text, commands):
                    if (heuristic := _heuristic(principle, command, tasks)) is not None:
                        yield heuristic


def _is_principle(memory: Memory) -> bool:
    is_rule = memory.kind in (model.PREFERENCE, model.PROCEDURE) or memory.collection == "learnings"
    return is_rule and memory.trust > 0 and not memory.is_held and HEURISTIC not in memory.tags


def _commands_named_in(text: str, commands: Collection[str]) -> list[str]:
    """Return the commands that a text names; of `go` and `go test` only the longer one."""
    names = [name for name in commands if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]
    return sorted(
        name for name in names if not any(other.startswith(f"{name} ") for other in names)
    )


def _heuristic(principle: Memory, command: str, tasks: Tasks) -> Derivation | None:
    with_command = [(task, record) for task, record in tasks.values() if command in task.steps]
    kinds = {task.kind for task, _ in with_command}
    without_command = [
        task for task, _ in tasks.values() if command not in task.steps and task.kind in kinds
    ]
    records = {record.id: record for _, record in with_command}
    rate_with = rate(sum(task.done is True for task, _ in with_command), len(with_command))
    rate_without = rate(sum(task.done is True for task in without_command), len(without_command))
    is_enough = rate_with.is_enough and len(records) >= LEAST_SESSIONS
    if not is_enough or rate_with.low <= (
        rate_without.k / rate_without.n if rate_without.is_enough else 0.5
    ):
        return None
    text = (
        f"{principle.text} (Of {rate_with.n} tasks in which `{command}` ran {rate_with.k} went well: "
        f"{rate_with.low:.0%} to {rate_with.high:.0%} with 95 % certainty; without it {rate_without.k} of {rate_without.n}.)"
    )
    evidence = {
        "won": rate_with.k, "n": rate_with.n, "low": rate_with.low, "high": rate_with.high,
        "others_won": rate_without.k, "others_n": rate_without.n, "sessions": len(records),
    }  # fmt: skip
    sources = [principle, *list(records.values())[:MOST_SESSIONS]]
    return Derivation(sources, text, evidence, AS_FACT, command)


SESSIONS = Scope(collections=(model.HEURISTICS,), kinds=(learned_records.LEDGER,))
PARTS = tuple(
    partial(derived.proposed, how=how, scope=scope, find=find, counted=counted)
    for how, counted, scope, find in (
        (
            "principle",
            "found",
            Scope(kinds=tuple(PROPOSED_AS)),
            derived.said_in(LEAST, PROPOSED_AS),
        ),
        ("principle", "groups", Scope(kinds=FINDINGS), _finding_groups),
        (HEURISTIC, "borne_out", SESSIONS, _proven_principles),
    )
)
"""First what was said often is proposed, then findings about one thing together, then principles that outcomes speak
for."""
