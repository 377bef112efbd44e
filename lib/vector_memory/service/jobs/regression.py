"""benchmark-regression: how long recalls take on what is stored here, compared with earlier runs on this
machine. The questions are the titles and first words of memories; nothing is counted as used."""

from __future__ import annotations

from functools import partial

from vector_memory.journal.job_rows import WAITS
from vector_memory.model import Scope
from vector_memory.observe.learning.figures import compared
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.memory import lookup
from vector_memory.service.think import measuring

QUESTIONS, WORDS = 20, 12
KEPT = 12


def step(ctx: Context, run: JobRun) -> Step:
    """Time the recalls, and compare their median with those of the last runs.

    Returns:
        What it did, and where the next step begins.
    """
    asker = messages.asker_of(ctx, messages.Filter(all_projects=True, actor="job"))
    texts = [
        " ".join((memory.title or memory.text).split()[:WORDS])
        for shelf in asker.shelves
        for memory in shelf.journal.recent(Scope(), QUESTIONS)
    ]
    texts = [text for text in texts if text][:QUESTIONS]
    if not texts:
        return Step(message="Nothing is stored: there is nothing to time.", outcome=WAITS)
    lookup.answer(ctx, texts[0], asker, 10)
    acts = [partial(lookup.answer, ctx, text, asker, 10) for text in texts]
    p50 = round(measuring.times(acts, "recalls of ten").value, 2)
    history = run.before.numbers("history")
    verdict = compared(history, p50)
    report = {
        "recall_p50_ms": p50, "questions": len(texts),
        "memories": sum(shelf.journal.count() for shelf in asker.shelves),
        "verdict": verdict, "history": [*history, p50][-KEPT:],
    }  # fmt: skip
    return Step(report, message=f"A recall takes {p50} ms (median of {len(texts)}): {verdict}.")
