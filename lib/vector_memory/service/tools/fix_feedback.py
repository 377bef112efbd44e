"""Whether a fix that was shown helped: read from what the session did next."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.exchanges import Exchange, ToolUse
from vector_memory.index.fixes.errors import signature
from vector_memory.index.fixes.fix_drafts import SIGNATURE_TAG
from vector_memory.index.fixes.fixes import is_failure, succeeded
from vector_memory.index.fixes.likeness import is_alike
from vector_memory.index.reader import TurnRead, read_exchanges
from vector_memory.model import Memory, Scope, Status
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.tools.failure_advice import SHOWN_MARK

log = logging.getLogger(__name__)

HELPED, MOST = 0.1, 0.95
FAILED, LEAST = 0.15, 0.1
VERDICTS = "verdicts"
MOST_VERDICTS = 50


def judge(ctx: Context, session: str, turn: TurnRead) -> int:
    """Weigh the fixes that a session was shown, or found itself, by what its last turn says came of them; return
    how many were weighed. Each session judges a fix once, so that reading it again changes nothing."""
    shown = {
        id.removeprefix(SHOWN_MARK): at
        for id, at in ctx.state.shown_at(session).items()
        if id.startswith(SHOWN_MARK)
    }
    waiting = [
        (shelf, memory)
        for shelf in (ctx.all_shelves() if shown else ())
        for memory in shelf.journal.by_ids(list(shown)).values()
        if _is_unjudged(memory, session)
    ]
    verdicts: list[tuple[Shelf, Memory, bool | None]] = [
        (shelf, memory, False)
        for shelf, memory in _refuted_fixes(ctx, session, turn.exchanges or ())
    ]
    if waiting:
        # Nothing is new where the daemon ended before it came to this: the reading of then is gone.
        exchanges = turn.exchanges or read_exchanges(turn.path, final=True)
        calls = [call for exchange in exchanges for call in exchange.calls]
        verdicts += [
            (shelf, memory, _verdict(memory, calls, shown[memory.id])) for shelf, memory in waiting
        ]
    decided = [(shelf, memory, helped) for shelf, memory, helped in verdicts if helped is not None]
    for shelf, memory, helped in decided:
        _weigh(ctx, shelf, memory, session, helped)
    return len(decided)


def _is_unjudged(memory: Memory, session: str) -> bool:
    return memory.status is Status.ACTIVE and session not in (memory.extra.get(VERDICTS) or {})


def _refuted_fixes(
    ctx: Context, session: str, exchanges: Sequence[Exchange]
) -> Iterable[tuple[Shelf, Memory]]:
    """Yield the fixes that a session found itself and whose errors came again in it: what had seemed to
    mend them did not, or not for long."""
    failures = [call for exchange in exchanges for call in exchange.calls if is_failure(call)]
    last_seen = {_signature_of(call): call.at for call in failures if call.at}
    for shelf in ctx.all_shelves() if last_seen else ():
        scope = Scope(sessions=(session,), tags=tuple(SIGNATURE_TAG + sign for sign in last_seen))
        for memory in shelf.journal.recent(scope, MOST_VERDICTS):
            at = last_seen.get(str(memory.extra.get("signature")))
            if at and at > memory.created_at and _is_unjudged(memory, session):
                yield shelf, memory


def _verdict(memory: Memory, calls: Sequence[ToolUse], shown_at: datetime) -> bool | None:
    """Whether the fix helped: the first that comes after it was shown decides, the same error again
    or the same command well done. None while neither came."""
    families = memory.extra.get("families") or ()
    for call in calls:
        if call.at is None or call.at <= shown_at or not call.command:
            continue
        if is_failure(call) and _met_error(memory, call):
            return False
        if succeeded(call, families):
            return True
    return None


def _met_error(fix: Memory, call: ToolUse) -> bool:
    """Whether a call met the error of a fix, or one that the fix is brought for as well."""
    if _signature_of(call) == fix.extra.get("signature"):
        return True
    try:
        return is_alike(fix.extra, redact.clean(call.output).text, redact.clean(call.command).text)
    except UnsafeTextError:
        return False


def _signature_of(call: ToolUse) -> str:
    try:
        return signature(redact.clean(call.output).text, redact.clean(call.command).text)
    except UnsafeTextError:
        return ""


def _weigh(ctx: Context, shelf: Shelf, memory: Memory, session: str, helped: bool) -> None:
    # Another call of this turn may have weighed it, and somebody may have forgotten it.
    memory = shelf.journal.get(memory.id)
    if not _is_unjudged(memory, session):
        return
    if helped:
        confidence = max(memory.confidence, min(MOST, memory.confidence + HELPED))
    else:
        confidence = min(memory.confidence, max(LEAST, memory.confidence - FAILED))
    verdicts = {**(memory.extra.get(VERDICTS) or {}), session: "helped" if helped else "failed"}
    extra = {**memory.extra, VERDICTS: dict(list(verdicts.items())[-MOST_VERDICTS:])}
    weighed = replace(memory, confidence=round(confidence, 4), extra=extra)
    shelf.journal.update(weighed, memory)
    ctx.count("fixes_helped" if helped else "fixes_failed")
    ctx.notify()
