"""`self_assess`: how tasks like a described one went here, and what helped or hindered them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from vector_memory.observe.learning import trails
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.learning import guidance, learned_records
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import LEAST, NOT_ENOUGH, Middle, Share, middle

MOST_LIKE, MOST_TROUBLE = 5, 5


@dataclass(frozen=True, kw_only=True)
class AssessmentRequest(messages.Request):
    """What a task that is to be done looks like: its words, and its kind where it is known."""

    task: str = messages.text(2_000)
    kind: str = messages.word()


@dataclass(frozen=True)
class TroubleView:
    """An error, in how many of the tasks it came, and what ended it ("" for nothing known)."""

    text: str
    n: int
    end: str


@dataclass(frozen=True)
class Assessment:
    """What is to be expected of a task.

    Attributes:
        kind: its kind, "" where its words do not say.
        compared: with how many tasks: those of its kind, or all where there is none.
        done: how many of them were done, of those of which it is known for sure.
        minutes: how long they took.
        retries: how often a job failed again right after it had failed, in all of them.
        trail: the steps that worked, "" for none that is proven.
        trouble: what went wrong more than once.
        like: the tasks whose words are most like it, with how much (0 to 1).
        verdict: what that says in one sentence.
    """

    kind: str
    compared: int
    done: Share
    minutes: Middle
    retries: int
    trail: str
    trouble: list[TroubleView]
    like: list[dict[str, object]]
    verdict: str


def assess(ctx: Context, request: AssessmentRequest) -> Assessment:
    """Return what earlier tasks say of a task."""
    asker = messages.asker_of(ctx, request)
    known = ledger.tasks_of(asker)
    kind = ledger.kind_for(request.task, request.kind)
    mine = [one for one in known if one.kind == kind] if kind else known
    near = ledger.like(known, request.task)[:MOST_LIKE]
    done = ledger.done_of(mine)
    minutes = middle([one.minutes for one in mine])
    met = Counter((one.line, one.job, one.end) for task in mine for one in task.trouble)
    trouble = [
        TroubleView(f"`{job}`: {line}", n, end) for (line, job, end), n in met.items() if n > 1
    ]
    return Assessment(
        kind,
        len(mine),
        done,
        minutes,
        sum(one.retries for one in mine),
        "" if request.all_projects else _trail(ctx, request, kind),
        sorted(trouble, key=lambda one: -one.n)[:MOST_TROUBLE],
        [{"alike": round(score, 2), **ledger.as_dict(task)} for score, task in near],
        _verdict(kind, done, minutes),
    )


def _trail(ctx: Context, request: AssessmentRequest, kind: str) -> str:
    asker = ledger.project_of(ctx, request)
    board = learned_records.board_of(guidance.board_record(asker))
    drawn = learned_records.trails_of(asker, board.trails)
    found = trails.fitting(drawn, kind, ctx.now()) or trails.fitting(drawn, trails.ANY, ctx.now())
    return found.text if found else ""


def _verdict(kind: str, done: Share, minutes: Middle) -> str:
    name = trails.NAMES.get(kind, "tasks")
    if not done.is_enough:
        return (
            f"{NOT_ENOUGH}: of {name} only {done.n} ended so that it is known; {LEAST} are needed."
        )
    time = (
        f"{minutes.median:g} min in the median ({minutes.low:g}-{minutes.high:g}, n = {minutes.n})"
    )
    return f"{name}: {done.told} were done; {time}."
