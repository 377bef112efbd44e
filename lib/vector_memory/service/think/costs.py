"""`cost_router` and `context_budget`: what sessions took of their models, in tokens and in money by a table of prices, and which
model did how well for which kind of task: it advises, and routes nobody's session. And what sessions are given unasked, by
compartment: the limits, what was used, and what it brought."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from statistics import median_high
from typing import NamedTuple

from vector_memory import config
from vector_memory.errors import BadInputError, UnsafeTextError
from vector_memory.index.reader import session_and_folder
from vector_memory.index.usage import Usage, total, usage_of
from vector_memory.model import HEURISTICS, Progress
from vector_memory.observe.learning.figures import NOT_ENOUGH, rate
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.tasks import kind_of
from vector_memory.service.base import messages, model_help
from vector_memory.service.base.asker import asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_block import GUIDANCE, PARTS, SEARCH
from vector_memory.service.base.shown_notes import FAILURE, PROCEDURES, PROMPT, START
from vector_memory.service.learning import counted_records, procedures
from vector_memory.service.learning.counted_records import CountedRecord
from vector_memory.service.think import ledger
from vector_memory.service.tools import failure_advice
from vector_memory.service.upkeep import setting_rights
from vector_memory.system.durable_files import hold_lock
from vector_memory.system.json_in import Record
from vector_memory.text import tables

USAGE = "usage"
"""The kind of record that says what a session took."""
PRICES = "prices"
"""In the data home: lines of prices that go before those of the product."""
LISTED = "prices listed in November 2026"
MILLION = 1_000_000


class CostRequest(ledger.WorkRequest):
    """What was taken is asked for, or which model to take.

    Attributes:
        by: what the rows are of.
        task: for `route`, what is to be done.
        cap: dollars a day; days above it are told. 0 for none.
    """

    action: str = messages.one_of(("report", "route", "prices"), "report")
    by: str = messages.one_of(("model", "day", "session", "project"), "model")
    task: str = messages.maybe_text(2_000)
    cap: int = messages.number(0, 0, 1_000_000)


Prices = list[tuple[str, list[float]]]


class CostRow(messages.Answer):
    """What one model, day, session or project took: tokens of each sort, and dollars by the table of prices, of the
    models that have a price there; None where none has."""

    name: str
    tokens: int
    usage: dict[str, int]
    dollars: float | None
    sessions: int


class ModelUse(NamedTuple):
    """What a session took of a model on a day; no dollars (None) where the model has no price."""

    session: str
    project: str
    day: str
    model: str
    usage: Usage
    dollars: float | None


def costs(ctx: Context, request: CostRequest, progress: Progress) -> ledger.Answer:
    """Return what sessions took, read from the transcripts that are still there and kept of those that are not.

    Raises:
        BadInputError: the action or what it is counted by is unknown, or a price is none.

    Returns:
        The `rows`; days `over` the cap with their dollars; `unpriced` models, whose tokens count, and no dollars;
        what the product's `own` calls of a model took today, with their caps. For `route` the `models` that did such
        tasks; for `prices` these, dollars for a million tokens, as lines.
    """
    prices = prices_of(ctx)
    if request.action == "prices":
        summary = f"Dollars for a million tokens, by {LISTED}. Put lines of your own into {ctx.home.path(f'{PRICES}.txt')}."
        lines = [f"{name} {' '.join(f'{price:g}' for price in row)}" for name, row in prices]
        return ledger.answer(ctx, summary, prices=lines)
    read_all(ctx, progress)
    uses = _model_uses(messages.asker_of(ctx, request), request.since, prices)
    if request.action == "route":
        return _recommend_model(ctx, request, uses)
    rows, days = _cost_rows(request.by, uses), _cost_rows("day", uses)
    dearer = [day for day in days if request.cap and (day.dollars or 0) > request.cap]
    unpriced = sorted({use.model for use in uses if use.dollars is None})
    tokens, dollars = sum(row.tokens for row in rows), sum(use.dollars or 0 for use in uses)
    count = len({use.session for use in uses})
    summary = f"{count} sessions, {tokens:,} tokens, ${dollars:,.2f} by {LISTED}"
    summary += f" without {', '.join(unpriced)}, which have none." if unpriced else "."
    return ledger.answer(
        ctx,
        summary,
        rows=rows[: request.k],
        over=[f"{day.name}: ${day.dollars:.2f}" for day in dearer],
        unpriced=unpriced,
        own=model_help.report(ctx),
    )


# -- what sessions took --


def read_all(ctx: Context, progress: Progress) -> None:
    """Store what sessions took, from the transcripts that have grown since they were read last."""
    paths = [
        cursor
        for cursor in ctx.state.cursors()
        if cursor.endswith(".jsonl") and os.path.isfile(cursor)
    ]
    for number, path in enumerate(sorted(paths)):
        if ctx.stopping.is_set():
            break
        ctx.hooks.give_way()
        progress(number, len(paths), "reading transcripts")
        with suppress(OSError, UnsafeTextError):
            _store_usage(ctx, path)


def _store_usage(ctx: Context, path: str) -> None:
    size, (session, cwd) = os.path.getsize(path), session_and_folder(path)
    asker = asker_at(ctx, cwd or "/")
    if asker is None or not session or not ctx.settings.capture:
        return
    key = f"{USAGE}:{session}"
    stored = counted_records.get(asker, HEURISTICS, key)
    name = os.path.basename(path)
    files = Record(stored.extra).part("files") if stored else Record()
    if files.part(name).number("size") == size:
        return
    rows = [
        [*day_and_model, asdict(usage)] for day_and_model, usage in sorted(usage_of(path).items())
    ]
    extra = {"files": {**files, name: {"size": size, "rows": rows}}}
    text = f"What a session took of its models: {sum(len(row) for row in rows)} figures."
    record = CountedRecord(HEURISTICS, key, text, kind=USAGE, session=session, extra=extra)
    counted_records.keep(ctx, asker, record)


def _model_uses(asker: messages.Asker, since: datetime | None, prices: Prices) -> list[ModelUse]:
    """Return what the sessions that an asker may see took since a day; stored rows of another form are skipped."""
    names = asker.names
    first_day = f"{since:%Y-%m-%d}" if since else ""
    uses = []
    for memory in ledger.records(asker, USAGE):
        session, project = memory.source.session, names.get(memory.project, "")
        files = Record(memory.extra).part("files")
        row_lists = (files.part(name).get("rows") for name in files)
        for row in (row for rows in row_lists if isinstance(rows, list) for row in rows):
            with suppress(TypeError, ValueError):
                day, model, usage = str(row[0]), str(row[1]), Usage(**row[2])
                if day >= first_day:
                    dollars = cost(usage, model, prices)
                    uses.append(ModelUse(session, project, day, model, usage, dollars))
    return uses


def _cost_rows(by: str, uses: Iterable[ModelUse]) -> list[CostRow]:
    groups: defaultdict[str, list[ModelUse]] = defaultdict(list)
    for use in uses:
        groups[getattr(use, by)].append(use)
    rows = []
    for name, group in groups.items():
        usage = total(use.usage for use in group)
        paid = [use.dollars for use in group if use.dollars is not None]
        count = len({use.session for use in group})
        dollars = round(sum(paid), 2) if paid else None
        rows.append(CostRow(name, usage.tokens, asdict(usage), dollars, count))
    if by == "day":
        return sorted(rows, key=lambda row: row.name, reverse=True)
    return sorted(rows, key=lambda row: (-(row.dollars or 0), -row.tokens))


# -- prices --


def prices_of(ctx: Context) -> Prices:
    """Return the table of prices: a model's name with `*`, and five numbers; the user's lines go first.

    Raises:
        BadInputError: a line of the user's is no price.
    """
    prices, user_lines = [], list[str]()
    with suppress(OSError):
        user_lines = tables.lines(PRICES, ctx.home.root)
    for line in (*user_lines, *tables.lines("model_prices")):
        name, *numbers = line.split()
        row = [float(number) for number in numbers if number.replace(".", "", 1).isdecimal()]
        if not len(row) == len(numbers) == 5:
            raise BadInputError(
                f"{ctx.home.path(f'{PRICES}.txt')}: {line[:60]!r} is no price.",
                "A model's name, then dollars for input, output, cache 5 minutes, cache 1 hour, cache read.",
            )
        prices.append((name, row))
    return prices


def cost(usage: Usage, model: str, prices: Prices) -> float | None:
    """Return what tokens of a model cost in dollars, None where it has no price."""
    rates = next((rates for name, rates in prices if fnmatchcase(model, name)), None)
    if rates is None:
        return None
    counts = (usage.input, usage.output, usage.cache_5m, usage.cache_1h, usage.cached)
    return sum(count * dollars for count, dollars in zip(counts, rates, strict=True)) / MILLION


# -- which model --


def _recommend_model(ctx: Context, request: CostRequest, uses: Sequence[ModelUse]) -> ledger.Answer:
    """Return how models did tasks of the same kind, the surest first, each with the median of what a session with
    such a task cost (None without a price); and the cheapest of those that did as well as any."""
    kind = kind_of(request.task)
    tasks = ledger.tasks_of(messages.asker_of(ctx, request), kind=kind)
    rates = {
        model: ledger.done_of(task for task in tasks if task.model == model)
        for model in {task.model for task in tasks if task.model and task.is_judged}
    }
    order = sorted(rates, key=lambda model: -rates[model].low)
    dollars = {model: _session_dollars(tasks, uses, model) for model in order}
    proven, kind_name = [model for model in order if rates[model].is_enough], kind or "all kinds"
    summary = (
        f"{NOT_ENOUGH}: fewer than two models did five tasks of {kind_name} whose end is known."
    )
    if len(proven) > 1:
        candidates = [model for model in proven if rates[model].high >= rates[proven[0]].low]
        best = min(candidates, key=lambda model: (dollars[model] is None, dollars[model] or 0))
        summary = (
            f"For {kind_name}: {best} is the cheapest of those of which none did surely better."
        )
    views = [{"model": model, "done": rates[model], "dollars": dollars[model]} for model in order]
    return ledger.answer(ctx, summary, models=views)


def _session_dollars(tasks: Iterable[Task], uses: Iterable[ModelUse], model: str) -> float | None:
    """Return the median of what a model cost in sessions in which it did one of these tasks, None without a price."""
    sessions = {task.session for task in tasks if task.model == model}
    by_session: defaultdict[str, float] = defaultdict(float)
    for use in uses:
        if use.session in sessions and use.model == model and use.dollars is not None:
            by_session[use.session] += use.dollars
    return round(median_high(by_session.values()), 2) if by_session else None


# -- what is given unasked (`context_budget`) --


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
    summary = _set_limit(ctx, request) if is_set else ""
    since = request.since or ctx.now() - timedelta(days=DAYS)
    given = list(_given_context(ctx, since))
    session = request.session or (given[0][0] if given else "")
    sessions = len({owner for owner, _, _ in given})
    uses = ctx.state.use_counts("channel", since)
    views: list[dict[str, object]] = []
    for compartment in PARTS:
        use_count = uses.get(PROCEDURES if compartment == GUIDANCE else compartment)
        limit = FIXED.get(compartment) or int(getattr(ctx.settings, SETTINGS[compartment]))
        session_tokens = [
            tokens for owner, way, tokens in given if (owner, way) == (session, compartment)
        ]
        views.append({
            "compartment": compartment, "limit": limit, "setting": SETTINGS.get(compartment, ""),
            "used": sum(session_tokens), "times": len(session_tokens),
            "all": sum(tokens for _, way, tokens in given if way == compartment),
            "brought": rate(use_count.used, use_count.shown) if use_count else None,
        })  # fmt: skip
    total, cap = (
        sum(tokens for owner, _, tokens in given if owner == session),
        ctx.settings.session_tokens,
    )
    if not summary and session:
        limit_note, all_tokens = (
            f" of at most {cap}" if cap else "",
            sum(tokens for _, _, tokens in given),
        )
        summary = f"{total} tokens{limit_note} in this session, {all_tokens} in {sessions} sessions since {since:%Y-%m-%d}."
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


def _given_context(ctx: Context, since: datetime) -> Iterator[tuple[str, str, int]]:
    """Yield what sessions were given since a time, the newest first: the session, by which way, and its tokens."""
    ctx.state.flush()
    for entry in ctx.state.audit_entries(MOST_ENTRIES, since, "recall"):
        session, compartment, tokens = (
            entry.detail.get(name) for name in ("session", "part", "tokens")
        )
        if session and isinstance(compartment, str) and isinstance(tokens, int):
            yield str(session), compartment, tokens


def _set_limit(ctx: Context, request: BudgetRequest) -> str:
    name = SETTINGS[request.compartment]
    with hold_lock(ctx.home.config_lock):
        raw = {**config.read_file(ctx.home.config), name: request.tokens}
        config.validate(raw)
        if request.dry_run:
            return f"{name} would be {request.tokens}, is {getattr(ctx.settings, name)}. Nothing was changed."
        setting_rights.require_allowed(ctx, request, name, "set", str(request.tokens))
        config.save(ctx.home.config, raw)
    return f"{name} is {request.tokens}, in force within moments."
