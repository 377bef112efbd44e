"""`context_budget`: what sessions are given unasked, by compartment: the limits, what was used, and what it brought."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from vector_memory import config
from vector_memory.observe.learning.figures import rate
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_block import GUIDANCE, PARTS, SEARCH
from vector_memory.service.base.shown_notes import FAILURE, PROCEDURES, PROMPT, START
from vector_memory.service.learning import procedures
from vector_memory.service.think import ledger
from vector_memory.service.tools import failure_advice

SESSION = "session"
SETTINGS = {
    START: "start_tokens",
    PROMPT: "prompt_tokens",
    SEARCH: "facade_tokens",
    SESSION: "session_tokens",
}
"""The setting of each compartment that can be changed, and of the cap over all."""
FIXED = {FAILURE: failure_advice.FAILURE_TOKENS, GUIDANCE: procedures.MOST_TOKENS}
MOST_ENTRIES, DAYS = 20_000, 30


class BudgetRequest(ledger.WorkRequest):
    """The limits are shown, or one is to be set.

    Attributes:
        compartment: one of `SETTINGS`, for `set`; its limit is then `tokens`.
        session: the session whose use is told; the newest by default.
    """

    action: str = messages.one_of(("show", "set"), "show")
    compartment: str = messages.one_of(SETTINGS, SESSION)
    tokens: int = messages.number(0, 0, 100_000)


def budget(ctx: Context, request: BudgetRequest) -> ledger.Answer:
    """Return the compartments of what is given unasked; or set a limit, which only the user does.

    Raises:
        BadInputError: the action or compartment is unknown, the limit is out of range, or an agent sets it.

    Returns:
        The `compartments`: of what comes by one way the `limit` in tokens each time, the `setting` that changes it (""
        where it is fixed), what the session was given (`used`) so many `times`, what all sessions of the time (`all`),
        and how many of its notes were used in what followed, of those judged (`brought`; None where nobody judges).
        The `session` whose use they tell, what it was given in all (`used`), the `cap` over all (0 for none), and how
        many `sessions` were given anything.
    """
    is_set = request.action == "set"
    summary = _set(ctx, request) if is_set else ""
    since = request.since or ctx.now() - timedelta(days=DAYS)
    given = list(_given(ctx, since))
    session, sessions = (
        request.session or (given[0][0] if given else ""),
        len({s for s, _, _ in given}),
    )
    uses = ctx.state.use_counts("channel", since)
    views: list[dict[str, object]] = []
    for part in PARTS:
        count = uses.get(PROCEDURES if part == GUIDANCE else part)
        limit = FIXED.get(part) or int(getattr(ctx.settings, SETTINGS[part]))
        own = [tokens for whose, way, tokens in given if (whose, way) == (session, part)]
        views.append({
            "compartment": part, "limit": limit, "setting": SETTINGS.get(part, ""), "used": sum(own), "times": len(own),
            "all": sum(tokens for _, way, tokens in given if way == part),
            "brought": rate(count.used, count.shown) if count else None,
        })  # fmt: skip
    total, cap = sum(n for whose, _, n in given if whose == session), ctx.settings.session_tokens
    if not summary and session:
        most, whole = f" of at most {cap}" if cap else "", sum(tokens for _, _, tokens in given)
        summary = f"{total} tokens{most} in this session, {whole} in {sessions} sessions since {since:%Y-%m-%d}."
    return ledger.answer(
        ctx,
        summary or f"No session was given anything since {since:%Y-%m-%d}.",
        session=session,
        used=total,
        cap=cap,
        sessions=sessions,
        compartments=views,
        dry_run=request.dry_run if is_set else None,
    )


def _given(ctx: Context, since: datetime) -> Iterator[tuple[str, str, int]]:
    """Yield what sessions were given since a time, the newest first: the session, by which way, and its tokens."""
    ctx.state.flush()
    for entry in ctx.state.audit_entries(MOST_ENTRIES, since, "recall"):
        session, part, tokens = (entry.detail.get(name) for name in ("session", "part", "tokens"))
        if session and isinstance(part, str) and isinstance(tokens, int):
            yield str(session), part, tokens


def _set(ctx: Context, request: BudgetRequest) -> str:
    name = SETTINGS[request.compartment]
    raw = {**config.read_file(ctx.home.config), name: request.tokens}
    config.validate(raw)
    if request.dry_run:
        return f"{name} would be {request.tokens}, is {getattr(ctx.settings, name)}. Nothing was changed."
    request.require_user("sets what sessions are given")
    config.save(ctx.home.config, raw)
    return f"{name} is {request.tokens}, in force within moments."
