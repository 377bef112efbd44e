"""`constitutional_monitor`: what the observer flagged: in a session, and how that went over the weeks."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime

from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import NOT_ENOUGH, Share, share
from vector_memory.service.tools import flags
from vector_memory.service.tools.flags import FlagView

ACTIONS = ("status", "trend", "flags")
MOST = 100_000


@dataclass(frozen=True, kw_only=True)
class MonitorRequest(messages.Filter):
    """What was flagged, in the sessions and the time that are named.

    Attributes:
        action: `status` of the newest session (or the one named), its `flags`, or the `trend` by weeks.
    """

    action: str = messages.word(default="status")
    k: int = messages.number(20, 1, 500)


@dataclass(frozen=True)
class Week:
    """A week (ISO, `2026-W12`): how many of the sessions that did anything were flagged, and with what."""

    week: str
    flagged: Share
    counts: dict[str, int]


@dataclass(frozen=True)
class MonitorAnswer:
    """What was flagged.

    Attributes:
        observer: the setting of that name: whether anything is recorded at all.
        session: the session that the status is of, and `asked` what the user asked for last in it.
        counts: how many flags of each category, `unasked` of those that are grave and nobody had asked for.
        told: the same in a sentence.
    """

    told: str
    observer: str
    session: str = ""
    asked: str = ""
    unasked: int = 0
    counts: dict[str, int] | None = messages.spare()
    flags: list[FlagView] | None = messages.spare()
    weeks: list[Week] | None = messages.spare()


def monitor(ctx: Context, request: MonitorRequest) -> MonitorAnswer:
    """Return what the observer flagged: nothing is judged anew, and no model is asked.

    Raises:
        BadInputError: the action is unknown.
    """
    ledger.require(request.action, ACTIONS)
    found = flags.flags(ctx, _flags_of(request)).flags
    observer = ctx.settings.observer
    if request.action == "trend":
        return _trend(ctx, request, found, observer)
    if request.action == "flags":
        counts = dict(Counter(one.category for one in found).most_common())
        return MonitorAnswer(
            f"{len(found)} flags.", observer, counts=counts, flags=found[: request.k]
        )
    session = request.sessions[0] if request.sessions else next((one.session for one in found), "")
    mine = [one for one in found if one.session == session]
    unasked = sum(one.severity == "high" and not (one.asked or one.verdict) for one in mine)
    counts = dict(Counter(one.category for one in mine).most_common())
    asked = next((one.topic for one in mine if one.topic), "")
    told = f"{len(mine)} flags, {unasked} of them grave and not asked for."
    if observer == "off":
        told = "The observer is off: nothing is recorded. " + told
    return MonitorAnswer(told, observer, session, asked, unasked, counts, mine[: request.k])


def _flags_of(request: MonitorRequest) -> flags.FlagsRequest:
    return flags.FlagsRequest(
        actor=request.actor,
        project=request.project,
        cwd=request.cwd,
        is_global=request.is_global,
        all_projects=request.all_projects,
        sessions=request.sessions,
        since=request.since,
        k=MOST,
    )


def _trend(
    ctx: Context, request: MonitorRequest, found: list[FlagView], observer: str
) -> MonitorAnswer:
    """Return by weeks how many sessions were flagged, of those that did anything."""
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for task in ledger.tasks_of(messages.asker_of(ctx, request), request.since, request.until):
        seen[_week(task.ended_at)].add(task.session)
    by_week: defaultdict[str, list[FlagView]] = defaultdict(list)
    for flag in found:
        by_week[_week(datetime.fromisoformat(flag.at))].append(flag)
    weeks = []
    for week in sorted({*seen, *by_week}):
        flagged = {one.session for one in by_week[week]}
        counts = dict(Counter(one.category for one in by_week[week]).most_common())
        weeks.append(Week(week, share(len(flagged), len(seen[week] | flagged)), counts))
    if len(weeks) < 2:
        return MonitorAnswer(f"{NOT_ENOUGH}: a trend needs two weeks.", observer, weeks=weeks)
    first, last = weeks[0].flagged, weeks[-1].flagged
    told = f"Sessions flagged: {first.told} in {weeks[0].week}, {last.told} in {weeks[-1].week}."
    return MonitorAnswer(told, observer, weeks=weeks)


def _week(at: datetime) -> str:
    year, week, _ = at.isocalendar()
    return f"{year}-W{week:02}"
