"""benchmark-regression: how long recalls take on what is stored here, as `benchmark_suite` times them, compared with
earlier runs on this machine; nothing is counted as used."""

from __future__ import annotations

from vector_memory.journal.job_rows import WAITS
from vector_memory.observe.learning.figures import trend
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.think import measuring

QUESTIONS = 20
KEPT = 12


def step(ctx: Context, run: JobRun) -> Step:
    """Time the recalls, and compare their median with those of the last runs.

    Returns:
        What it did, and where the next step begins.
    """
    measured = measuring.recalls(ctx, QUESTIONS)
    if measured is None or measured.spread is None:
        return Step(message="Nothing is stored: there is nothing to time.", outcome=WAITS)
    p50, history = measured.value, run.before.numbers("history")
    verdict = trend(history, p50)
    report = {
        "recall_p50_ms": p50, "questions": measured.spread.n,
        "memories": sum(shelf.journal.count() for shelf in ctx.all_shelves()),
        "verdict": verdict, "history": [*history, p50][-KEPT:],
    }  # fmt: skip
    return Step(report, message=f"A recall takes {p50} {measured.told}: {verdict}.")
