"""When a language model reads a session, where one is set: after each turn what is new, and what is over to its end. Where
it cannot be asked, the session waits and is read another time: after the next session that ends, by the job
`session-extraction-sweep`, or by the next daemon."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial

from vector_memory.errors import BadInputError, GenerationError, ModelAwayError, NotAskedError
from vector_memory.service.base.context import Context
from vector_memory.service.capture import model_ideas, model_topics
from vector_memory.service.capture.deferred import MINING
from vector_memory.system.json_in import Record

log = logging.getLogger(__name__)

GIVEN_UP_AFTER = 7
"""On so many days the model may fail at a session that is over. Not being asked is no failure, nor is a model that is
away or answers nobody: then it only waits."""
FAILURES = "model_failures"
"""Records of sessions at which it failed: on how many days, and the last of them; when it was tried, and how many
answers of the model there had been by then."""


def read_turn(ctx: Context, sessions: Iterable[str]) -> None:
    """Let the model read what is new in sessions that go on. What it cannot be asked for is read with their next turn."""
    try:
        model_ideas.mine(ctx, sessions, final=False)
    except (GenerationError, BadInputError) as error:
        log.warning("a turn waits for the model: %s", error)


def read_due(ctx: Context, passed: frozenset[str] = frozenset()) -> None:
    """Let the model read one session that is over, those first that waited longest since it failed at them, and then
    the next one: each is a piece of work of its own, so that others are not kept waiting.

    Args:
        passed: sessions that cannot be read now.
    """
    failures = ctx.state.records(FAILURES)
    due = sorted(
        (key for key in ctx.state.due_keys(MINING) if key not in passed),
        key=lambda key: failures.get(key, Record()).text("tried"),
    )
    if not due or not ctx.settings.generation_backend or ctx.stopping.is_set():
        return
    session = due[0]
    before = failures.get(session, Record())
    has_answered = bool(before) and ctx.generation.answers() > before.number("answers")
    try:
        # First what only a model finds: with few calls a day, topics as the rules word them wait better.
        is_read = model_ideas.mine(ctx, [session], final=True)
        if is_read:
            model_topics.refine(ctx, session)
    except (GenerationError, BadInputError) as error:
        log.warning("%d sessions wait for the model: %s", len(due), error)
        if not isinstance(error, NotAskedError) and not ctx.stopping.is_set():
            is_away = isinstance(error, (BadInputError, ModelAwayError))
            _note_failure(ctx, session, before, has_answered and not is_away)
        return
    except Exception:
        # A session that fails for a reason of its own stops none of the others.
        ctx.count("errors")
        log.exception("the model does not read session %s", session)
        if not ctx.stopping.is_set():
            _note_failure(ctx, session, before, has_answered)
        ctx.slowly(partial(read_due, ctx, passed | {session}))
        return
    if is_read and not ctx.stopping.is_set():
        ctx.state.mark_done(MINING, [session])
    if session in failures:
        ctx.state.put_record(FAILURES, session, None)
    ctx.slowly(partial(read_due, ctx, passed))


def _note_failure(ctx: Context, session: str, before: Record, is_its_own: bool) -> None:
    """Note that the model failed at a session today; after so many days it is left to the rules.

    Args:
        is_its_own: the model is there, and has answered others since it last failed at this one. Where it answers
            nobody, that says nothing of the session.
    """
    today = ctx.local_now().date().isoformat()
    is_counted = is_its_own and before.text("last") != today
    days = before.number("days") + is_counted
    is_given_up = days >= GIVEN_UP_AFTER
    if is_given_up:
        ctx.count("minings_given_up")
        ctx.state.mark_done(MINING, [session])
    noted = {
        "days": days,
        "last": today if is_counted else before.text("last"),
        "tried": ctx.now().isoformat(),
        "answers": ctx.generation.answers(),
    }
    ctx.state.put_record(FAILURES, session, None if is_given_up else noted)
