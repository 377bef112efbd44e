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
from vector_memory.index.reader import head_of
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
    """What one of them took: tokens of each sort, and dollars by the table; None where a model in it has no
    price."""

    name: str
    tokens: int
    usage: dict[str, int]
    dollars: float | None
    sessions: int


class Took(NamedTuple):
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
    took = _taken(messages.asker_of(ctx, request), request.since, prices)
    if request.action == "route":
        return _route(ctx, request, took)
    rows, days = _rows(request.by, took), _rows("day", took)
    dearer = [day for day in days if request.cap and (day.dollars or 0) > request.cap]
    unpriced = sorted({part.model for part in took if part.dollars is None})
    tokens, dollars = sum(row.tokens for row in rows), sum(part.dollars or 0 for part in took)
    count = len({part.session for part in took})
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
    """Keep what the transcripts tell that have grown since they were read."""
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
            _read(ctx, path)


def _read(ctx: Context, path: str) -> None:
    size, (session, cwd) = os.path.getsize(path), head_of(path)
    asker = asker_at(ctx, cwd or "/")
    if asker is None or not session or not ctx.settings.capture:
        return
    key = f"{USAGE}:{session}"
    kept = counted_records.get(asker, HEURISTICS, key)
    name = os.path.basename(path)
    parts = Record(kept.extra).part("files") if kept else Record()
    if parts.part(name).number("size") == size:
        return
    rows = [[*at, asdict(usage)] for at, usage in sorted(usage_of(path).items())]
    extra = {"files": {**parts, name: {"size": size, "rows": rows}}}
    text = f"What a session took of its models: {sum(len(row) for row in rows)} figures."
    record = CountedRecord(HEURISTICS, key, text, kind=USAGE, session=session, extra=extra)
    counted_records.keep(ctx, asker, record)


def _taken(asker: messages.Asker, since: datetime | None, prices: Prices) -> list[Took]:
    """Return what the sessions that an asker may see took since a day; what is not as it was written counts as
    nothing."""
    names = asker.names
    first = f"{since:%Y-%m-%d}" if since else ""
    took = []
    for memory in ledger.records(asker, USAGE):
        session, project = memory.source.session, names.get(memory.project, "")
        files = Record(memory.extra).part("files")
        listed = (files.part(name).get("rows") for name in files)
        for row in (row for rows in listed if isinstance(rows, list) for row in rows):
            with suppress(TypeError, ValueError):
                day, model, usage = str(row[0]), str(row[1]), Usage(**row[2])
                if day >= first:
                    paid = cost(usage, model, prices)
                    took.append(Took(session, project, day, model, usage, paid))
    return took


def _rows(by: str, took: Iterable[Took]) -> list[CostRow]:
    groups: defaultdict[str, list[Took]] = defaultdict(list)
    for part in took:
        groups[getattr(part, by)].append(part)
    rows = []
    for name, parts in groups.items():
        whole = total(part.usage for part in parts)
        paid = [part.dollars for part in parts if part.dollars is not None]
        count = len({part.session for part in parts})
        dollars = round(sum(paid), 2) if paid else None
        rows.append(CostRow(name, whole.tokens, asdict(whole), dollars, count))
    if by == "day":
        return sorted(rows, key=lambda row: row.name, reverse=True)
    return sorted(rows, key=lambda row: (-(row.dollars or 0), -row.tokens))


# -- prices --


def prices_of(ctx: Context) -> Prices:
    """Return the table of prices: a model's name with `*`, and five numbers; the user's lines go first.

    Raises:
        BadInputError: a line of the user's is no price.
    """
    prices, own = [], list[str]()
    with suppress(OSError):
        own = tables.lines(PRICES, ctx.home.root)
    for line in (*own, *tables.lines("model_prices")):
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
    row = next((row for name, row in prices if fnmatchcase(model, name)), None)
    if row is None:
        return None
    sorts = (usage.input, usage.output, usage.cache_5m, usage.cache_1h, usage.cached)
    return sum(count * dollars for count, dollars in zip(sorts, row, strict=True)) / MILLION


# -- which model --


def _route(ctx: Context, request: CostRequest, took: Sequence[Took]) -> ledger.Answer:
    """Return how models did tasks like one, the surest first, each with what a session of such tasks took of it in
    the median (None without a price); and the cheapest of those that did as well as any."""
    kind = kind_of(request.task)
    tasks = ledger.tasks_of(messages.asker_of(ctx, request), kind=kind)
    done = {
        model: ledger.done_of(task for task in tasks if task.model == model)
        for model in {task.model for task in tasks if task.model and task.is_judged}
    }
    order = sorted(done, key=lambda model: -done[model].low)
    dollars = {model: _of_a_session(tasks, took, model) for model in order}
    proven, named = [model for model in order if done[model].is_enough], kind or "all kinds"
    summary = f"{NOT_ENOUGH}: fewer than two models did five tasks of {named} whose end is known."
    if len(proven) > 1:
        fit = [model for model in proven if done[model].high >= done[proven[0]].low]
        best = min(fit, key=lambda model: (dollars[model] is None, dollars[model] or 0))
        summary = f"For {named}: {best} is the cheapest of those of which none did surely better."
    views = [{"model": model, "done": done[model], "dollars": dollars[model]} for model in order]
    return ledger.answer(ctx, summary, models=views)


def _of_a_session(tasks: Iterable[Task], took: Iterable[Took], model: str) -> float | None:
    """Return what a session in which a model did such a task took of it in the median, None without a price."""
    mine = {task.session for task in tasks if task.model == model}
    paid: defaultdict[str, float] = defaultdict(float)
    for part in took:
        if part.session in mine and part.model == model and part.dollars is not None:
            paid[part.session] += part.dollars
    return round(median_high(paid.values()), 2) if paid else None


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
    summary = _set(ctx, request) if is_set else ""
    since = request.since or ctx.now() - timedelta(days=DAYS)
    given = list(_given(ctx, since))
    session = request.session or (given[0][0] if given else "")
    sessions = len({whose for whose, _, _ in given})
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
    setting_rights.require_allowed(ctx, request, name, "set", str(request.tokens))
    config.save(ctx.home.config, raw)
    return f"{name} is {request.tokens}, in force within moments."
