"""skill-discovery: steps that led to success at least three times in at least two sessions are proposed as a
procedure. Nothing is installed: the user confirms or drops it (`vector-memory review`)."""

from __future__ import annotations

from vector_memory.model import PROCEDURE, TRAILS, Memory, Scope
from vector_memory.service.base.context import Context
from vector_memory.service.jobs import derived, paging
from vector_memory.service.jobs.step import Step, Turn
from vector_memory.system.json_in import Record

AT_ONCE = 200
LEAST_WON, LEAST_SESSIONS = 3, 2
HOW = "skill"
ASKS = {"kind": PROCEDURE, "collection": "procedures"}


def step(ctx: Context, turn: Turn) -> Step:
    """Propose what the trails of a page have shown."""
    page = paging.page(ctx, turn.cursor, AT_ONCE, Scope(collections=(TRAILS,)))
    if page is None:
        return Step({"proposed": 0})
    shown = [trail for trail in page.memories if _has_worked(trail)]
    proposed = 0
    for trail in shown if not turn.dry_run else ():
        figures = Record(trail.extra)
        counts = {name: figures.number(name) for name in ("won", "n", "sessions")}
        text = (
            f"{trail.text} It worked in {counts['won']} of {counts['n']} tasks, "
            f"in {counts['sessions']} sessions."
        )
        proposed += derived.propose(
            ctx, page.shelf, derived.made(HOW, text, [trail], turn.now, counts), ASKS
        )
    told = [{"text": str(trail.text)} for trail in shown]
    report = {
        "trails": len(page.memories),
        "worked": len(shown),
        "proposed": proposed,
        "skills": told,
    }
    return Step(report, page.cursor, message=derived.hint(turn, proposed))


def _has_worked(trail: Memory) -> bool:
    figures = Record(trail.extra)
    return figures.number("won") >= LEAST_WON and figures.number("sessions") >= LEAST_SESSIONS
