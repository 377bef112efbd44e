"""`context_budget`: what sessions are given unasked, by compartment: the limits, what was used, and what it brought."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta

from vector_memory import config
from vector_memory.observe.learning.figures import Rate, rate
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


class CompartmentView(messages.Answer):
    """What comes by one way.

    Attributes:
        limit: tokens at most each time; `setting` changes that, "" where it is fixed.
        used: tokens that the session was given, `times` so often.
        all: the same of all sessions of the time.
        brought: how many of its notes were used in what followed, of those judged; None where nobody judges.
    """

    compartment: str
    limit: int
    setting: str
    used: int
    times: int
    all: int
    brought: Rate | None


def budget(ctx: Context, request: BudgetRequest) -> ledger.Answer:
    """Return the compartments of what is given unasked; or set a limit, which only the user does.

    Raises:
        BadInputError: the action or compartment is unknown, the limit is out of range, or an agent sets it.

    Returns:
        The `compartments`, the `session` whose use they tell, what it was given in all (`used`), the `cap` over all
        (0 for none), and how many `sessions` were given anything.
    """
    is_set = request.action == "set"
    summary = _set(ctx, request) if is_set else ""
    since = request.since or ctx.now() - timedelta(days=DAYS)
    used: defaultdict[str, Counter[str]] = defaultdict(Counter)
    times: defaultdict[str, Counter[str]] = defaultdict(Counter)
    ctx.state.flush()
    for entry in ctx.state.audit_entries(MOST_ENTRIES, since, "recall"):
        session, part, tokens = (entry.detail.get(name) for name in ("session", "part", "tokens"))
        if session and isinstance(part, str) and isinstance(tokens, int):
            used[str(session)][part] += tokens
            times[str(session)][part] += 1
    session, whole, sessions = request.session or next(iter(used), ""), Counter[str](), len(used)
    for given in used.values():
        whole.update(given)
    uses = ctx.state.use_counts("channel", since)
    views = []
    for part in PARTS:
        count = uses.get(PROCEDURES if part == GUIDANCE else part)
        brought = rate(count.used, count.shown) if count else None
        limit = FIXED.get(part) or int(getattr(ctx.settings, SETTINGS[part]))
        figures = (used[session][part], times[session][part], whole[part])
        views.append(CompartmentView(part, limit, SETTINGS.get(part, ""), *figures, brought))
    total, cap = used[session].total(), ctx.settings.session_tokens
    if not summary and session:
        most = f" of at most {cap}" if cap else ""
        summary = f"{total} tokens{most} in this session, {whole.total()} in {sessions} sessions since {since:%Y-%m-%d}."
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


def _set(ctx: Context, request: BudgetRequest) -> str:
    name = SETTINGS[request.compartment]
    raw = {**config.read_file(ctx.home.config), name: request.tokens}
    config.validate(raw)
    if request.dry_run:
        return f"{name} would be {request.tokens}, is {getattr(ctx.settings, name)}. Nothing was changed."
    request.require_user("sets what sessions are given")
    config.save(ctx.home.config, raw)
    return f"{name} is {request.tokens}, in force within moments."
