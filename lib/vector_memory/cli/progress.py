"""Long work: its progress on stderr, its items and its answer to the caller."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from vector_memory.cli import asking
from vector_memory.cli.answers import Row

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

UNITS = {"reading": "files", "embedding": "texts", "indexing": "texts", "finding ideas": "texts"}
BEFORE_LAST, LAST = ("reading", "storing"), "embedding"
"""What a backfill and an import do first, and what they wait for in the end."""
FIRST_SHARE = 0.3
"""How much of the whole the first part is taken for: embedding takes most of the time."""

Item = Callable[[Row], None]


def ask_long(
    verb: str,
    where: asking.Request,
    quiet: bool,
    timeout_s: float = 600.0,
    item: Item | None = None,
    **fields: object,
) -> Row:
    """Ask for something that may take long, and return its answer; else as `asking.ask`.

    Args:
        quiet: whether to show no progress; without a terminal there is none anyway.
        timeout_s: how long no byte may come.
        item: is called with every item, in order.
    """
    ask = partial(asking.daemon().ask, verb, asking.request_fields(where, fields), timeout_s)
    if item is not None:
        ask = partial(ask, item=lambda body: item(Row(body)))
    # A terminal that cannot go back would get a line for each report.
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return Row(ask())
    with contextlib.closing(_Bar()) as bar:
        answer = Row(ask(progress=lambda body: bar.show(Row(body))))
        bar.finish()
    return answer


def rate(doing: str, speed: float | None) -> str:
    """Return how quickly something is done, such as `12 files/s`; "" while it is not known."""
    if not speed:
        return ""
    number = f"{speed:,.0f}" if speed >= 10 else f"{speed:.1f}"
    return f"{number} {UNITS[doing]}/s" if doing in UNITS else f"{number}/s"


def share_done(doing: str, done: int, total: int, is_first: bool) -> float:
    """Return how much of the whole is done, 0 to 1.

    Args:
        doing: what is being done now.
        done: how much of that, of `total`.
        is_first: nothing else was done before.
    """
    part = min(1.0, done / total) if total else 0.0
    if doing == LAST and not is_first:
        return FIRST_SHARE + (1.0 - FIRST_SHARE) * part
    return FIRST_SHARE * part if doing in BEFORE_LAST else part


def time_left(remaining: int, speed: float | None) -> str:
    """Return how long the rest takes, in words; "" while it is not known."""
    if not speed or remaining <= 0:
        return ""
    minutes, seconds = divmod(math.ceil(remaining / speed), 60)
    return f", about {minutes}:{seconds:02} left"


class Pace:
    """How quickly one stage goes on.

    It is counted from the first step that was seen, since part of that was done before, and up to now, a step that
    takes long included: what is left is told rather too long than too short.
    """

    def __init__(self) -> None:
        self._first: int | None = None
        self._began: tuple[float, int] | None = None

    def speed(self, now: float, done: int) -> float | None:
        """Return the steps in a second; None before the second step."""
        if self._first is None:
            self._first = done
        elif self._began is None and done > self._first:
            self._began = (now, done)
        began, had = self._began or (now, done)
        return (done - had) / (now - began) if now > began and done > had else None


class _Bar:
    """One bar over the whole, which never goes back, with what is being done, rate and time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._doing = ""
        self._kinds: set[str] = set()
        self._share = 0.0
        self._pace = Pace()
        self._progress: Progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: TaskID = self._progress.add_task("", total=None)
        self._progress.start()

    def show(self, body: Row) -> None:
        """Draw one report of progress."""
        doing, done, total = body.text("doing", "working"), body.count("done"), body.count("total")
        if doing != self._doing:
            self._doing, self._pace = doing, Pace()
        self._kinds.add(doing)
        share = share_done(doing, done, total, is_first=self._kinds == {doing})
        self._share = max(self._share, share)
        speed = self._pace.speed(time.monotonic(), done)
        count = f" {done:,}/{total:,}" if total else ""
        time_note = "" if doing in BEFORE_LAST else time_left(total - done, speed)
        description = f"{doing}{count} {rate(doing, speed)}{time_note}".rstrip()
        total_share = 1.0 if total else None
        self._progress.update(
            self._task, description=description, completed=self._share, total=total_share
        )

    def finish(self) -> None:
        """Draw it whole."""
        self._progress.update(self._task, completed=1.0, total=1.0, refresh=True)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()
