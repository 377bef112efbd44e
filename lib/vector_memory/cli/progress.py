"""Long work: its progress on stderr, its items and its answer to the caller."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from vector_memory.cli import output

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

MAX_ERRORS_SHOWN = 10
TAKEN = ("stored", "merged", "unchanged", "updated")

UNITS = {"reading": "files", "embedding": "texts", "indexing": "texts"}

Item = Callable[[dict[str, Any]], None]


def follow(
    stream: Iterator[tuple[str, dict[str, Any]]], quiet: bool, item: Item | None = None
) -> dict[str, Any]:
    """Read a stream of the daemon to its end and return its answer.

    Args:
        stream: what `Daemon.stream` gives.
        quiet: whether to show no progress; without a terminal there is none anyway.
        item: is called with every item, in order.
    """
    bar = None if quiet or not sys.stderr.isatty() else _Bar()
    try:
        for status, body in stream:
            if status == "answer":
                return body
            if status == "item" and item is not None:
                item(body)
            elif status == "progress" and bar is not None:
                bar.show(body)
    finally:
        if bar is not None:
            bar.close()
    return {}


def report(answer: dict[str, Any], as_json: bool, counts: tuple[str, ...]) -> int:
    """Print what came of reading something in; return 1 if it brought nothing but errors."""
    errors = answer.get("errors") or []
    if as_json:
        output.document(answer)
    else:
        said = ", ".join(f"{answer.get(name, 0)} {name}" for name in counts)
        output.say(f"{said} in {float(answer.get('seconds') or 0):.1f} s")
        for error in errors[:MAX_ERRORS_SHOWN]:
            output.note(_error(error))
        if len(errors) > MAX_ERRORS_SHOWN:
            output.note(f"… and {len(errors) - MAX_ERRORS_SHOWN} more.")
    return 1 if errors and not any(answer.get(name) for name in TAKEN) else 0


def _error(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    place = f"line {error['line']}" if "line" in error else str(error.get("file", ""))
    return f"{place}: {error.get('error', '')}".lstrip(": ")


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

    def show(self, body: dict[str, Any]) -> None:
        """Draw one report of progress."""
        doing = str(body.get("doing") or "working")
        total = int(body.get("total") or 0) or None
        if doing not in self._tasks:
            self._tasks[doing] = self._progress.add_task(doing, total=total, rate="")
        task = self._tasks[doing]
        self._progress.update(task, completed=int(body.get("done") or 0), total=total)
        speed = self._progress.tasks[self._progress.task_ids.index(task)].speed
        self._progress.update(task, rate=rate(doing, speed))

    def close(self) -> None:
        """Take the bars away."""
        self._progress.stop()
