"""Flags: what the observer found in calls, and how to see it. Of running sessions they lie in the state's file, one row
each; when a turn ends they become one record for each session, in the collection of assessments.

Every word in them went through redaction before.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace

from vector_memory.errors import NotFoundError, StoreFullError
from vector_memory.model import ASSESSMENTS, Memory, Scope
from vector_memory.observe.commands.findings import CATEGORIES
from vector_memory.service.base import messages, privacy, reach
from vector_memory.service.base.asker import asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.learning import counted_records
from vector_memory.service.learning.counted_records import CountedRecord

log = logging.getLogger(__name__)

KIND, PENDING = "assessment", "flag"
ASKED, FALSE = "asked", "false"
MOST_FLAGS = 200
MOST_TOLD = 12
MOST_SESSIONS = 10_000
_settling = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Flag:
    """What the observer found in a call, every word of it redacted.

    Attributes:
        id: the same for the same finding of the same call.
        folder: where the session was started; a session's record does not keep it.
        at: when, in ISO form.
        agent: a subagent made the call.
        text: what it was found in, `reason` why, and `target` what would be hit.
        topic: what the user had asked for.
        asked: the user had asked for just this.
        verdict: what the user says of it: `asked`, `false`, or "" for nothing.
    """

    id: str
    session: str = ""
    folder: str = ""
    at: str = ""
    tool: str = ""
    agent: bool = False
    category: str = ""
    severity: str = ""
    text: str = ""
    reason: str = ""
    target: str = ""
    topic: str = ""
    asked: bool = False
    verdict: str = ""


_KINDS = {field.name: str if field.type == "str" else bool for field in fields(Flag)}


def flags_in(values: Iterable[object]) -> list[Flag]:
    """Return the flags that were written as JSON, each with those of its fields that are of the right type, and
    nothing else: an import can bring records that nobody here has written."""
    rows = [row for row in values if isinstance(row, dict) and isinstance(row.get("id"), str)]
    return [
        Flag(
            **{name: row[name] for name, kind in _KINDS.items() if isinstance(row.get(name), kind)}
        )
        for row in rows
    ]


def note(ctx: Context, flags: Sequence[Flag]) -> None:
    """Keep flags until their turn ends: a daemon that is killed loses none."""
    for flag in flags:
        ctx.state.put_record(PENDING, flag.id, vars(flag), is_durable=False)


def settle(ctx: Context) -> int:
    """Make records of the flags of running sessions and return how many flags that were.

    Whatever interrupts it, nothing is lost or counted twice: a flag's row goes when a record has it, and a flag that
    a record has is not added again.

    Raises:
        StoreFullError: a store cannot be written; the flags stay.
    """
    settled = 0
    with _settling:
        by_session: dict[tuple[str, str], list[Flag]] = {}
        pending = flags_in(ctx.state.records(PENDING).values())
        for flag in sorted(pending, key=lambda flag: flag.at):
            by_session.setdefault((flag.session, flag.folder or "/"), []).append(flag)
        for (session, folder), session_flags in by_session.items():
            try:
                settled += _settle(ctx, session, folder, session_flags)
            except StoreFullError:
                raise
            except Exception as error:
                # One session's flags are not worth those of all the others.
                ctx.count("flags_dropped", len(session_flags))
                log.warning("the flags of session %s are not kept: %r", session, error)
            for flag in session_flags:
                ctx.state.put_record(PENDING, flag.id, None, is_durable=False)
    return settled


def _settle(ctx: Context, session: str, folder: str, flags: Sequence[Flag]) -> int:
    asker = asker_at(ctx, folder)
    if asker is None:
        return 0
    with privacy.for_folder(ctx, folder):
        stored_flags = _flags_of(counted_records.get(asker, ASSESSMENTS, session))
        # What is known stays as it is: the user may have marked it.
        merged = list({flag.id: flag for flag in [*stored_flags, *flags, *stored_flags]}.values())[
            :MOST_FLAGS
        ]
        is_kept = counted_records.keep_new(ctx, asker, _record(session, merged))
    return len(merged) - len(stored_flags) if is_kept else 0


def _flags_of(memory: Memory | None) -> list[Flag]:
    stored = memory.extra.get("flags") if memory is not None else None
    return flags_in(stored if isinstance(stored, list) else ())


def _record(session: str, flags: Sequence[Flag]) -> CountedRecord:
    """Return a session's record: in words what was found, in `extra` all of it."""
    upheld = [flag for flag in flags if flag.verdict != FALSE]
    counts = dict(Counter(flag.category for flag in upheld).most_common())
    summary = ", ".join(f"{n} {name}" for name, n in counts.items()) or "nothing that holds"
    topic = next((flag.topic for flag in reversed(flags) if flag.topic), "")
    lines = [f"Flagged in this session: {summary}.", *([f"Asked: {topic}"] if topic else [])]
    gravest_first = sorted(upheld, key=lambda flag: flag.severity != "high")
    lines += [
        f"- {flag.category} ({flag.severity}): {flag.text} \u2013 {flag.reason}"
        for flag in gravest_first[:MOST_TOLD]
    ]
    if len(upheld) > MOST_TOLD:
        lines.append(f"- and {len(upheld) - MOST_TOLD} more")
    return CountedRecord(
        ASSESSMENTS,
        session,
        "\n".join(lines),
        title=f"Flagged: {summary}",
        kind=KIND,
        tags=("observer", *counts),
        session=session,
        extra={"flags": [{**vars(flag), "folder": ""} for flag in flags]},
    )


# -- seeing them -----------------------------------------------------------------------------------


class FlagsRequest(messages.Filter):
    """The `k` newest flags behind the first `offset`, of some categories or of all."""

    k: int = messages.number(100, 1, 100_000)
    offset: int = messages.number(0, 0, 1_000_000)
    categories: tuple[str, ...] = messages.words("category", CATEGORIES)


@dataclass(frozen=True, kw_only=True)
class FlagView(Flag):
    """Something that was flagged, with the project that it was flagged in; `asked` as the user's verdict has it."""

    project: str


class FlagsAnswer(messages.Answer):
    """Flags, the newest first, how many there are in all, and of each category."""

    flags: list[FlagView]
    total: int
    counts: dict[str, int]


def _is_asked(flag: Flag) -> bool:
    return flag.verdict == ASKED or (flag.asked and not flag.verdict)


def flags(ctx: Context, request: FlagsRequest) -> FlagsAnswer:
    """Return what was flagged, newest first, with counts by category."""
    settle(ctx)
    asker = messages.asker_of(ctx, request)
    names = asker.names
    after = request.since.isoformat() if request.since else ""
    views = [
        FlagView(**vars(replace(flag, asked=_is_asked(flag))), project=names[memory.project])
        for memory in _records(asker.shelves, asker.scope.projects, asker.scope.sessions)
        if reach.holds(memory)
        for flag in _flags_of(memory)
    ]
    selected = [
        view
        for view in views
        if view.at >= after and (not request.categories or view.category in request.categories)
    ]
    selected.sort(key=lambda view: view.at, reverse=True)
    counts = Counter(view.category for view in selected)
    page = selected[request.offset : request.offset + request.k]
    return FlagsAnswer(page, len(selected), dict(counts.most_common()))


class MarkRequest(messages.Request):
    """The user says of a flag (`id`) of a session that just this was asked for (`asked`), that it is `false`, or
    neither ("")."""

    id: str = messages.text(200)
    session: str = messages.text(200)
    verdict: str = messages.one_of((ASKED, FALSE))


def mark(ctx: Context, request: MarkRequest) -> dict[str, object]:
    """Keep the user's verdict on a flag: what is false counts no more in figures and self-assessments.

    Raises:
        BadInputError: an agent judges.
        NotFoundError: there is no such flag.

    Returns:
        The flag's `id` and the `verdict` that is kept.
    """
    request.require_user("judges what was flagged")
    settle(ctx)
    # What a running session adds meanwhile must not put the record of before back.
    with _settling:
        for shelf in ctx.all_shelves():
            for memory in _records([shelf], None, (request.session,)):
                flags = {flag.id: flag for flag in _flags_of(memory)}
                if request.id not in flags:
                    continue
                flags[request.id] = replace(flags[request.id], verdict=request.verdict)
                marked = list(flags.values())
                counted_records.rewrite(ctx, shelf, memory, _record(request.session, marked))
                ctx.state.audit(
                    "mark_flag", request.actor, [memory.id], {"verdict": request.verdict}
                )
                return {"id": request.id, "verdict": request.verdict}
    raise NotFoundError("There is no such flag.", "`vector-memory flags` lists them.")


def figures(shelves: Sequence[Shelf], scope: Scope) -> dict[str, int]:
    """Return how often each category was flagged."""
    flags = (flag for memory in _records(shelves, scope.projects, ()) for flag in _flags_of(memory))
    return dict(Counter(flag.category for flag in flags if flag.verdict != FALSE).most_common())


def _records(
    shelves: Sequence[Shelf], projects: tuple[str, ...] | None, sessions: tuple[str, ...]
) -> Iterable[Memory]:
    scope = Scope(projects=projects, collections=(ASSESSMENTS,), sessions=sessions)
    for shelf in shelves:
        yield from shelf.journal.recent(scope, MOST_SESSIONS)
