"""`cost_router`: what sessions took of their models, in tokens and in money by a table of prices, and which model
did how well for which kind of task. It advises; it routes nobody's session."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from vector_memory.errors import BadInputError, UnsafeTextError
from vector_memory.index.reader import head_of
from vector_memory.index.usage import Key, Usage, total, usage_of
from vector_memory.model import HEURISTICS, Progress, Scope
from vector_memory.service.base import messages, model_help
from vector_memory.service.base.asker import asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records
from vector_memory.service.learning.counted_records import Record
from vector_memory.service.think import ledger
from vector_memory.service.think.figures import NOT_ENOUGH, Share
from vector_memory.system.json_in import Record as Raw
from vector_memory.text import tables

ACTIONS = ("report", "route", "prices")
USAGE = "usage"
"""The kind of record that says what a session took."""
PRICES = "prices.txt"
"""In the data home: lines of prices that go before those of the product."""
LISTED = "prices listed in November 2026"
MILLION, MOST_SESSIONS = 1_000_000, 10_000


@dataclass(frozen=True, kw_only=True)
class CostRequest(messages.Request):
    """What was taken is asked for, or which model to take.

    Attributes:
        action: one of `ACTIONS`.
        by: `model`, `day`, `session` or `project`.
        task: for `route`, what is to be done.
        cap: dollars a day; days above it are told. 0 for none.
    """

    action: str = messages.word(default="report")
    by: str = messages.word(default="model")
    task: str = messages.maybe_text(2_000)
    since: datetime | None = messages.moment()
    cap: int = messages.number(0, 0, 1_000_000)
    k: int = messages.number(20, 1, 300)


@dataclass(frozen=True)
class CostRow:
    """What one of them took: tokens of each sort, and dollars by the table; None where a model in it has no
    price."""

    name: str
    tokens: int
    usage: dict[str, int]
    dollars: float | None
    sessions: int


@dataclass(frozen=True)
class ModelView:
    """How tasks of a kind went in sessions that a model worked for most, and what such a session cost in the
    median (None without a price)."""

    model: str
    done: Share
    dollars: float | None


@dataclass(frozen=True)
class CostAnswer:
    """What was taken.

    Attributes:
        over: days above the cap, with their dollars.
        unpriced: models without a price; their tokens count, and no dollars.
        own: what the product's own calls of a model took today, with their caps.
        models: for `route`, the models that did such tasks.
        prices: the table, dollars for a million tokens, as lines.
    """

    told: str
    rows: list[CostRow] | None = messages.spare()
    over: list[str] | None = messages.spare()
    unpriced: list[str] | None = messages.spare()
    own: dict[str, object] | None = messages.spare()
    models: list[ModelView] | None = messages.spare()
    prices: list[str] | None = messages.spare()


@dataclass(frozen=True)
class SessionUsage:
    """What a session took, by day and model."""

    session: str
    project: str
    by: dict[Key, Usage]

    @property
    def model(self) -> str:
        """The model that wrote most in it."""
        written: defaultdict[str, int] = defaultdict(int)
        for (_, model), usage in self.by.items():
            written[model] += usage.output
        return max(sorted(written), key=lambda one: written[one], default="")


def costs(ctx: Context, request: CostRequest, progress: Progress) -> CostAnswer:
    """Return what sessions took, read from the transcripts that are still there and kept of those that are not.

    Raises:
        BadInputError: the action or what it is counted by is unknown, or a price is none.
    """
    names = {"model", "day", "session", "project"}
    if request.action not in ACTIONS or request.by not in names:
        raise BadInputError(
            f"There is no {request.action!r} by {request.by!r}.",
            f"Actions: {', '.join(ACTIONS)}. By: {', '.join(sorted(names))}.",
        )
    prices = prices_of(ctx)
    if request.action == "prices":
        told = f"Dollars for a million tokens, by {LISTED}. Put lines of your own into {ctx.home.path(PRICES)}."
        return CostAnswer(
            told, prices=[f"{name} {' '.join(f'{one:g}' for one in row)}" for name, row in prices]
        )
    read_all(ctx, progress)
    sessions = known_sessions(messages.asker_of(ctx, request), request.since)
    if request.action == "route":
        return _route(ctx, request, sessions, prices)
    rows = _rows(request.by, sessions, prices)
    days = _rows("day", sessions, prices)
    over = [
        f"{one.name}: ${one.dollars:.2f}"
        for one in days
        if request.cap and (one.dollars or 0) > request.cap
    ]
    models = {model for one in sessions for _, model in one.by}
    unpriced = sorted(one for one in models if price(one, prices) is None)
    dollars = sum(one.dollars or 0 for one in _rows("session", sessions, prices))
    told = f"{len(sessions)} sessions, {sum(one.tokens for one in rows):,} tokens, ${dollars:,.2f} by {LISTED}"
    told += f" without {', '.join(unpriced)}, which have none." if unpriced else "."
    return CostAnswer(told, rows[: request.k], over, unpriced, model_help.report(ctx))


# -- what sessions took --


def read_all(ctx: Context, progress: Progress) -> int:
    """Keep what the transcripts tell that have grown since they were read; return how many that were."""
    paths = [one for one in ctx.state.cursors() if one.endswith(".jsonl") and os.path.isfile(one)]
    read = 0
    for number, path in enumerate(sorted(paths)):
        if ctx.stopping.is_set():
            break
        ctx.hooks.give_way()
        progress(number, len(paths), "reading transcripts")
        with suppress(OSError, UnsafeTextError):
            read += _read(ctx, path)
    return read


def _read(ctx: Context, path: str) -> bool:
    size, (session, cwd) = os.path.getsize(path), head_of(path)
    asker = asker_at(ctx, cwd or "/")
    if asker is None or not session or not ctx.settings.capture:
        return False
    key = f"{USAGE}:{session}"
    known = counted_records.get(asker, HEURISTICS, key)
    name = os.path.basename(path)
    parts = Raw(known.extra).part("files") if known else Raw()
    if parts.part(name).number("size") == size:
        return False
    rows = [[*at, asdict(usage)] for at, usage in sorted(usage_of(path).items())]
    extra = {"files": {**parts, name: {"size": size, "rows": rows}}}
    text = f"What a session took of its models: {sum(len(one) for one in rows)} figures."
    record = Record(HEURISTICS, key, text, kind=USAGE, session=session, extra=extra)
    return counted_records.keep(ctx, asker, record) is not None


def known_sessions(asker: messages.Asker, since: datetime | None = None) -> list[SessionUsage]:
    """Return what the sessions that an asker may see took since a day."""
    scope = Scope(projects=asker.scope.projects, collections=(HEURISTICS,), kinds=(USAGE,))
    names = {one.id: one.name for shelf in asker.shelves for one in shelf.journal.projects()}
    first = f"{since:%Y-%m-%d}" if since else ""
    found = []
    for shelf in asker.shelves:
        for memory in shelf.journal.recent(scope, MOST_SESSIONS):
            by: dict[Key, Usage] = {}
            files = Raw(memory.extra).part("files")
            for row in (row for name in files for row in _figures(files.part(name).get("rows"))):
                if row[0] >= first:
                    by.setdefault(row[:2], Usage()).add(row[2])
            if by:
                found.append(SessionUsage(memory.source.session, names.get(memory.project, ""), by))
    return found


def _figures(rows: object) -> Iterator[tuple[str, str, Usage]]:
    """Yield a file's rows as they were written; anything else counts as nothing."""
    for row in rows if isinstance(rows, list) else ():
        with suppress(TypeError, ValueError):
            day, model, usage = row
            yield str(day), str(model), Usage(**usage)


def _rows(
    by: str, sessions: Iterable[SessionUsage], prices: list[tuple[str, list[float]]]
) -> list[CostRow]:
    groups: defaultdict[str, list[tuple[str, Key, Usage]]] = defaultdict(list)
    for one in sessions:
        for (day, model), usage in one.by.items():
            names: Mapping[str, str] = {
                "model": model, "day": day, "session": one.session, "project": one.project,
            }  # fmt: skip
            groups[names[by]].append((one.session, (day, model), usage))
    rows = []
    for name, parts in groups.items():
        whole = total(usage for _, _, usage in parts)
        costs = [cost(usage, price(model, prices)) for _, (_, model), usage in parts]
        told = [one for one in costs if one is not None]
        dollars = round(sum(told), 2) if told else None
        count = len({session for session, _, _ in parts})
        rows.append(CostRow(name, whole.tokens, asdict(whole), dollars, count))
    if by == "day":
        return sorted(rows, key=lambda one: one.name, reverse=True)
    return sorted(rows, key=lambda one: (-(one.dollars or 0), -one.tokens))


# -- prices --


def prices_of(ctx: Context) -> list[tuple[str, list[float]]]:
    """Return the table of prices: a model's name with `*`, and five numbers; the user's lines go first.

    Raises:
        BadInputError: a line of the user's is no price.
    """
    lines = tables.lines("model_prices")
    with suppress(OSError), open(ctx.home.path(PRICES), encoding="utf-8") as file:
        own = [one.strip() for one in file]
        lines = [*(one for one in own if one and not one.startswith("#")), *lines]
    found = []
    for line in lines:
        name, *numbers = line.split()
        try:
            row = [float(one) for one in numbers]
        except ValueError:
            row = []
        if len(row) != 5 or min(row) < 0:
            raise BadInputError(
                f"{ctx.home.path(PRICES)}: {line[:60]!r} is no price.",
                "A model's name, then dollars for input, output, cache 5 minutes, cache 1 hour, cache read.",
            )
        found.append((name, row))
    return found


def price(model: str, prices: Iterable[tuple[str, list[float]]]) -> list[float] | None:
    """Return a model's five prices, None where it has none."""
    return next((row for name, row in prices if fnmatchcase(model, name)), None)


def cost(usage: Usage, row: list[float] | None) -> float | None:
    """Return what tokens cost in dollars, None without a price."""
    if row is None:
        return None
    sorts = (usage.input, usage.output, usage.cache_5m, usage.cache_1h, usage.cached)
    return sum(count * dollars for count, dollars in zip(sorts, row, strict=True)) / MILLION


# -- which model --


def _route(
    ctx: Context,
    request: CostRequest,
    sessions: list[SessionUsage],
    prices: list[tuple[str, list[float]]],
) -> CostAnswer:
    """Return how models did tasks like one, the cheapest first of those that did as well as any."""
    kind = ledger.kind_for(request.task, "")
    tasks = [
        one
        for one in ledger.tasks_of(messages.asker_of(ctx, request))
        if not kind or one.kind == kind
    ]
    by_model: defaultdict[str, list[SessionUsage]] = defaultdict(list)
    for one in sessions:
        by_model[one.model].append(one)
    views = []
    for model, mine in by_model.items():
        names = {one.session for one in mine}
        done = ledger.done_of(task for task in tasks if task.session in names)
        paid = sorted(
            sum(cost(usage, price(model, prices)) or 0 for usage in one.by.values()) for one in mine
        )
        dollars = round(paid[len(paid) // 2], 2) if price(model, prices) else None
        if done.n:
            views.append(ModelView(model, done, dollars))
    proven = [one for one in views if one.done.is_enough]
    named = kind or "all kinds"
    if len(proven) < 2:
        told = f"{NOT_ENOUGH}: fewer than two models did five tasks of {named} whose end is known."
        return CostAnswer(told, models=views)
    best = max(one.done.low for one in proven)
    fit = [one for one in proven if one.done.high >= best]
    fit.sort(key=lambda one: (one.dollars is None, one.dollars or 0))
    told = f"For {named}: {fit[0].model} is the cheapest of those of which none did surely better."
    return CostAnswer(told, models=sorted(views, key=lambda one: -one.done.low))
