"""`benchmark` and `benchmark_suite`: how fast and how good memory is on what is stored here, on this machine,
compared with the last runs. What writes does so in a scratch store; nothing is counted as used."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from vector_memory import redact
from vector_memory.errors import BadInputError
from vector_memory.journal.journal import Journal
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import PASSAGE, Memory, Origin, Progress, Status
from vector_memory.observe.learning import figures
from vector_memory.observe.learning.figures import NOT_ENOUGH
from vector_memory.service.base import messages, reach
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.memory import lookup
from vector_memory.service.think import ledger
from vector_memory.service.upkeep.stats import folder_bytes
from vector_memory.system.json_in import Record

NOTE = "benchmarks"
"""The state's note of the last runs: figures alone."""
MOST_RUNS = 12
PROBE_WORDS, NEAR = 10, 5
DIMENSIONS = ("recall_ms", "store_ms", "hooks_ms", "quality", "duplicates", "size_mb", "open_ms")
BENCHMARKS = {
    "recall": ("recall_ms", "quality"),
    "store": ("store_ms",),
    "hooks": ("hooks_ms",),
    "daemon": ("open_ms", "size_mb"),
}
"""What `benchmark` measures, by name."""


class BenchmarkRequest(messages.Request):
    """Something is to be measured.

    Attributes:
        what: one of `BENCHMARKS`, for `benchmark`; `dimensions` some of `DIMENSIONS`, for the suite (all by default).
        n: how often.
        baseline: keep the run, to compare later ones with.
    """

    what: str = messages.one_of(BENCHMARKS)
    dimensions: tuple[str, ...] = messages.words(choices=DIMENSIONS)
    n: int = messages.number(20, 5, 200)
    baseline: bool = messages.flag(default=True)


class Measured(NamedTuple):
    """A figure: the median of times in `ms`, a share from 0 to 1 for `quality`, a number for `duplicates`; what it
    stands on, in words; and of what it is the median, None where it is one number."""

    value: float
    told: str
    spread: figures.Median | None = None


def benchmark(ctx: Context, request: BenchmarkRequest, progress: Progress) -> ledger.Answer:
    """Measure one thing, and compare it with the last runs of the suite; see `suite` for what it returns.

    Raises:
        BadInputError: there is no such thing to measure.
    """
    if not request.what:
        raise BadInputError("what is missing.", f"There is: {', '.join(BENCHMARKS)}.")
    return suite(
        ctx, replace(request, dimensions=BENCHMARKS[request.what], baseline=False), progress
    )


def suite(ctx: Context, request: BenchmarkRequest, progress: Progress) -> ledger.Answer:
    """Measure seven dimensions, or some, and compare each with the median of the last five runs.

    Raises:
        BadInputError: there is no such dimension.

    Returns:
        On how many `memories` it stands, the `dimensions` (each `Measured`, with a `verdict` beside the last runs),
        and those that are `missing`.
    """
    names = request.dimensions or DIMENSIONS
    stored = ctx.state.cursor(NOTE) or Record()
    history = {name: stored.numbers(name) for name in DIMENSIONS}
    dimensions: list[dict[str, object]] = []
    missing, verdicts = [], {}
    for number, name in enumerate(names):
        progress(number, len(names), name)
        ctx.hooks.give_way()
        measured = _MEASURES[name](ctx, request.n)
        if measured is None:
            missing.append(f"{name}: {NOT_ENOUGH}, nothing to measure it on")
            continue
        # Of quality less is worse.
        earlier, value = history[name], measured.value
        if name == "quality":
            earlier, value = [1 - share for share in earlier], 1 - value
        verdicts[name] = figures.trend(earlier, value)
        dimensions.append({"name": name, **measured._asdict(), "verdict": verdicts[name]})
        history[name] = [*history[name], measured.value][-MOST_RUNS:]
    if request.baseline:
        ctx.state.set_cursor(NOTE, history)
    worse = [name for name, verdict in verdicts.items() if verdict.startswith("worse")]
    values = ", ".join(f"{dimension['name']} {dimension['value']:g}" for dimension in dimensions)
    verdict = f"Worse than usual: {', '.join(worse)}." if worse else "Nothing is worse than usual."
    if set(verdicts.values()) <= {figures.TOO_FEW_RUNS}:
        verdict = f"{figures.TOO_FEW_RUNS.capitalize()}: {figures.LEAST_RUNS} are needed."
    summary = f"{values}. {verdict}" if values else verdict
    summary += "" if request.baseline else " Nothing was kept of this run."
    count = sum(
        shelf.journal.count(reach.everything().without_records) for shelf in ctx.all_shelves()
    )
    return ledger.answer(ctx, summary, memories=count, dimensions=dimensions, missing=missing)


def _probes(ctx: Context, n: int, least: int) -> list[tuple[str, Memory]]:
    """Return questions of at least so many words made of stored memories: every second word of their first ones, so
    that no question has its answer's words in a row."""
    probes = []
    for shelf in ctx.all_shelves():
        for memory in shelf.journal.recent(reach.everything().without_records, 20 * n):
            words = memory.text.split()[: 2 * PROBE_WORDS : 2]
            # What only its own collection's question finds, or nobody, says nothing of quality.
            if len(words) >= least and not (memory.is_quiet or memory.is_held):
                probes.append((" ".join(words), memory))
    return probes[:n]


def _job_asker(ctx: Context) -> messages.Asker:
    return messages.asker_of(ctx, messages.Filter(all_projects=True, actor="job"))


def recalls(ctx: Context, n: int) -> Measured | None:
    """Return how long recalls take, None where nothing is stored to ask for."""
    probes, asker = _probes(ctx, n, 1), _job_asker(ctx)
    if not probes:
        return None
    lookup.answer(ctx, probes[0][0], asker, 10)
    acts = [partial(lookup.answer, ctx, text, asker, 10) for text, _ in probes]
    return _time_acts(acts, "recalls of ten")


def _quality(ctx: Context, n: int) -> Measured | None:
    probes, asker, matches = _probes(ctx, n, PROBE_WORDS // 2), _job_asker(ctx), 0
    for text, memory in probes:
        hits = lookup.answer(ctx, text, asker, NEAR).hits
        matches += any(hit.memory.id == memory.id or hit.memory.text == memory.text for hit in hits)
    basis = f"{figures.rate(matches, len(probes)).told} found among the first {NEAR} by every second word of their first"
    return Measured(round(matches / len(probes), 3), basis) if probes else None


def _store(ctx: Context, n: int) -> Measured:
    """Time a write that is durable, and its vector, in a store that goes afterwards."""
    text = redact.clean("A scratch memory that says nothing, to time a write.").text
    with (
        tempfile.TemporaryDirectory(dir=ctx.home.run) as folder,
        closing(Journal.open(folder)) as journal,
    ):

        def write() -> None:
            ctx.embedding.query(text)
            journal.add([Memory(new_id(), text, ctx.now(), origin=Origin.JOB)])

        return _time_acts([write] * n, "writes with a vector, durable")


def _open(ctx: Context, n: int) -> Measured:
    """Time the opening of a copy of the largest store."""
    shelf = max(ctx.all_shelves(), key=lambda shelf: shelf.journal.count())
    with tempfile.TemporaryDirectory(dir=ctx.home.run) as folder:
        shelf.journal.backup_to(os.path.join(folder, "journal.db"))
        return _time_acts([lambda: Journal.open(folder).close()] * 5, "openings of a copy")


def _hooks(ctx: Context, n: int) -> Measured | None:
    """Return what real prompts waited for the daemon: nobody's session is asked again for it."""
    slo = ctx.timings.report(ctx.state).get("UserPromptSubmit")
    if slo is None:
        return None
    basis = f"median of the last {slo.count} prompts, 95 of 100 within {slo.p95_ms:g} ms"
    return Measured(slo.p50_ms, basis)


def _duplicates(ctx: Context, n: int) -> Measured | None:
    """Count memories whose words another one of their project has too, passages of talk left out."""
    counts: Counter[tuple[str, bytes]] = Counter()
    for shelf in ctx.all_shelves():
        for memory in shelf.journal.iter_memories(reach.everything().without_records):
            if memory.kind != PASSAGE and memory.status is Status.ACTIVE:
                counts[memory.project, text_key(" ".join(memory.text.lower().split()))] += 1
    basis = f"of {counts.total()} memories without talk"
    return Measured(float(counts.total() - len(counts)), basis) if counts else None


def _size(ctx: Context, n: int) -> Measured:
    stores = [folder_bytes(shelf.folder) for shelf in ctx.all_shelves()]
    return Measured(round(sum(stores) / 1e6, 2), f"MB in {len(stores)} stores")


def _time_acts(acts: Sequence[Callable[[], object]], label: str) -> Measured:
    """Return the median of the times that some acts take, in ms."""
    durations_ms = []
    for act in acts:
        started = time.perf_counter()
        act()
        durations_ms.append((time.perf_counter() - started) * 1_000)
    spread = figures.median_of(durations_ms)
    return Measured(spread.median, f"ms, median of {len(durations_ms)} {label}", spread)


_MEASURES: dict[str, Callable[[Context, int], Measured | None]] = {
    "recall_ms": recalls, "store_ms": _store, "hooks_ms": _hooks, "quality": _quality,
    "duplicates": _duplicates, "size_mb": _size, "open_ms": _open,
}  # fmt: skip
