"""What became of flags: one record for each session in the collection of assessments, and how to see them."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vector_memory.errors import StoreFullError, UnsafeTextError
from vector_memory.model import ASSESSMENTS, Memory, Scope
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.asker import asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.learning import counted_records
from vector_memory.service.learning.counted_records import Record
from vector_memory.service.memory.lookup import name_in, project_names
from vector_memory.service.tools import flag_buffer
from vector_memory.service.tools.flag_buffer import Flag, flag_of

log = logging.getLogger(__name__)

KIND = "assessment"
MOST_FLAGS = 200
MOST_TOLD = 12
MOST_SESSIONS = 10_000
_SHOWN = ("at", "category", "severity", "text", "reason", "tool", "asked", "topic", "session")
_settling = threading.Lock()


def settle(ctx: Context) -> int:
    """Make records of what is in the buffer and return how many flags that were.

    Whatever interrupts it, nothing is lost or counted twice: the buffer goes when its flags are stored, and a
    flag that a record has is not added again.

    Raises:
        StoreFullError: a store cannot be written; the buffer stays.
    """
    settled = 0
    with _settling:
        while True:
            taken, flags = flag_buffer.take(ctx.home)
            if not taken:
                return settled
            by_session: dict[tuple[str, str], list[Flag]] = {}
            for flag in flags:
                by_session.setdefault((flag.session, flag.folder or "/"), []).append(flag)
            for (session, folder), own in by_session.items():
                try:
                    settled += _settle(ctx, session, folder, own)
                except StoreFullError:
                    raise
                except Exception as error:
                    # One session's flags are not worth those of all the others.
                    ctx.count("flags_dropped", len(own))
                    log.warning("the flags of session %s are not kept: %r", session, error)
            flag_buffer.done(taken)


def _settle(ctx: Context, session: str, folder: str, flags: Sequence[Flag]) -> int:
    asker = asker_at(ctx, folder)
    if asker is None:
        return 0
    with privacy.for_folder(ctx, folder):
        known = counted_records.get(asker, ASSESSMENTS, session)
        before = _flags(known)
        merged = list({flag.id: flag for flag in [*before, *flags]}.values())[:MOST_FLAGS]
        if known is not None and len(merged) == len(before):
            return 0
        try:
            counted_records.keep(ctx, asker, _record(session, merged))
        except UnsafeTextError:
            ctx.count("texts_dropped")
            return 0
    return len(merged) - len(before)


def _flags(memory: Memory | None) -> list[Flag]:
    kept = memory.extra.get("flags") if memory is not None else None
    flags = map(flag_of, kept if isinstance(kept, list) else ())
    return [flag for flag in flags if flag is not None]


def _record(session: str, flags: Sequence[Flag]) -> Record:
    """Return a session's record: in words what was found, in `extra` all of it."""
    counts = dict(Counter(flag.category for flag in flags).most_common())
    told = ", ".join(f"{n} {name}" for name, n in counts.items())
    topic = next((flag.topic for flag in reversed(flags) if flag.topic), "")
    lines = [f"Flagged in this session: {told}.", *([f"Asked: {topic}"] if topic else [])]
    grave = sorted(flags, key=lambda flag: flag.severity != "high")
    lines += [
        f"- {flag.category} ({flag.severity}): {flag.text} \u2013 {flag.reason}"
        for flag in grave[:MOST_TOLD]
    ]
    if len(flags) > MOST_TOLD:
        lines.append(f"- and {len(flags) - MOST_TOLD} more")
    return Record(
        ASSESSMENTS,
        session,
        "\n".join(lines),
        title=f"Flagged: {told}",
        kind=KIND,
        tags=("observer", *counts),
        session=session,
        extra={
            "counts": counts,
            "high": sum(flag.severity == "high" and not flag.asked for flag in flags),
            "asked": topic,
            "flags": [
                {name: value for name, value in vars(flag).items() if name != "folder"}
                for flag in flags
            ],
        },
    )


# -- seeing them -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FlagsRequest(messages.Filter):
    """The `k` newest flags, of some categories or of all."""

    k: int = messages.number(100, 1, 100_000)
    categories: tuple[str, ...] = messages.words("category")


@dataclass(frozen=True, kw_only=True)
class FlagView:
    """Something that was flagged: a stretch of text, and why.

    Attributes:
        at: when, in ISO form.
        tool: the tool whose call or result it stood in.
        asked: the user had asked for it.
        topic: what the user had asked for in that turn.
    """

    at: str
    category: str
    severity: str
    text: str
    reason: str
    tool: str
    asked: bool
    topic: str
    session: str
    project: str


@dataclass(frozen=True)
class FlagsAnswer:
    """Flags, the newest first, how many there are in all, and of each category."""

    flags: list[FlagView]
    total: int
    counts: dict[str, int]


def flags(ctx: Context, request: FlagsRequest) -> FlagsAnswer:
    """Return what was flagged, newest first, with counts by category."""
    settle(ctx)
    asker = messages.asker_of(ctx, request)
    names = project_names(asker.shelves)
    after = request.since.isoformat() if request.since else ""
    views = [
        FlagView(
            **{name: getattr(flag, name) for name in _SHOWN},
            project=name_in(names, memory.project),
        )
        for memory in _records(asker.shelves, asker.scope.projects, asker.scope.sessions)
        for flag in _flags(memory)
    ]
    fit = [
        view
        for view in views
        if view.at >= after and (not request.categories or view.category in request.categories)
    ]
    fit.sort(key=lambda view: view.at, reverse=True)
    counts = Counter(view.category for view in fit)
    return FlagsAnswer(fit[: request.k], len(fit), dict(counts.most_common()))


def figures(shelves: Sequence[Shelf], scope: Scope) -> dict[str, int]:
    """Return how often each category was flagged."""
    total: Counter[str] = Counter()
    for memory in _records(shelves, scope.projects, ()):
        counts = memory.extra.get("counts")
        if isinstance(counts, dict):
            total.update({str(name): n for name, n in counts.items() if isinstance(n, int)})
    return dict(total.most_common())


def _records(
    shelves: Sequence[Shelf], projects: tuple[str, ...] | None, sessions: tuple[str, ...]
) -> Iterable[Memory]:
    scope = Scope(projects=projects, collections=(ASSESSMENTS,), sessions=sessions)
    for shelf in shelves:
        yield from shelf.journal.recent(scope, MOST_SESSIONS)
