"""`causal_debug`: what came before a failure, what mended it, and how tasks ended that took a step and that did
not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from vector_memory.errors import BadInputError
from vector_memory.index.topics.turns import terms_of
from vector_memory.model import CAUSE
from vector_memory.observe.learning.figures import NOT_ENOUGH
from vector_memory.observe.learning.outcomes import Task, Trouble
from vector_memory.observe.learning.tasks import EDIT
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.capture import step_log
from vector_memory.service.learning import counted_records
from vector_memory.service.learning.counted_records import CountedRecord
from vector_memory.service.think import ledger

ANALYSES = "causal_analysis"
BEFORE, MOST_CASES, MOST_ENDS, MOST_BEFORE = 5, 10, 5, 8
ALIKE = 0.7
"""The share of an error's telling words that must stand in a known one, or the other way round."""
Met = tuple[Task, Trouble]


class CauseRequest(ledger.WorkRequest):
    """A failure is to be explained.

    Attributes:
        error: its line; or `session`, whose failures are meant.
        step: a command line: how did tasks end that ran it, and those that did not?
        dry_run: without, what was found is kept as a memory of the project.
    """

    error: str = messages.maybe_text(4_000)
    step: str = messages.maybe_text(300)


def explain(ctx: Context, request: CauseRequest) -> ledger.Answer:
    """Return what came before a failure and what mended it, in all tasks that met it.

    Raises:
        BadInputError: neither an error nor a session was named.

    Returns:
        In how many `tasks` of how many of the same kinds (`of`) it was met; the `cases`, the newest first, each with
        what was done right before it and what ended it ("" for nothing known); what ended it how often
        (`mended_by`), and what stood right before it in these cases (`before`); how tasks ended that took a step and
        that did not (`with_step`), of which nobody chose by lot: a difference is a hint and no proof; and the `id` of
        the memory that was kept.
    """
    if not (request.error or request.session):
        raise BadInputError(
            "There is nothing to explain.", "Give the line of the `error`, or a `session`."
        )
    all_tasks = ledger.tasks_of(messages.asker_of(ctx, request))
    met = _met(all_tasks, request)
    shown = met[: -MOST_CASES - 1 : -1]
    stood = [_before(ctx, task, trouble) for task, trouble in shown]
    ended = (trouble.end for _, trouble in met if trouble.end)
    ends = Counter("a change of files" if end == EDIT else end for end in ended)
    before = Counter(step for steps in stood for step in dict.fromkeys(steps))
    kinds, tasks = {task.kind for task, _ in met}, len({task.key for task, _ in met})
    like, job = [task for task in all_tasks if task.kind in kinds], ledger.job_of(request.step)
    names = (f"with {job}", f"without {job}")
    summary = f"{NOT_ENOUGH}: such a failure was never met here."
    if met:
        how = f"it was ended in {len(ends)} ways" if ends else "nothing is known to end it"
        summary = f"Met in {tasks} of {len(like)} tasks of the same kinds, last {met[-1][0].at[:10]}; {how}."
    return ledger.answer(
        ctx,
        summary,
        tasks=tasks,
        of=len(like),
        cases=[
            {"at": task.at, "session": task.session, "before": steps}
            | {"job": trouble.job, "error": trouble.line, "mended_by": trouble.end}
            for (task, trouble), steps in zip(shown, stood, strict=True)
        ],
        mended_by=dict(ends.most_common(MOST_ENDS)),
        before=dict(before.most_common(MOST_BEFORE)),
        with_step=ledger.compare_ways(like, {job}, set(), names) if request.step else None,
        dry_run=request.dry_run,
        id=_keep(ctx, request, met, summary) if met and not request.dry_run else None,
    )


def _met(tasks: Sequence[Task], request: CauseRequest) -> list[Met]:
    """Return the failures that are meant, each with its task, the oldest first."""
    asked = terms_of(request.error)

    def is_meant(trouble: Trouble) -> bool:
        held = terms_of(f"{trouble.job} {trouble.line}")
        shared = len(asked & held)
        # A line without a telling word is like none.
        is_like = shared >= min(2, len(asked)) and shared >= ALIKE * min(len(asked), len(held))
        return is_like and bool(asked) == bool(request.error)

    return [
        (task, trouble)
        for task in tasks
        if request.session in ("", task.session)
        for trouble in task.trouble
        if is_meant(trouble)
    ]


def _before(ctx: Context, task: Task, trouble: Trouble) -> list[str]:
    """Return the steps right before a failure, as far as they are known."""
    steps = step_log.of_session(ctx, task.session)
    place = next((n for n, step in enumerate(steps) if step.sign == trouble.sign), 0)
    return [step.job or step.what for step in steps[max(0, place - BEFORE) : place]]


def _keep(ctx: Context, request: CauseRequest, met: Sequence[Met], summary: str) -> str | None:
    task, trouble = met[-1]
    text = f"`{trouble.job}`: {trouble.line}\n{summary}"
    key = ledger.key_of(trouble.sign or trouble.line)
    extra = {"cases": len(met)}
    record = CountedRecord(ANALYSES, key, text, kind=CAUSE, session=task.session, extra=extra)
    stored = counted_records.keep(ctx, ledger.project_of(ctx, request), record)
    ctx.audit("analyse", request.actor, [stored.id] if stored else [])
    return stored.id if stored else None
