"""compliance-report: how each control of the standards stands by the figures of the last month, as a section of the
month's note in the folder that `reviews` names. No word of any memory is in it."""

from __future__ import annotations

from datetime import timedelta

from vector_memory.index.notes.daily_note import between_marks
from vector_memory.service.base.context import Context
from vector_memory.service.capture import session_summary
from vector_memory.service.governance import controls
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.text.note_names import note_name

SECTION = "compliance"


def step(ctx: Context, run: JobRun) -> Step:
    """Look at every control.

    Returns:
        What it did, and where the next step begins.
    """
    asked = controls.GovernanceRequest(since=run.now - controls.PERIOD)
    made = controls.report(ctx, asked)
    scores = {
        framework.id: "not measurable"
        if framework.score is None
        else f"{100 * framework.score:.0f} %"
        for framework in made.frameworks
    }
    gaps = [control.id for view in made.frameworks for control in view.controls if control.closes]
    report = {"since": made.since, "scores": scores, "gaps": gaps}
    message = ", ".join(f"{name}: {score}" for name, score in scores.items())
    if ctx.settings.reviews and not run.dry_run:
        month = ctx.local_now().replace(day=1) - timedelta(days=1)
        name = note_name(ctx.settings.monthly_note_name, month)
        section = between_marks(SECTION, made.markdown.strip())
        session_summary.put_section(ctx.settings.reviews, name, SECTION, section)
        message += f". Wrote {name}"
    return Step(report, message=f"{message}.")
