"""Architecture decision records: a note's status, date and successor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timezone

from vector_memory.index.notes.markdown import Document

_NAMED = re.compile(r"^adr[-_ ]?\d", re.IGNORECASE)
_NUMBERED = re.compile(r"^(\d{1,5})[-_ .]")
_ANY_NUMBER = re.compile(r"(?:^|[^\w])(?:adr[-_ #]*)?0*(\d{1,5})(?=\D|$)", re.IGNORECASE)
_FOLDERS = frozenset(["adr", "adrs", "decisions", "decision-records", "architecture-decisions"])
_STATUS_LINE = re.compile(r"^status\s*:\s*(.+)", re.IGNORECASE)
_DATE_LINE = re.compile(r"^(?:date|decided(?: on)?|accepted(?: on)?)\s*:\s*(.+)", re.IGNORECASE)
_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_GONE = re.compile(r"\b(superseded|replaced)\b", re.IGNORECASE)
_NOT_IN_FORCE = re.compile(r"\b(rejected|proposed|draft|deprecated|withdrawn)\b", re.IGNORECASE)
_DATE_FIELDS = ("date", "created", "created-at", "decided", "updated")


@dataclass(frozen=True)
class DecisionRecord:
    """What a record says of itself. `number` is "7" for `0007-queues.md`; `successor` the number
    of the record that took its place; `doubt` is `proposed`, `rejected` or the like, "" while it
    holds."""

    number: str = ""
    superseded: bool = False
    successor: str = ""
    doubt: str = ""


def record(path: str, document: Document) -> DecisionRecord | None:
    """Return what a decision record says of itself, None where the note is none."""
    if not is_record(path, document):
        return None
    status = _status(document)
    gone = _GONE.search(status)
    doubt = None if gone else _NOT_IN_FORCE.search(status)
    after = status[gone.end() :] if gone else ""
    successor = document.front.get("superseded-by", "") or after
    found = _ANY_NUMBER.search(_DATE.sub("", successor))
    return DecisionRecord(
        number=number_of(path),
        superseded=bool(gone) or "superseded-by" in document.front,
        successor=found[1] if found else "",
        doubt=doubt[1].lower() if doubt else "",
    )


def is_record(path: str, document: Document) -> bool:
    """Whether a note is a decision record: by its name, its folder, or its sections."""
    *folders, name = path.replace("\\", "/").split("/")
    if _NAMED.search(name):
        return True
    if folders and folders[-1].lower() in _FOLDERS and _NUMBERED.search(name):
        return True
    sections = {block.headings[-1].lower() for block in document.blocks if block.headings}
    return {"status", "decision", "context"} <= sections


def number_of(path: str) -> str:
    """Return a record's number without leading zeros, "" where its name has none."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    found = _ANY_NUMBER.search(name)
    return found[1] if found else ""


def date_of(document: Document) -> datetime | None:
    """Return the day that a note names as its own, as UTC, or None."""
    said = [document.front[name] for name in _DATE_FIELDS if name in document.front]
    for block in document.blocks[:12]:
        line = _DATE_LINE.search(block.text)
        if line:
            said.append(line[1])
        elif _section(block.headings) in ("status", "date"):
            said.append(block.text)
    return next((day for day in map(_day, said) if day), None)


def is_about_itself(text: str, headings: tuple[str, ...]) -> bool:
    """Whether a block only tells a record's status or date."""
    plain_field = _STATUS_LINE.search(text) or _DATE_LINE.search(text)
    return bool(plain_field) or _section(headings) in ("status", "date")


def _status(document: Document) -> str:
    if "status" in document.front:
        return document.front["status"]
    said = [block.text for block in document.blocks if _section(block.headings) == "status"]
    if said:
        return " ".join(said)
    lines = (_STATUS_LINE.search(block.text) for block in document.blocks[:12])
    return next((line[1] for line in lines if line), "")


def _section(headings: tuple[str, ...]) -> str:
    return headings[-1].lower().strip(" :") if headings else ""


def _day(text: str) -> datetime | None:
    found = _DATE.search(text)
    if not found:
        return None
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=timezone.utc)
    except ValueError:
        return None
