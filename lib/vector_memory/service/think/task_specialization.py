"""`task_specialization`: who does which kind of task how well, by what the task ledger knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from vector_memory.errors import BadInputError
from vector_memory.observe.learning import tasks
from vector_memory.observe.learning.outcomes import Task, evidence
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think.proportion import LEAST, difference, proportion
from vector_memory.service.think.task_ledger import tasks_of

MOST = 60


@dataclass(frozen=True, kw_only=True)
class SpecializationRequest(messages.Request):
    """Who does tasks of a kind well?

    Attributes:
        kind: one of `tasks.KINDS`, "" for each.
        candidates: only these agents or models, by a part of their name; all by default.
    """

    kind: str = messages.word()
    candidates: tuple[str, ...] = messages.words()


@dataclass(frozen=True)
class Candidate:
    """How one agent with one model did with tasks of a kind.

    Attributes:
        agent: the kind of subagent, `main` for the session itself.
        seen: how many tasks; of `n` of them a check, the user or an interruption says how they ended.
        done: how many of these were done; `rate` is their share (None of none), `low` and `high` its 95 % interval.
        minutes: the median; `errors` and `retries` are in all.
        is_enough: whether there are enough to say anything.
    """

    kind: str
    agent: str
    model: str
    seen: int
    n: int
    done: int
    rate: float | None
    low: float
    high: float
    minutes: float
    errors: int
    retries: int
    is_enough: bool


@dataclass(frozen=True)
class SpecializationAnswer:
    """Candidates by kind, the surest first (by the low end of the interval), and a sentence for each kind of which
    one is asked or has several candidates.

    Attributes:
        tasks: how many tasks were looked at, of which `judged` have a known end.
    """

    project: str
    tasks: int
    judged: int
    least: int
    candidates: list[Candidate]
    advice: list[str]


def specialization(ctx: Context, request: SpecializationRequest) -> SpecializationAnswer:
    """Return who did which kind of task how well.

    Raises:
        BadInputError: there is no such kind.
    """
    if request.kind and request.kind not in tasks.KINDS:
        raise BadInputError(
            f"There is no kind of task {request.kind[:40]!r}.", f"Kinds: {', '.join(tasks.KINDS)}."
        )
    known = tasks_of(ctx, request)
    groups: dict[tuple[str, str, str], list[Task]] = {}
    for task in known:
        if request.kind in ("", task.kind) and _is_asked_for(task, request.candidates):
            groups.setdefault((task.kind, task.agent, task.model), []).append(task)
    found = [_candidate(*key, some) for key, some in groups.items()]
    found.sort(key=lambda one: (one.kind, not one.is_enough, -one.low, -one.n, one.agent))
    place = messages.place_of(ctx, request)
    return SpecializationAnswer(
        project=place.name if place is not None and not request.all_projects else "",
        tasks=len(known),
        judged=sum(evidence(known)),
        least=LEAST,
        candidates=found[:MOST],
        advice=_advice(found, request.kind),
    )


def _is_asked_for(task: Task, candidates: Sequence[str]) -> bool:
    named = f"{task.agent} {task.model}".casefold()
    return not candidates or any(one.casefold() in named for one in candidates)


def _candidate(kind: str, agent: str, model: str, some: Sequence[Task]) -> Candidate:
    done, undone = evidence(some)
    share = proportion(done, done + undone)
    return Candidate(
        kind=kind,
        agent=agent,
        model=model or "unknown",
        seen=len(some),
        n=share.n,
        done=share.done,
        rate=share.rate if share.n else None,
        low=share.low,
        high=share.high,
        minutes=round(median(one.minutes for one in some), 1),
        errors=sum(one.errors for one in some),
        retries=sum(one.retries for one in some),
        is_enough=share.n >= LEAST,
    )


def _advice(found: Sequence[Candidate], asked: str) -> list[str]:
    kinds = dict.fromkeys(one.kind for one in found)
    told = [_of_kind(kind, [one for one in found if one.kind == kind]) for kind in kinds]
    if asked and not found:
        return [f"{asked}: not enough evidence: no such task is known."]
    return told


def _of_kind(kind: str, found: Sequence[Candidate]) -> str:
    """Return in a sentence what can be said of a kind; that two differ only where chance alone hardly does it."""
    enough = [one for one in found if one.is_enough]
    if not enough:
        most = max(one.n for one in found)
        return f"{kind}: not enough evidence: {most} judged tasks at most, {LEAST} are needed."
    best = enough[0]
    told = f"{kind}: {_named(best)} did {best.done} of {best.n} ({best.low:.0%} to {best.high:.0%})"
    if len(enough) == 1:
        return f"{told}; nobody else did {LEAST} of them, so there is nothing to compare it with."
    shares = [proportion(one.done, one.n) for one in enough]
    worse = [
        _named(one)
        for one, share in zip(enough[1:], shares[1:], strict=True)
        if difference(shares[0], share)[0] > 0
    ]
    if worse:
        return f"{told}, more often than {', '.join(worse)}."
    return f"{told}; that it differs from the others may be chance."


def _named(one: Candidate) -> str:
    return f"{one.agent} with {one.model}"
