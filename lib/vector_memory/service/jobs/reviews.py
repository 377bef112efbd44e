"""weekly-note, monthly-review and compliance-report: what happened in the last whole week and month, as a
section of a Markdown note in the folder that `reviews` names. Everything else in the note is the user's and stays."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from vector_memory import redact
from vector_memory.index.fixes import fix_drafts
from vector_memory.index.notes.daily_note import between_marks, section
from vector_memory.index.tools import clip
from vector_memory.journal.job_rows import FAILED, OK, WAITS
from vector_memory.model import DECISION, IN_NOTES, PASSAGE, Memory, Scope, Sensitivity
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import ProjectNames, newest_of, project_names
from vector_memory.service.capture import session_summary
from vector_memory.service.governance import agents, controls
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.jobs.weekly_backup import newest
from vector_memory.service.tools import flags
from vector_memory.text import days
from vector_memory.text.note_names import note_name

MOST_EACH, LINE_CHARS = 10, 180
SOON, UNUSED = timedelta(days=30), timedelta(days=90)
MOST_LOOKED_AT = 100_000
TOLD = Scope(levels=IN_NOTES, trusted=True)
"""Whose words a note tells, but for what is held back: the user's and a session's own."""


def weekly(ctx: Context, run: JobRun) -> Step:
    """Write what was decided, mended and left open from Monday to Sunday.

    Returns:
        What it did, and where the next step begins.
    """
    today = ctx.local_now().replace(hour=0, minute=0, second=0, microsecond=0)
    until = today - timedelta(days=today.weekday())
    since = until - timedelta(days=7)
    year, week, _ = since.isocalendar()
    lines = [*_period_lines(ctx, since, until), *_state_lines(ctx)]
    name = note_name(ctx.settings.weekly_note_name, since)
    return _write_note(ctx, run, name, f"Week {week} of {year}", lines)


def monthly(ctx: Context, run: JobRun) -> Step:
    """Write what memory holds that should be looked at: what expires, what nothing used, what is sensitive.

    Returns:
        What it did, and where the next step begins.
    """
    today = ctx.local_now().replace(hour=0, minute=0, second=0, microsecond=0)
    until = today.replace(day=1)
    since = (until - timedelta(days=1)).replace(day=1)
    lines = [
        *_content_lines(ctx, run.now),
        *_period_lines(ctx, since, until),
        *_state_lines(ctx),
        *_governance_lines(ctx, since),
    ]
    name = note_name(ctx.settings.monthly_note_name, since)
    return _write_note(ctx, run, name, f"{since:%B %Y}", lines)


def _governance_lines(ctx: Context, since: datetime) -> Iterator[str]:
    """Yield how the installation stands by each standard, and who should not act any more."""
    begin = days.shown_at(since, ctx.local_now()).astimezone(timezone.utc)
    request = controls.GovernanceRequest(actor="job", since=begin)
    for framework in controls.report(ctx, request).frameworks:
        if framework.score is not None:
            not_measurable = framework.not_measurable
            gap_note = f", {not_measurable} not measurable here" if not_measurable else ""
            yield f"{framework.name}: {framework.score:.0%} of {framework.measured} controls{gap_note} (evidence, no certificate)"
    for actor in agents.actors(ctx, agents.ActorsRequest(actor="job", action="review")).actors:
        yield f"{actor.sort} {actor.name or actor.id}: {actor.advice}"


def _write_note(ctx: Context, run: JobRun, name: str, heading: str, lines: Sequence[str]) -> Step:
    clean_lines = [str(redact.clean(line).text) for line in lines]
    report = {
        "note": name,
        "lines": len(clean_lines),
        "items": [{"text": line} for line in clean_lines],
    }
    if gap := _folder_gap(ctx):
        return replace(gap, report=report)
    if not run.dry_run:
        section_text = section("review", f"Memory: {heading}", clean_lines)
        session_summary.put_section(ctx.settings.reviews, name, "review", section_text)
    return Step(report, message=f"Wrote {name}." if not run.dry_run else "", outcome=OK)


def _folder_gap(ctx: Context) -> Step | None:
    """Return why no note can be written, None where one can. One that is set may come back: only what failed is tried
    again before the next week or month, when the note would be about that one."""
    folder = os.path.expanduser(ctx.settings.reviews)
    if not folder:
        message = (
            "No folder is set: `vector-memory config set reviews DIR` has it written as a note."
        )
        return Step(message=message, outcome=WAITS)
    if not os.path.isdir(folder):
        message = f"There is no folder {folder}: make it, mount what it is on, or set another one: `vector-memory config set reviews DIR`."
        return Step(message=message, outcome=FAILED)
    return None


def _period_lines(ctx: Context, since: datetime, until: datetime) -> Iterator[str]:
    """Yield what was decided, mended and left open between two midnights, as clocks on the wall show them."""
    shelves = ctx.all_shelves()
    names = project_names(shelves)
    now = ctx.local_now()
    begin, end = (days.shown_at(wall, now).astimezone(timezone.utc) for wall in (since, until))
    period = Scope(since=begin, until=end)
    scope = replace(TOLD, since=period.since, until=period.until)
    decision_scope, fix_scope = (
        replace(scope, kinds=(DECISION,)),
        replace(scope, tags=(fix_drafts.TAG,)),
    )
    listed_scope = period.without_records
    yield f"{sum(shelf.journal.count(listed_scope) for shelf in shelves):,} new memories"
    for title, ask in (
        ("Decided", lambda journal: journal.recent(decision_scope, MOST_EACH)),
        ("Fixed", lambda journal: journal.recent(fix_scope, MOST_EACH)),
        ("Open", lambda journal: journal.open_items(scope, MOST_EACH)),
    ):
        yield from _memory_lines(title, newest_of(shelves, ask), names)


def _memory_lines(title: str, memories: Sequence[Memory], names: ProjectNames) -> Iterator[str]:
    """Yield a line for each of the first memories, with the beginning of its id, by which any command accepts it."""
    for memory in memories[:MOST_EACH]:
        place = names[memory.project]
        yield f"{title}{f' ({place})' if place else ''}: {clip(memory.text, LINE_CHARS)} [{memory.id[:8]}]"


def _content_lines(ctx: Context, now: datetime) -> Iterator[str]:
    """Yield what expires soon, what was never used, what is sensitive, and what was redacted."""
    unused: Counter[str] = Counter()
    sensitive: Counter[str] = Counter()
    expiring: list[Memory] = []
    shelves = ctx.all_shelves()
    names = project_names(shelves)
    for shelf in shelves:
        scope = Scope().without_records
        for memory in shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LOOKED_AT):
            if memory.kind != PASSAGE and not memory.uses and memory.created_at < now - UNUSED:
                unused[memory.kind or "note"] += 1
            if memory.sensitivity in (Sensitivity.CONFIDENTIAL, Sensitivity.RESTRICTED):
                sensitive[names[memory.project] or "global"] += 1
            end = memory.expires_at or memory.valid_until
            is_told = TOLD.holds(memory) and not memory.is_held
            if is_told and end is not None and now < end <= now + SOON:
                expiring.append(memory)
    expiring.sort(key=lambda memory: memory.created_at, reverse=True)
    yield from _memory_lines("Expires soon", expiring, names)
    yield f"{sum(unused.values()):,} memories were never used in {UNUSED.days} days{_count_list(unused)}"
    yield f"{sum(sensitive.values()):,} memories are confidential or restricted{_count_list(sensitive)}"
    yield f"{ctx.state.totals().get('redactions', 0):,} secrets were taken out so far"


def _count_list(counts: Counter[str]) -> str:
    counted = ", ".join(f"{count:,} {name}" for name, count in counts.most_common(MOST_EACH))
    return f": {counted}" if counted else ""


def _state_lines(ctx: Context) -> Iterator[str]:
    """Yield what was flagged, which jobs failed, and how old the newest backup is."""
    flag_counts = flags.figures(ctx.all_shelves(), Scope())
    if flag_counts:
        yield "Flagged so far: " + ", ".join(f"{n} {name}" for name, n in flag_counts.items())
    for row in ctx.state.jobs().values():
        if row.outcome == FAILED:
            yield f"The job {row.name} failed: {row.message}"
    newest_backup = newest(ctx.home)
    yield (
        f"Last backup: {newest_backup:%Y-%m-%d}"
        if newest_backup
        else "There is no backup: `vector-memory backup`"
    )


SECTION = "compliance"


def compliance(ctx: Context, run: JobRun) -> Step:
    """Look at every control.

    Returns:
        What it did, and where the next step begins.
    """
    request = controls.GovernanceRequest(since=run.now - controls.PERIOD)
    governance = controls.report(ctx, request)
    scores = {
        framework.id: "not measurable"
        if framework.score is None
        else f"{100 * framework.score:.0f} %"
        for framework in governance.frameworks
    }
    gaps = [
        control.id for view in governance.frameworks for control in view.controls if control.closes
    ]
    report = {"since": governance.since, "scores": scores, "gaps": gaps}
    message = ", ".join(f"{name}: {score}" for name, score in scores.items())
    if ctx.settings.reviews and (gap := _folder_gap(ctx)):
        return replace(gap, report=report, message=f"{message}. {gap.message}")
    if ctx.settings.reviews and not run.dry_run:
        month = ctx.local_now().replace(day=1) - timedelta(days=1)
        name = note_name(ctx.settings.monthly_note_name, month)
        section = between_marks(SECTION, governance.markdown.strip())
        session_summary.put_section(ctx.settings.reviews, name, SECTION, section)
        message += f". Wrote {name}"
    return Step(report, message=f"{message}.")
