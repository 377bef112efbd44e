"""What went wrong lately: the daemon's last errors and counters, and events left in the spool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from vector_memory.cli.answers import Row
from vector_memory.cli.checks import Case, CheckResult, ok, warn
from vector_memory.cli.counts import TROUBLE, nonzero_counts, number, usual, with_count
from vector_memory.client.spool import read_aside, read_spool

MAX_SPOOLED = 100
MAX_ERRORS = 5
RETRY = "Mend it, then `vector-memory doctor --retry`."
LATE = ("hooks_late", "answers_too_late", "hooks_failed")
SHARE_LATE = 0.02
"""The share of hooks that may be late before it is a warning."""


def check(case: Case) -> Iterator[CheckResult]:
    """Yield the last errors, the counters and the spool's backlog."""
    if case.status is not None:
        answer = case.ask("doctor")
        yield from _errors(answer)
        yield from _counters(answer.row("counters"))
        yield from _speed(answer.row("slo"))
    yield from _spool(case)


def _errors(answer: Row) -> Iterator[CheckResult]:
    errors = answer.rows("errors")
    for error in errors[-MAX_ERRORS:]:
        at = datetime.fromtimestamp(error.number("at"))
        times = f", {error.count('times')} times" if error.count("times") > 1 else ""
        words = f"{error.text('error')} ({error.text('where')}{times})"
        yield warn(f"Last error, {at:%Y-%m-%d %H:%M}: {words}", "See logs/daemon.log.")
    if not errors:
        yield ok("No errors")


def _counters(counters: Mapping[str, object]) -> Iterator[CheckResult]:
    """Yield what was counted, in words. Counters are of all time, so that few late hooks among many are
    no warning."""
    if often := usual(counters):
        yield ok(f"Counted: {'; '.join(often)}")
    late = sum(number(counters.get(name)) for name in LATE)
    hooks = sum(number(value) for name, value in counters.items() if name.startswith("hook_"))
    for words in nonzero_counts(
        counters, {name: TROUBLE[name] for name in TROUBLE if name not in LATE}
    ):
        yield ok(f"Counted: {words}")
    if late:
        words = "; ".join(nonzero_counts(counters, {name: TROUBLE[name] for name in LATE}))
        is_much = late > SHARE_LATE * (hooks + late)
        fix = "A machine under load does that; else see logs/daemon.log."
        yield warn(f"Counted: {words}", fix) if is_much else ok(f"Counted: {words}")


def _speed(slo: Row) -> Iterator[CheckResult]:
    """Yield which answers take longer than they may."""
    for name in slo:
        took = slo.row(name)
        if took.get("met") is False:
            words = (
                f"{name} takes {took.number('p95_ms'):,.0f} ms (p95 of the last {took.count('count'):,}), and may take"
                f" {took.count('target_ms'):,} ms."
            )
            yield warn(words, "A machine under load does that; `stats` shows all.")


def _spool(case: Case) -> Iterator[CheckResult]:
    waiting, aside = read_spool(case.home), read_aside(case.home)
    message = with_count(len(waiting), "[event waits/events wait] in the spool")
    if len(waiting) > MAX_SPOOLED:
        fix = "The daemon does not take them: see above."
        yield warn(f"{message}.", fix)
    else:
        yield ok(message)
    for _, entry in aside[:MAX_ERRORS]:
        event = f"{entry.get('event')} of {entry.get('transcript') or entry.get('session')}"
        words = f"Set aside after failing three times: {event}: {entry.get('reason')}"
        yield warn(words, RETRY)
    if len(aside) > MAX_ERRORS:
        words = with_count(len(aside) - MAX_ERRORS, "more [event was/events were] set aside")
        yield warn(words, RETRY)
