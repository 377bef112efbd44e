"""`meta_agent`: which agents, models, skills and procedures do worse than the rest, where chance hardly explains it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from vector_memory.model import PROCEDURE
from vector_memory.observe.learning.outcomes import Task, evidence
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.learning import came_into
from vector_memory.service.think.proportion import LEAST, SURE, Stratum, proportion, tails
from vector_memory.service.think.task_ledger import SESSION_ITSELF, tasks_of

AGENT, MODEL, SKILL = "agent", "model", "skill"
ADVICE = {
    AGENT: "Give such tasks to the session itself or another agent, or say in its description what it misses.",
    MODEL: "Try another model for such tasks.",
    SKILL: "Read what the skill tells to do in the tasks that failed, and mend it.",
    PROCEDURE: "Look through the procedure: it may be out of date (memory_verify, update_memory).",
}


@dataclass(frozen=True, kw_only=True)
class MetaRequest(messages.Request):
    """Who does worse than the rest?

    Attributes:
        since: only tasks that ended since.
        least: of fewer judged tasks nothing is said.
    """

    since: datetime | None = messages.moment()
    least: int = messages.number(LEAST, LEAST, 1_000)


@dataclass(frozen=True)
class Standing:
    """How one did against all others at the same kinds of tasks.

    Attributes:
        sort: `agent`, `model`, `skill` or `procedure`.
        n: its judged tasks, of which `done` were done; `low` to `high` is the 95 % interval of their share.
        others_n, others_done: the same of the others at these kinds.
        expected: how many it would have done as the others do, kind by kind.
        chance: how likely it is to be so far from that, on this side, by chance alone.
        verdict: `worse`, `better`, `no difference shown` or `not enough evidence`; so strict that of all that are
            compared together one such verdict in twenty answers errs.
        advice: what to do about it, "" for nothing.
    """

    sort: str
    name: str
    kinds: list[str]
    n: int
    done: int
    low: float
    high: float
    others_n: int
    others_done: int
    expected: float
    chance: float
    verdict: str
    advice: str


@dataclass(frozen=True)
class MetaAnswer:
    """All that could be compared, the worst first, and in a sentence what that says."""

    tasks: int
    judged: int
    compared: int
    least: int
    standings: list[Standing]
    summary: str


def underperformers(ctx: Context, request: MetaRequest) -> MetaAnswer:
    """Return who does worse than the rest at the same kinds of tasks."""
    known = tasks_of(ctx, request, request.since)
    judged = [task for task in known if task.is_judged]
    groups: dict[tuple[str, str], list[Task]] = {}
    for task in judged:
        for key in _marks(task):
            groups.setdefault(key, []).append(task)
    for name, task in _procedures(ctx, request, known):
        groups.setdefault((PROCEDURE, name), []).append(task)
    against = {key: _others(judged, some) for key, some in groups.items()}
    compared = sum(
        min(len(some), len(against[key])) >= request.least for key, some in groups.items()
    )
    found = [
        _standing(*key, some, against[key], request.least, compared) for key, some in groups.items()
    ]
    order = {"worse": 0, "better": 1, "no difference shown": 2}
    found.sort(key=lambda one: (order.get(one.verdict, 3), one.chance, -one.n, one.name))
    return MetaAnswer(len(known), len(judged), compared, request.least, found, _summary(found))


def _marks(task: Task) -> Iterator[tuple[str, str]]:
    if task.agent != SESSION_ITSELF:
        yield AGENT, task.agent
    if task.model:
        yield MODEL, task.model
    for skill in task.skills:
        yield SKILL, skill


def _procedures(
    ctx: Context, request: messages.Request, known: Sequence[Task]
) -> Iterator[tuple[str, Task]]:
    """Yield the procedures that a session was shown, each with the task that it came into."""
    own = [task for task in known if task.agent == SESSION_ITSELF]
    came = list(came_into.tasks_of_shown(ctx, own))
    ids = list({id for id, _ in came})
    found = {
        id: memory
        for shelf in messages.asker_of(ctx, request).shelves
        for id, memory in shelf.journal.by_ids(ids).items()
        if memory.kind == PROCEDURE
    }
    for id, into in came:
        if memory := found.get(id):
            yield f"{memory.title or memory.text[:60]} [{id[:8]}]", into


def _others(judged: Sequence[Task], some: Sequence[Task]) -> list[Task]:
    mine, kinds = {task.key for task in some}, {task.kind for task in some}
    return [task for task in judged if task.key not in mine and task.kind in kinds]


def _standing(
    sort: str, name: str, some: Sequence[Task], others: Sequence[Task], least: int, compared: int
) -> Standing:
    own, kinds = proportion(evidence(some)[0], len(some)), sorted({task.kind for task in some})
    found = tails(_stratum(kind, some, others) for kind in kinds)
    is_enough = min(len(some), len(others)) >= least
    # The more are compared, the more seem to differ by chance.
    limit = (1 - SURE) / 2 / max(1, compared)
    verdict = "no difference shown" if is_enough else "not enough evidence"
    if is_enough and min(found.few, found.many) <= limit:
        verdict = "worse" if found.few < found.many else "better"
    return Standing(
        sort=sort,
        name=name,
        kinds=kinds,
        n=own.n,
        done=own.done,
        low=own.low,
        high=own.high,
        others_n=len(others),
        others_done=evidence(others)[0],
        expected=found.expected,
        chance=round(min(found.few, found.many), 4),
        verdict=verdict,
        advice=ADVICE[sort] if verdict == "worse" else "",
    )


def _stratum(kind: str, some: Sequence[Task], others: Sequence[Task]) -> Stratum:
    mine = [task for task in some if task.kind == kind]
    theirs = [task for task in others if task.kind == kind]
    return Stratum(evidence(mine)[0], len(mine), evidence(theirs)[0], len(theirs))


def _summary(found: Sequence[Standing]) -> str:
    worse = [one for one in found if one.verdict == "worse"]
    if worse:
        told = (f"{one.sort} {one.name} ({one.done} of {one.n})" for one in worse)
        return f"Worse than the rest at the same kinds of tasks: {'; '.join(told)}."
    if any(one.verdict != "not enough evidence" for one in found):
        return "Nobody does worse than the rest by more than chance explains."
    return "Not enough evidence: too few tasks have an end that is known."
