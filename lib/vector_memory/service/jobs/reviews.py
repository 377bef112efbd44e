"""weekly-note, monthly-review and compliance-report: what happened in the last whole week and month, as a
section of a Markdown note in the folder that `reviews` names. Everything else in the note is the user's and stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

from vector_memory import redact
from vector_memory.index.fixes import fix_drafts
from vector_memory.index.notes.daily_note import between_marks, section
from vector_memory.index.tools import clip
from vector_memory.journal.job_rows import FAILED, OK, WAITS
from vector_memory.model import DECISION, PASSAGE, Memory, Scope, Sensitivity
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import ProjectNames, newest_of, project_names
from vector_memory.service.capture import session_summary
from vector_memory.service.governance import agents, controls
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.service.jobs.weekly_backup import newest
from vector_memory.service.tools import flags
from vector_memory.text.note_names import note_name

MOST_EACH, LINE_CHARS = 10, 180
SOON, UNUSED = timedelta(days=30), timedelta(days=90)
MOST_LOOKED_AT = 100_000


def weekly(ctx: Context, run: JobRun) -> Step:
    """Write what was decided, mended and left open from Monday to Sunday.

    Returns:
        What it did, and where the next step begins.
    """
    today = ctx.local_now().replace(hour=0, minute=0, second=0, microsecond=0)
    until = today - timedelta(days=today.weekday())
    since = until - timedelta(days=7)
    year, week, _ = since.isocalendar()
    lines = [*_happened(ctx, since, until), *_state(ctx)]
    name = note_name(ctx.settings.weekly_note_name, since)
    return _written(ctx, run, name, f"Week {week} of {year}", lines)


def monthly(ctx: Context, run: JobRun) -> Step:
    """Write what memory holds that should be looked at: what expires, what nothing used, what is sensitive.

    Returns:
        What it did, and where the next step begins.
    """
    today = ctx.local_now().replace(hour=0, minute=0, second=0, microsecond=0)
    until = today.replace(day=1)
    since = (until - timedelta(days=1)).replace(day=1)
    lines = [
        *_held(ctx, run.now),
        *_happened(ctx, since, until),
        *_state(ctx),
        *_governed(ctx, since),
    ]
    name = note_name(ctx.settings.monthly_note_name, since)
    return _written(ctx, run, name, f"{since:%B %Y}", lines)


def _governed(ctx: Context, since: datetime) -> Iterator[str]:
    """Yield how the installation stands by each standard, and who should not act any more."""
    asked = controls.GovernanceRequest(actor="job", since=since.astimezone(timezone.utc))
    for framework in controls.report(ctx, asked).frameworks:
        if framework.score is not None:
            left = framework.not_measurable
            beyond = f", {left} not measurable here" if left else ""
            yield f"{framework.name}: {framework.score:.0%} of {framework.measured} controls{beyond} (evidence, no certificate)"
    for who in agents.actors(ctx, agents.ActorsRequest(actor="job", action="review")).actors:
        yield f"{who.sort} {who.name or who.id}: {who.advice}"


def _written(ctx: Context, run: JobRun, name: str, heading: str, lines: Sequence[str]) -> Step:
    safe = [str(redact.clean(line).text) for line in lines]
    report = {"note": name, "lines": len(safe), "items": [{"text": line} for line in safe]}
    if not ctx.settings.reviews:
        hint = "`vector-memory config set reviews DIR` has it written as a note."
        return Step(report, message=f"No folder is set: {hint}", outcome=WAITS)
    if not run.dry_run:
        words = section("review", f"Memory: {heading}", safe)
        session_summary.put_section(ctx.settings.reviews, name, "review", words)
    return Step(report, message=f"Wrote {name}." if not run.dry_run else "", outcome=OK)


def _happened(ctx: Context, since: datetime, until: datetime) -> Iterator[str]:
    shelves = ctx.all_shelves()
    names = project_names(shelves)
    within = Scope(since=since.astimezone(timezone.utc), until=until.astimezone(timezone.utc))
    decided, fixed = replace(within, kinds=(DECISION,)), replace(within, tags=(fix_drafts.TAG,))
    listed, most = within.listed, 3 * MOST_EACH
    yield f"{sum(shelf.journal.count(listed) for shelf in shelves):,} new memories"
    for title, ask in (
        ("Decided", lambda journal: journal.recent(decided, most)),
        ("Fixed", lambda journal: journal.recent(fixed, most)),
        ("Open", lambda journal: journal.open_items(within, most)),
    ):
        yield from _lines_of(title, newest_of(shelves, ask), names)


def _lines_of(title: str, memories: Sequence[Memory], names: ProjectNames) -> Iterator[str]:
    """Yield a line for each memory that is the user's or a session's own word, with the beginning of
    its id, by which any command takes it."""
    own = [memory for memory in memories if memory.trust > 0 and not memory.is_held]
    for memory in own[:MOST_EACH]:
        place = names[memory.project]
        yield f"{title}{f' ({place})' if place else ''}: {clip(memory.text, LINE_CHARS)} [{memory.id[:8]}]"


def _held(ctx: Context, now: datetime) -> Iterator[str]:
    """Yield what expires soon, what was never used, what is sensitive, and what was redacted."""
    unused: Counter[str] = Counter()
    sensitive: Counter[str] = Counter()
    expiring: list[Memory] = []
    shelves = ctx.all_shelves()
    names = project_names(shelves)
    for shelf in shelves:
        scope = Scope().listed
        for memory in shelf.journal.iter_memories(scope, newest_first=True, limit=MOST_LOOKED_AT):
            if memory.kind != PASSAGE and not memory.uses and memory.created_at < now - UNUSED:
                unused[memory.kind or "note"] += 1
            if memory.sensitivity in (Sensitivity.CONFIDENTIAL, Sensitivity.RESTRICTED):
                sensitive[names[memory.project] or "global"] += 1
            ends = memory.expires_at or memory.valid_until
            if ends is not None and now < ends <= now + SOON:
                expiring.append(memory)
    expiring.sort(key=lambda memory: memory.created_at, reverse=True)
    yield from _lines_of("Expires soon", expiring, names)
    yield f"{sum(unused.values()):,} memories were never used in {UNUSED.days} days{_each(unused)}"
    yield f"{sum(sensitive.values()):,} memories are confidential or restricted{_each(sensitive)}"
    yield f"{ctx.state.totals().get('redactions', 0):,} secrets were taken out so far"


def _each(counts: Counter[str]) -> str:
    counted = ", ".join(f"{count:,} {name}" for name, count in counts.most_common(MOST_EACH))
    return f": {counted}" if counted else ""


def _state(ctx: Context) -> Iterator[str]:
    """Yield what was flagged, which jobs failed, and how old the newest backup is."""
    flagged = flags.figures(ctx.all_shelves(), Scope())
    if flagged:
        yield "Flagged so far: " + ", ".join(f"{n} {name}" for name, n in flagged.items())
    for row in ctx.state.jobs().values():
        if row.outcome == FAILED:
            yield f"The job {row.name} failed: {row.message}"
    last = newest(ctx.home)
    yield f"Last backup: {last:%Y-%m-%d}" if last else "There is no backup: `vector-memory backup`"


SECTION = "compliance"


def compliance(ctx: Context, run: JobRun) -> Step:
    """Look at every control.

    Returns:
        What it did, and where the next compliance begins.
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
