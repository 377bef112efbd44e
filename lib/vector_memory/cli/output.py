"""What the CLI prints: JSON for programs on stdout, tables for people, notes on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from vector_memory.text.harmless import excerpt, visible

if TYPE_CHECKING:
    from rich.tree import Tree

NO_TERMINAL_WIDTH = 160
ID_CHARS = 12


def prepare() -> None:
    """Make both streams UTF-8, whatever the locale says. What UTF-8 cannot hold (lone surrogates)
    is written as `\\udc80`, which JSON reads as the same character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def abandon() -> None:
    """Stop writing to a pipe that nobody reads any more."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def document(value: Mapping[str, Any]) -> None:
    """Print one JSON document on one line."""
    say(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")))


def say(text: str = "") -> None:
    """Print a line on stdout."""
    sys.stdout.write(text + "\n")


def unopened(answer: dict[str, Any]) -> None:
    """Print on stderr which stores were left out of an answer, and why."""
    for why in (answer.get("unopened") or {}).values():
        note(str(why))


def note(text: str) -> None:
    """Print a line on stderr, for people."""
    sys.stdout.flush()
    sys.stderr.write(plain(text) + "\n")
    sys.stderr.flush()


def plain(text: str) -> str:
    """Return text that cannot steer a terminal, and hides nothing: stored text may hold escape
    sequences, and a model may be who reads it."""
    return visible(text)


def one_line(text: str, limit: int = 300) -> str:
    """Return text for a table's cell: one line, at most `limit` characters."""
    flat = " ".join(plain(text).split())
    return flat if len(flat) <= limit else excerpt(flat, 0, limit - 1) + "…"


def day(moment: str | None) -> str:
    """Return the day of a time given in ISO format, in this machine's zone."""
    if not moment:
        return ""
    try:
        return datetime.fromisoformat(moment.replace("Z", "+00:00")).astimezone().date().isoformat()
    except ValueError:
        return plain(moment)[:10]


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Print a table for people. Cells are plain text, never markup."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    for position, name in enumerate(columns):
        last = position == len(columns) - 1
        drawn.add_column(name, no_wrap=not last, overflow="fold", ratio=1 if last else None)
    for row in rows:
        drawn.add_row(*(Text(plain(str(cell))) for cell in row))
    width = None if sys.stdout.isatty() else NO_TERMINAL_WIDTH
    Console(width=width, soft_wrap=False).print(drawn)


def tree(drawn: Tree) -> None:
    """Print a tree for people."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else NO_TERMINAL_WIDTH
    Console(width=width, soft_wrap=False, highlight=False).print(drawn)


def memories(found: Sequence[Mapping[str, Any]]) -> None:
    """Print memories as a table."""
    table(
        ("id", "date", "kind", "project", "text"),
        [
            (
                str(one.get("id", ""))[:ID_CHARS],
                day(one.get("created_at")),
                one.get("kind", ""),
                project_name(one),
                one_line(warning(one) + shown_text(one)),
            )
            for one in found
        ],
    )


def shown_text(memory: Mapping[str, Any]) -> str:
    """Return what a table says of a memory: its own words. A title is its turn's, which others share; a
    topic's is what it is called."""
    title, text = str(memory.get("title") or ""), str(memory.get("text") or "")
    return title if title and memory.get("kind") == "topic" else text or title


def warning(memory: Mapping[str, Any]) -> str:
    """Return what stands before a text that looks like instructions to the model."""
    if (memory.get("proposed") or {}).get("held"):
        return "[proposed, waits for you] "
    told = memory.get("suspicious")
    if not isinstance(told, Mapping):
        return ""
    return f"[suspicious{', held back' if told.get('held_back') else ''}] "


def project_name(memory: Mapping[str, Any]) -> str:
    """Return what a table calls a memory's project."""
    project = memory.get("project")
    if isinstance(project, Mapping):
        project = project.get("name") or project.get("id")
    return os.path.basename(str(project).rstrip("/")) if project else "global"
