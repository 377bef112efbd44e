"""Long work: its progress on stderr, its items and its answer to the caller."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

MAX_ERRORS_SHOWN = 10
TAKEN = ("stored", "merged", "unchanged", "updated")

UNITS = {"reading": "files", "embedding": "texts", "indexing": "texts"}

Item = Callable[[Row], None]


def ask_long(
    verb: str,
    where: asking.Said,
    quiet: bool,
    timeout_s: float = 600.0,
    item: Item | None = None,
    **more: object,
) -> Row:
    """Ask for something that may take long, and return its answer; else as `asking.ask`.

    Args:
        quiet: whether to show no progress; without a terminal there is none anyway.
        timeout_s: how long no byte may come.
        item: is called with every item, in order.
    """
    request = asking.said(where, more)
    return follow(asking.daemon().stream(verb, request, timeout_s), quiet, item)


def follow(
    stream: Iterator[tuple[str, Mapping[str, object]]], quiet: bool, item: Item | None = None
) -> Row:
    """Read a stream of the daemon to its end and return its answer.

    Args:
        stream: what `DaemonClient.stream` gives.
        quiet, item: as in `ask_long`.
    """
    bar = None if quiet or not sys.stderr.isatty() else _Bar()
    try:
        for status, body in stream:
            if status == "answer":
                return Row(body)
            if status == "item" and item is not None:
                item(Row(body))
            elif status == "progress" and bar is not None:
                bar.show(Row(body))
    finally:
        if bar is not None:
            bar.close()
    return Row({})


def report(answer: Row, as_json: bool, counts: tuple[str, ...]) -> int:
    """Print what came of reading something in; return 1 if it brought nothing but errors."""
    output.answer(answer, as_json, lambda answer: _tell(answer, counts))
    return 1 if answer.count("errors") and not any(map(answer.count, TAKEN)) else 0


def _tell(answer: Row, counts: tuple[str, ...]) -> None:
    figures = ", ".join(f"{answer.count(name)} {name}" for name in counts)
    output.say(f"{figures} in {answer.number('seconds'):.1f} s")
    errors = answer.rows("errors")
    for error in errors[:MAX_ERRORS_SHOWN]:
        line = error.text("line")
        place = f"line {line}" if line else error.text("file")
        output.note(f"{place}: {error.text('error')}".lstrip(": "))
    if len(errors) > MAX_ERRORS_SHOWN:
        output.note(f"… and {len(errors) - MAX_ERRORS_SHOWN} more.")


def rate(doing: str, speed: float | None) -> str:
    """Return how quickly something is done, such as `12 files/s`; "" while it is not known."""
    if not speed:
        return ""
    number = f"{speed:,.0f}" if speed >= 10 else f"{speed:.1f}"
    return f"{number} {UNITS[doing]}/s" if doing in UNITS else f"{number}/s"


class _Bar:
    """A bar for each thing that is being done, with rate and time left."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        self._tasks: dict[str, TaskID] = {}
        self._progress: Progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._progress.start()

    def show(self, body: Row) -> None:
        """Draw one report of progress."""
        doing = body.text("doing", "working")
        total = body.count("total") or None
        if doing not in self._tasks:
            self._tasks[doing] = self._progress.add_task(doing, total=total, rate="")
        task = self._tasks[doing]
        self._progress.update(task, completed=body.count("done"), total=total)
        speed = self._progress.tasks[self._progress.task_ids.index(task)].speed
        self._progress.update(task, rate=rate(doing, speed))

    def close(self) -> None:
        """Take the bars away."""
        self._progress.stop()
