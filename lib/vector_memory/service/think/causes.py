"""`causal_debug`: what came before a failure, what mended it, and how tasks ended that took a step and that did
not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vector_memory.errors import BadInputError
from vector_memory.index.topics.turns import terms_of
from vector_memory.model import CAUSE
from vector_memory.observe.learning.outcomes import Task, Trouble
from vector_memory.observe.learning.tasks import EDIT
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.capture import step_log
from vector_memory.service.learning import counted_records
from vector_memory.service.learning.counted_records import Record
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import NOT_ENOUGH, Comparison, compare

ANALYSES = "causal_analysis"
BEFORE, MOST_CASES = 5, 10
ALIKE = 0.7
"""The share of an error's telling words that must stand in a known one, or the other way round."""


@dataclass(frozen=True, kw_only=True)
class CauseRequest(messages.Request):
    """A failure is to be explained.

    Attributes:
        error: its line; or `session`, whose failures are meant.
        step: a command line: how did tasks end that ran it, and those that did not?
        dry_run: without, what was found is kept as a memory of the project.
    """

    error: str = messages.maybe_text(4_000)
    session: str = messages.word()
    step: str = messages.maybe_text(300)
    dry_run: bool = messages.flag(default=True)


@dataclass(frozen=True)
class Case:
    """A failure that was met: where, what was done right before it, and what ended it ("" for nothing known)."""

    at: str
    session: str
    job: str
    error: str
    before: list[str]
    mended_by: str


@dataclass(frozen=True)
class CauseAnswer:
    """What is known of a failure.

    Attributes:
        cases: the newest first; `tasks` in how many tasks of `of` it was met.
        mended_by: what ended it, how often.
        before: what stood right before it, how often, of the cases whose steps are known.
        with_step: tasks of the same kinds that took the step and those that did not. Who took it was not
            chosen by lot: a difference is a hint and no proof.
        id: of the memory that was kept.
    """

    told: str
    tasks: int
    of: int
    cases: list[Case]
    mended_by: dict[str, int]
    before: dict[str, int]
    with_step: Comparison | None = messages.spare()
    dry_run: bool = True
    id: str | None = messages.spare()


def explain(ctx: Context, request: CauseRequest) -> CauseAnswer:
    """Return what came before a failure and what mended it, in all tasks that met it.

    Raises:
        BadInputError: neither an error nor a session was named.
    """
    if not (request.error or request.session):
        raise BadInputError(
            "There is nothing to explain.", "Give the line of the `error`, or a `session`."
        )
    known = ledger.tasks_of(messages.asker_of(ctx, request))
    met = _met(known, request)
    cases = [_case(ctx, task, one) for task, one in met[-MOST_CASES:]][::-1]
    ends = Counter("a change of files" if one.end == EDIT else one.end for _, one in met if one.end)
    before = Counter(step for case in cases for step in dict.fromkeys(case.before))
    tasks = {task.key: task for task, _ in met}
    kinds = {task.kind for task in tasks.values()}
    like = [one for one in known if one.kind in kinds]
    told = f"{NOT_ENOUGH}: such a failure was never met here."
    if met:
        mended = _mended(ends)
        told = f"Met in {len(tasks)} of {len(like)} tasks of the same kinds, last {met[-1][0].at[:10]}{mended}."
    compared = _with_step(like, request.step) if request.step else None
    id = None
    if met and not request.dry_run:
        id = _keep(ctx, request, met, told)
    return CauseAnswer(
        told, len(tasks), len(like), cases, dict(ends.most_common(5)), dict(before.most_common(8)),
        compared, request.dry_run, id,
    )  # fmt: skip


def _mended(ends: Counter[str]) -> str:
    if not ends:
        return "; nothing is known to end it"
    (best, n), *others = ends.most_common()
    if others and others[0][1] == n:
        return f"; it was ended in {len(ends)} ways"
    return f"; ended {n} times of {ends.total()} so: {best}"


def _met(known: Sequence[Task], request: CauseRequest) -> list[tuple[Task, Trouble]]:
    """Return the failures that are meant, each with its task, the oldest first."""
    asked = terms_of(request.error)
    found = []
    for task in known:
        for one in task.trouble if request.session in ("", task.session) else ():
            held = terms_of(f"{one.job} {one.line}")
            shared = len(asked & held)
            is_like = shared >= min(2, len(asked)) and (
                shared >= ALIKE * len(asked) or shared >= ALIKE * len(held)
            )
            if not asked or is_like:
                found.append((task, one))
    return found


def _case(ctx: Context, task: Task, one: Trouble) -> Case:
    steps = step_log.of_session(ctx, task.session)
    place = next((n for n, step in enumerate(steps) if step.sign == one.sign), 0)
    before = [step.job or step.what for step in steps[max(0, place - BEFORE) : place]]
    return Case(task.at, task.session, one.job, one.line, before, one.end)


def _with_step(tasks: Sequence[Task], step: str) -> Comparison:
    job = ledger.job_of(step)
    took = [one for one in tasks if job in one.jobs]
    left = [one for one in tasks if job not in one.jobs]
    return compare(ledger.done_of(took), ledger.done_of(left), (f"with {job}", f"without {job}"))


def _keep(
    ctx: Context, request: CauseRequest, met: Sequence[tuple[Task, Trouble]], told: str
) -> str | None:
    task, one = met[-1]
    text = f"`{one.job}`: {one.line}\n{told}"
    key = ledger.key_of(one.sign or one.line)
    record = Record(
        ANALYSES, key, text, kind=CAUSE, session=task.session, extra={"cases": len(met)}
    )
    stored = counted_records.keep(ctx, ledger.project_of(ctx, request), record)
    ctx.audit("analyse", request.actor, [stored.id] if stored else [])
    return stored.id if stored else None
