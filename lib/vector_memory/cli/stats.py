"""`stats`: how much is remembered."""

from __future__ import annotations

from vector_memory.cli import flags, output
from vector_memory.cli.answers import Row
from vector_memory.cli.counts import TROUBLE, nonzero_counts, uses, usual
from vector_memory.cli.invocation import Invocation
from vector_memory.cli.progress import LAST, share_done
from vector_memory.model import QUIET


def stats(call: Invocation, project: str | None) -> None:
    """Print how much is remembered."""
    call.show(call.ask(all_projects=project is None), show)


def show(answer: Row) -> None:
    """Print figures for people."""
    output.unopened(answer)
    output.say(output.memories(answer.count("memories")))
    if embedding := answer.row("embedding"):
        model, state = embedding.text("model", "none"), embedding.text("state", "?")
        error = embedding.text("error")
        output.say(output.plain(f"embedding: {model} ({state}{error and f': {error}'})"))
    if backfill := answer.row("backfill"):
        doing, done, total = backfill.text("doing"), backfill.count("done"), backfill.count("total")
        share = share_done(doing, done, total, is_first=doing != LAST)
        output.say(f"backfill: {doing} {done:,} of {total:,}, {share:.0%} of the whole")
    if words := figures(answer.row("generation")):
        output.say(words)
    _uses(answer.row("uses"))
    _speed(answer.row("slo"))
    if (jobs := answer.counts("jobs")) and jobs.get("enabled"):
        counts = f"{jobs['enabled']} enabled, {jobs['ran_today']} ran today, {jobs['failing']} fail"
        output.say(f"jobs: {counts} (`vector-memory jobs`)")
    for name in ("by_kind", "by_project"):
        _counts(name[3:], answer.counts(name))
    collections = answer.counts("by_collection")
    _counts("collection", {name: n for name, n in collections.items() if name not in QUIET})
    if records := {name: n for name, n in collections.items() if name in QUIET}:
        # They are no memories, and no part of the sum above.
        beside = ", ".join(f"{n:,} {name}" for name, n in records.items())
        output.say(f"beside them, what is kept count of: {beside}")
    if flagged := answer.counts("flags"):
        output.say(f"flagged by the observer: {flags.in_words(flagged)} (`vector-memory flags`)")
    counters = answer.row("counters")
    for title, lines in (
        ("counted", usual(counters)),
        ("trouble", nonzero_counts(counters, TROUBLE)),
    ):
        if lines:
            output.table((title,), [(line,) for line in lines])
    if stores := answer.rows("stores"):
        output.listing(stores, STORE)


def _uses(totals: Row) -> None:
    """Print how much of what was shown was used, and by what it differs."""
    if not (words := uses(totals)):
        return
    output.say(f"{words}; a prompt's notes have to be worth {totals.number('threshold'):.2f}")
    groups = totals.row("by")
    rows = [
        (f"{count.count('used'):,} of {count.count('shown'):,}", f"{name}: {value}")
        for name in groups
        for value, count in ((value, groups.row(name).row(value)) for value in groups.row(name))
    ]
    output.table(("used", "by"), rows)


def _speed(slo: Row) -> None:
    """Print how long answers took, beside what they may take."""
    rows = [slo_row(name, slo.row(name)) for name in slo]
    if rows:
        output.table(("answers", "last", "p50 ms", "p95 ms", "p95 may be", "met"), rows)


def slo_row(name: str, slo: Row) -> tuple[str, ...]:
    """Return the cells that say how long answers of one kind took."""
    met = "too few" if slo.get("met") is None else "yes" if slo.flag("met") else "no"
    p50, p95 = slo.number("p50_ms"), slo.number("p95_ms")
    return name, f"{slo.count('count'):,}", f"{p50:.1f}", f"{p95:.1f}", slo.text("target_ms"), met


def figures(generation: Row) -> str:
    """Return what the language model took today, in words; "" where there is none."""
    backend, model = generation.text("backend"), generation.text("model")
    if not backend:
        return ""
    count = generation.count
    return (
        f"language model: {backend}{model and '/'}{model}; today {count('calls'):,} of "
        f"{count('daily_calls'):,} calls, {count('tokens'):,} of "
        f"{count('daily_tokens'):,} tokens, {count('refused'):,} refused, "
        f"{count('failures'):,} failed, {count('garbage'):,} answers of no use"
        + (f", sessions still to be read: {waiting:,}" if (waiting := count("waiting")) else "")
    )


def _counts(name: str, counts: dict[str, int]) -> None:
    ordered = sorted(counts.items(), key=lambda pair: -pair[1])
    if ordered:
        output.table(("memories", name), [(f"{count:,}", word or "-") for word, count in ordered])


STORE: dict[str, output.Cell] = {
    "memories": lambda store: f"{store.count('memories'):,}",
    "cold": lambda store: f"{store.counts('tiers').get('cold', 0):,}",
    "waiting": lambda store: f"{store.count('pending_vectors'):,}",
    "MB": lambda store: f"{store.count('bytes') / 1e6:.1f}",
    "store": lambda store: store.text("folder"),
}
