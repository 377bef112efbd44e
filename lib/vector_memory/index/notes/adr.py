"""Architecture decision records: a note's status, date and successor."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone

from vector_memory.index.notes.markdown import Document
from vector_memory.standing import DOUBTS
from vector_memory.text.failures import without_times
from vector_memory.text.words import words_in

_ANY_NUMBER = re.compile(r"(?:^|[^\w])(?:adr[-_ #]*)?0*(\d{1,5})(?=\D|$)", re.IGNORECASE)
_FOLDERS = frozenset(["adr", "adrs", "decisions", "decision-records", "architecture-decisions"])
_DATE_LINES = frozenset(["date", "decided", "decided on", "accepted", "accepted on"])
_DATE_SIGNS, _DAY_CHARS = "0123456789-", len("2026-01-02")
_SUPERSEDING_WORDS = ("superseded", "replaced")
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
    words = words_in(status)
    gone_word = next((word for word in words if word in _SUPERSEDING_WORDS), "")
    doubt_word = next((word for word in words if word in DOUBTS), "")
    status_end = status.lower().partition(gone_word)[2] if gone_word else ""
    successor = document.front.get("superseded-by", "") or status_end
    number_match = _ANY_NUMBER.search(without_times(successor))
    return DecisionRecord(
        number=number_of(path),
        superseded=bool(gone_word) or "superseded-by" in document.front,
        successor=number_match[1] if number_match else "",
        doubt="" if gone_word else doubt_word,
    )


def is_record(path: str, document: Document) -> bool:
    """Whether a note is a decision record: by its name, its folder, or its sections."""
    *folders, name = path.replace("\\", "/").split("/")
    if name.lower().startswith("adr") and name[3:].lstrip("-_ ")[:1].isdigit():
        return True
    if folders and folders[-1].lower() in _FOLDERS and name[:1].isdigit():
        return True
    sections = {block.headings[-1].lower() for block in document.blocks if block.headings}
    return {"status", "decision", "context"} <= sections


def number_of(path: str) -> str:
    """Return a record's number without leading zeros, "" where its name has none."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    match = _ANY_NUMBER.search(name)
    return match[1] if match else ""


def date_of(document: Document) -> datetime | None:
    """Return the day that a note names as its own, as UTC, or None."""
    texts = [document.front[name] for name in _DATE_FIELDS if name in document.front]
    texts += [
        block.text
        for block in document.blocks[:12]
        if _field(block.text)[0] in _DATE_LINES or _section(block.headings) in ("status", "date")
    ]
    return next((day for day in map(_day, texts) if day), None)


def is_about_itself(text: str, headings: tuple[str, ...]) -> bool:
    """Whether a block only tells a record's status or date."""
    name, _ = _field(text)
    return name == "status" or name in _DATE_LINES or _section(headings) in ("status", "date")


def _status(document: Document) -> str:
    if "status" in document.front:
        return document.front["status"]
    texts = [block.text for block in document.blocks if _section(block.headings) == "status"]
    if texts:
        return " ".join(texts)
    fields = (_field(block.text) for block in document.blocks[:12])
    return next((value for name, value in fields if name == "status"), "")


def _field(text: str) -> tuple[str, str]:
    """Return name and value of `name: value`, two times "" of another text."""
    name, _, value = text.partition(":")
    return (name.strip().lower(), value.strip()) if value.strip() else ("", "")


def _section(headings: tuple[str, ...]) -> str:
    return headings[-1].lower().strip(" :") if headings else ""


def _day(text: str) -> datetime | None:
    for word in "".join(sign if sign in _DATE_SIGNS else " " for sign in text).split():
        with suppress(ValueError):
            day = datetime.strptime(word[:_DAY_CHARS], "%Y-%m-%d")
            return day.replace(tzinfo=timezone.utc)
    return None
