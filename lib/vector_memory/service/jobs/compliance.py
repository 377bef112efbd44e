"""compliance-report: figures of the last month that an audit asks for, out of the audit log and the stores. No
word of any memory is in it."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

from vector_memory.model import Scope
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import Step, Turn
from vector_memory.service.tools import flags

MONTH = timedelta(days=31)
MOST_ENTRIES = 100_000
MOST_MEMORIES = 100_000


def step(ctx: Context, turn: Turn) -> Step:
    """Gather the figures.

    Returns:
        What it did, and where the next step begins.
    """
    since = turn.now - MONTH
    entries = ctx.state.audit_entries(MOST_ENTRIES, since)
    shelves = ctx.all_shelves()
    counters = ctx.state.totals()
    sensitive: Counter[str] = Counter()
    for shelf in shelves:
        for memory in shelf.journal.iter_memories(Scope(), limit=MOST_MEMORIES):
            sensitive[memory.sensitivity.value] += 1
    problem = ctx.state.audit_break()
    report = {
        "since": since.date().isoformat(),
        "entries": len(entries),
        "actions": dict(Counter(entry.action for entry in entries).most_common()),
        "actors": dict(Counter(entry.actor for entry in entries).most_common()),
        "audit_log": problem or "as it was written",
        "memories": sum(shelf.journal.count() for shelf in shelves),
        "sensitivity": dict(sensitive),
        "redactions": counters.get("redactions", 0),
        "texts_dropped": counters.get("texts_dropped", 0),
        "flags": flags.figures(shelves, Scope()),
        "trusted_folders": len(ctx.state.trusted_folders()),
        "jobs_failed": counters.get("jobs_failed", 0),
    }
    return Step(report, message="The figures are here; the mapping to controls is not there yet.")
