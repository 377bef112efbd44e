"""What the CLI prints: JSON for programs on stdout, tables for people, notes on stderr."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, TextIO

from vector_memory.standing import NOTED_ON
from vector_memory.text import days
from vector_memory.text.harmless import excerpt, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from vector_memory.cli.answers import Row

PROGRAM = "vector-memory"
COMPLETE = "_VECTOR_MEMORY_COMPLETE"
"""By this variable a shell asks for completions."""
Cell = Callable[["Row"], object]
"""Makes a table's cell of a row."""
ID_CHARS = 12
CELL_CHARS = 300
NO_TERMINAL_WIDTH = 160
LEAST_TEXT = 40
"""Characters that a table's last column, its text, gets at least; where there is less room, it stands below the
others."""


def plain(text: str) -> str:
    """Return text that cannot steer a terminal, and hides nothing: stored text may hold escape
    sequences, and a model may be who reads it."""
    return visible(text)


def one_line(text: str, limit: int = CELL_CHARS) -> str:
    """Return text for a table's cell: one line, at most `limit` characters."""
    flat = " ".join(plain(text).split())
    return flat if len(flat) <= limit else excerpt(flat, 0, limit - 1) + "…"


def day(moment: str) -> str:
    """Return the day of a time given in ISO format, in this machine's zone."""
    at = days.parse_local(moment)
    return at.date().isoformat() if at else plain(moment)[:10]


def prepare() -> bool:
    """Make both streams UTF-8, whatever the locale says. What UTF-8 cannot hold (lone surrogates)
    is written as `\\udc80`, which JSON reads as the same character. Whether stdout is open: what is closed leads
    nowhere from here on, and a closed stdin is an empty one."""
    is_open = sys.stdout is not None
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8")
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return is_open


def settle() -> bool:
    """Write out what stdout holds. Whether that is possible; where it is not, nothing is written there any more."""
    try:
        sys.stdout.flush()
    except OSError:
        abandon(sys.stdout)
        return False
    return True


def abandon(stream: TextIO) -> None:
    """Stop writing to a stream that takes nothing any more: a full disk, a pipe that nobody reads."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def document(value: Mapping[str, object]) -> None:
    """Print one JSON document on one line."""
    say(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")))


def say(text: str = "") -> None:
    """Print a line on stdout."""
    sys.stdout.write(text + "\n")


def unopened(answer: Row) -> None:
    """Print on stderr which stores were left out of an answer, and why."""
    for why in answer.texts("unopened"):
        note(why)


def note(text: str) -> None:
    """Print a line on stderr, for people."""
    sys.stdout.flush()
    try:
        sys.stderr.write(plain(text) + "\n")
        sys.stderr.flush()
    except OSError:
        abandon(sys.stderr)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table for people. Cells are plain text, never markup."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    cells = [[plain(str(cell)) for cell in row] for row in rows]
    console = _console()
    if _is_narrow(columns, cells, console.width):
        _print_stacked(cells, console)
        return
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for position, name in enumerate(columns):
        is_last = position == len(columns) - 1
        drawn.add_column(name, no_wrap=not is_last, overflow="fold", ratio=1 if is_last else None)
    for row in cells:
        drawn.add_row(*map(Text, row))
    console.print(drawn)


def _is_narrow(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether the last column has text for which the others leave no room."""
    from rich.cells import cell_len

    longest = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    room = width - sum(size + 3 for size in longest[:-1])
    return bool(rows) and room < min(longest[-1], LEAST_TEXT)


def _print_stacked(rows: Iterable[Sequence[str]], console: Console) -> None:
    """Print each row as lines: what is short on the first, the text on those below it."""
    from rich.padding import Padding
    from rich.text import Text

    for *short, text in rows:
        console.print(Text("  ".join(word for word in short if word.strip())))
        if text.strip():
            console.print(Padding(Text(text, overflow="fold"), (0, 0, 0, 2), expand=False))


def tree(drawn: Tree) -> None:
    """Print a tree for people."""
    _console().print(drawn)


def _console() -> Console:
    from rich.console import Console

    width = None if sys.stdout.isatty() else NO_TERMINAL_WIDTH
    return Console(width=width, soft_wrap=False, highlight=False)


def field(name: str, most: int = CELL_CHARS) -> Cell:
    """Return what makes a cell of a field: its text on one line of at most `most` characters."""
    return lambda row: row.line(name, most)


def fields(names: str) -> dict[str, Cell]:
    """Return columns of fields, each called as its field; `law=jurisdiction` calls the field jurisdiction law."""
    words = (word.partition("=") for word in names.split())
    return {title: field(name or title) for title, _, name in words}


def listing(rows: Sequence[Row], columns: Mapping[str, Cell], nothing: str = "") -> bool:
    """Print rows as a table for people; return whether there are any.

    Args:
        columns: what a cell of each column says of a row, by the column's name.
        nothing: what is said instead of a table where there are none; without it the table is empty.
    """
    if nothing and not rows:
        say(nothing)
    else:
        table(tuple(columns), [tuple(cell(row) for cell in columns.values()) for row in rows])
    return bool(rows)


def beyond(offset: int, total: int | None = None) -> str:
    """Return the sentence for a list that has nothing from an offset on; "" where it has nothing at all.

    Args:
        total: how many there are in all, None where that is not known.
    """
    if not offset or total == 0:
        return ""
    total_note = f" There are {total:,}." if total else ""
    return f"Nothing comes after the first {offset:,}.{total_note}"


def indented(lines: Iterable[str], most: int) -> None:
    """Print lines of at most `most` characters each, as far to the right as they begin."""
    for line in lines:
        words = line.lstrip()
        say(line[: len(line) - len(words)] + one_line(words, most))


def memories(count: int) -> str:
    """Return a number of memories in words."""
    return "1 memory" if count == 1 else f"{count:,} memories"


def these(count: int) -> str:
    """Return what a question calls so many memories."""
    return "this memory" if count == 1 else f"these {count:,} memories"


def shown_text(memory: Row) -> str:
    """Return what a table says of a memory: its own words. A title is its turn's, which others share; a
    topic's is what it is called."""
    title, text = memory.text("title"), memory.text("text")
    return title if title and memory.text("kind") == "topic" else text or title


def warning(memory: Row) -> str:
    """Return what stands before a text that somebody else or a model wrote or shared, looks like instructions to the model, waits, is
    done, not in force or sensitive, was found to be wrong or to hold no more, cannot hold beside another one, or has its day."""
    marks = []
    if whose := memory.text("whose"):
        marks.append(f"foreign, {whose}")
    if memory.flag("by_model"):
        marks.append("found by a language model")
    if name := memory.row("author").text("name"):
        marks.append(f"shared by {name}")
    if memory.row("proposed").flag("held"):
        marks.append("proposed, waits for you")
    elif suspicion := memory.row("suspicious"):
        marks.append(f"suspicious{', held back' if suspicion.flag('held_back') else ''}")
    marks += filter(None, map(memory.text, ("state", "sensitivity", "jurisdiction")))
    marks += [f"{words} {at}" for name, words in NOTED_ON.items() if (at := memory.text(name))]
    for contradiction in memory.rows("contradicts")[:1]:
        age = "older" if contradiction.text("created_at") < memory.text("created_at") else "newer"
        marks.append(f"contradicts the {age} {contradiction.id} of {contradiction.day()}")
    if due := memory.text("due_on"):
        marks.append(f"due {due}")
    if every := memory.text("every"):
        marks.append(f"every {every}")
    return f"[{'; '.join(marks)}] " if marks else ""


def project_name(memory: Row) -> str:
    """Return what a table calls a memory's project."""
    row = memory.row("project")
    project = row.text("name", row.text("id")) if row else memory.text("project")
    return os.path.basename(project.rstrip("/")) if project else "global"


MEMORY: Mapping[str, Cell] = {
    "id": lambda memory: memory.id,
    "date": lambda memory: memory.day(),
    "kind": lambda memory: memory.text("kind"),
    "project": project_name,
    "text": lambda memory: one_line(warning(memory) + shown_text(memory)),
}
"""The columns of a memory."""
