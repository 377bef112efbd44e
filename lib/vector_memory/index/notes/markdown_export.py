"""Memories as a Markdown file for people, which can be read back.

Each is a list item: a line with its day, and in a comment what else is known of it as JSON; then its
text, indented. So nothing in a text, be it a heading or a fence, ends the item.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from vector_memory import standing
from vector_memory.model import DEFAULT_COLLECTION, Origin, Priority, Sensitivity
from vector_memory.system.json_in import Record

HEAD = "<!-- vector-memory export 1 -->"
PREFACE = f"{HEAD}\n# Memories\n\n`vector-memory import` reads this file back; the comments hold the ids.\n"

SECTION = "memory"
"""The name of the section of a vault's note that holds memories."""
_IN_NOTE = f"\n<!-- vector-memory session {SECTION} -->\n{HEAD}"

_OPEN, _CLOSE = " <!-- memory ", " -->"
_INDENT = "  "
_ITEM_STARTS = ("- ", "* ")
"""How an item begins: some programs that edit Markdown write the one for the other."""
_OWN_LINES = (_INDENT, "<!-- ", "Up: [[")
_LISTED = ("- [[", " memories")
_END = "<!-- end of vector-memory session "
_PREFACE_LINES = PREFACE.splitlines()
_DEFAULTS = {
    "priority": Priority.NORMAL.value,
    "confidence": 0.5,
    "seq": 0,
    "origin": Origin.IMPORT.value,
    "collection": DEFAULT_COLLECTION,
    "sensitivity": Sensitivity.INTERNAL.value,
    "source": {"path": "", "lines": [0, 0]},
}
"""What an import takes for granted."""


def is_export(text: str) -> bool:
    """Whether a text is a file of ours."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n")
    return text.startswith(HEAD) or _IN_NOTE in f"\n{text}"


def heading(level: int, title: str) -> str:
    """Return a heading below a blank line."""
    return f"\n{'#' * level} {' '.join(title.split())}\n"


def render(memory: Mapping[str, object]) -> str:
    """Return a memory, given as a line of an export, as a list item."""
    text = "\n".join(_INDENT + line if line else "" for line in str(memory["text"]).split("\n"))
    return f"- {_item_head(memory)}{_OPEN}{_details(memory)}{_CLOSE}\n{text}\n"


def _item_head(memory: Mapping[str, object]) -> str:
    """Return what an item shows beside its text."""
    words = [str(memory.get("created_at"))[:10]]
    if memory.get("priority", Priority.NORMAL.value) != Priority.NORMAL.value:
        words.append(str(memory["priority"]))
    extra = memory.get("extra")
    state = standing.state_label(extra) if isinstance(extra, dict) else ""
    words += [state] if state else []
    if memory.get("status"):
        words.append(str(memory["status"]))
    words += [" ".join(str(memory["title"]).split())] if memory.get("title") else []
    return " · ".join(words)


def note_entry(name: str, count: int) -> str:
    """Return a line that leads to a note and says how much stands in it."""
    return f"{_LISTED[0]}{name}]]: {count:,}{_LISTED[1]}"


def parse(written: Iterable[str]) -> Iterator[tuple[int, Record]]:
    """Yield (line number, memory) of the lines of a file of ours. What was written between the items is left
    out, and so is an item whose comment cannot be read: `unread` tells of both."""
    item: tuple[int, Record, list[str]] | None = None
    for number, line in enumerate((raw_line.removesuffix("\r") for raw_line in written), start=1):
        if line.startswith(_INDENT) or not line.strip():
            if item is not None:
                item[2].append(line[len(_INDENT) :])
            continue
        if item is not None:
            yield _with_text(*item)
        details = _read_details(line)
        item = None if details is None else (number, details, [])
    if item is not None:
        yield _with_text(*item)


def unread_lines(written: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (line number, why) of what somebody wrote where ours stands, and `parse` does not read: words between the
    items, and what an item shows otherwise than its comment has it."""
    is_ours, kind = False, ""
    for number, line in enumerate((raw_line.removesuffix("\r") for raw_line in written), start=1):
        is_ours = line.lstrip("\ufeff") == HEAD or (is_ours and not line.startswith(_END))
        is_listed = line.startswith(_LISTED[0]) and line.endswith(_LISTED[1])
        if line.startswith(_OWN_LINES) or line in _PREFACE_LINES or is_listed:
            continue
        if not is_ours or not line.strip():
            continue
        details = _read_details(line)
        if line.startswith("#"):
            kind = line.lstrip("#").strip()
        elif details is None:
            yield number, "These words are no memory of the export: they are not read."
        elif line[len(_INDENT) :].rpartition(_OPEN)[0] != _item_head(details):
            yield number, "The day, priority or title was changed here: that is not read."
        elif kind != " ".join((details.text("kind") or "note").split()):
            yield number, f"It stands below {kind!r}: its kind is not read from there."


def _with_text(number: int, details: Record, lines: list[str]) -> tuple[int, Record]:
    return number, Record({**details, "text": "\n".join(lines).rstrip()})


def _details(memory: Mapping[str, object]) -> str:
    """Return what is not ordinary of a memory as JSON that no comment's end can stand in."""
    details = {
        name: value
        for name, value in memory.items()
        if name not in ("text", "model")
        and value not in (None, "", [])
        and _DEFAULTS.get(name) != value
    }
    details.setdefault("project_id", memory.get("project_id", ""))
    text = json.dumps(details, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _read_details(line: str) -> Record | None:
    """Return what the comment of an item says, None of any other line."""
    if not line.startswith(_ITEM_STARTS):
        return None
    _, opening, rest = line.rstrip().rpartition(_OPEN)
    if not opening or not rest.endswith(_CLOSE):
        return None
    try:
        details = json.loads(rest[: -len(_CLOSE)])
    except (ValueError, RecursionError):
        return None
    return Record(details) if isinstance(details, dict) else None
