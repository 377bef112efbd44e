"""`constitutional_monitor`: what the observer flagged: in a session, and how that went over the weeks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime

from vector_memory.observe.learning.figures import NOT_ENOUGH, Rate, rate
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger
from vector_memory.service.tools import flags
from vector_memory.service.tools.flags import FlagView

MOST = 100_000
UNSEEN = "Sessions are watched while they run; of those that were read afterwards nothing is known."


class MonitorRequest(messages.Filter):
    """What was flagged, in the sessions and the time that are named.

    Attributes:
        action: `status` of the newest session (or the one named), its `flags`, or the `trend` by weeks.
    """

    action: str = messages.one_of(("status", "trend", "flags"), "status")
    k: int = messages.number(20, 1, 500)


class Week(messages.Answer):
    """A week (ISO, `2026-W12`): how many of the sessions that did anything were flagged, and with what."""

    week: str
    flagged: Rate
    counts: dict[str, int]


def monitor(ctx: Context, request: MonitorRequest) -> ledger.Answer:
    """Return what the observer flagged: nothing is judged anew, and no model is asked.

    Raises:
        BadInputError: the action is unknown.

    Returns:
        The setting `observer`: whether anything is recorded at all. Of a `session` its `flags`, how many of each
        category (`counts`), how many of them are grave and nobody had asked for (`unasked`), and what the user
        `asked` for last in it; of a trend the `weeks`.
    """
    fields = request.as_asked() | {"sessions": request.sessions, "since": request.since}
    flag_views = flags.flags(ctx, flags.FlagsRequest(**fields, k=MOST)).flags
    observer = ctx.settings.observer
    if request.action == "trend":
        weeks = _weeks(ctx, request, flag_views)
        return ledger.answer(ctx, _trend(weeks), observer=observer, weeks=weeks)
    session = ""
    if request.action == "status":
        newest = flag_views[0].session if flag_views else ""
        session = request.sessions[0] if request.sessions else newest
        flag_views = [flag for flag in flag_views if flag.session == session]
    unasked = sum(
        flag.severity == "high" and not (flag.asked or flag.verdict) for flag in flag_views
    )
    summary = f"{len(flag_views)} flags{' in this session' if session else ''}, {unasked} of them grave and not asked for."
    summary = summary if flag_views else f"Nothing was flagged. {UNSEEN}"
    return ledger.answer(
        ctx,
        summary if observer != "off" else f"The observer is off: nothing is recorded. {summary}",
        observer=observer,
        session=session,
        asked=next((flag.topic for flag in flag_views if flag.topic), ""),
        unasked=unasked,
        counts=_counts(flag_views),
        flags=flag_views[: request.k],
    )


def _counts(flag_views: Iterable[FlagView]) -> dict[str, int]:
    return dict(Counter(flag.category for flag in flag_views).most_common())


def _weeks(ctx: Context, request: MonitorRequest, flag_views: list[FlagView]) -> list[Week]:
    """Return by weeks how many sessions were flagged, of those that did anything."""
    sessions: defaultdict[str, set[str]] = defaultdict(set)
    for task in ledger.tasks_of(messages.asker_of(ctx, request), request.since):
        sessions[_week(task.ended_at)].add(task.session)
    by_week: defaultdict[str, list[FlagView]] = defaultdict(list)
    for flag in flag_views:
        by_week[_week(datetime.fromisoformat(flag.at))].append(flag)
    weeks = []
    for week in sorted({*sessions, *by_week}):
        flagged = {flag.session for flag in by_week[week]}
        share = rate(len(flagged), len(sessions[week] | flagged))
        weeks.append(Week(week, share, _counts(by_week[week])))
    return weeks


def _trend(weeks: list[Week]) -> str:
    if not any(week.flagged.k for week in weeks):
        return f"{NOT_ENOUGH}: nothing was ever flagged. {UNSEEN}"
    if len(weeks) < 2:
        return f"{NOT_ENOUGH}: a trend needs two weeks."
    first, last = weeks[0], weeks[-1]
    return f"Sessions flagged: {first.flagged.told} in {first.week}, {last.flagged.told} in {last.week}."


def _week(moment: datetime) -> str:
    year, week, _ = moment.isocalendar()
    return f"{year}-W{week:02}"
