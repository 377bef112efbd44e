"""Error messages and stack traces: what is the same whenever the same thing fails.

Paths, line numbers, addresses, times and ids differ from run to run and from machine to machine; they
are taken out, so that an error finds the memory of its last occurrence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from vector_memory.text import tables
from vector_memory.text.harmless import ESCAPE_SEQUENCE

MAX_CHARS = 20_000
MESSAGE_CHARS = 400
LINE_CHARS = 2_000
MOST_FRAMES = 5


@dataclass(frozen=True)
class Failure:
    """An error that a text holds: its kind (`TypeError`, `E0382`, `ENOENT`, "" if unknown), its
    message without what changes, and where it came from: file and function names, innermost
    first, at most five."""

    kind: str
    message: str
    frames: tuple[str, ...]


_TABLE = tables.sections("failures", os.path.dirname(__file__))
_CHANGING_PARTS = [
    (re.compile(pattern), instead.strip('"'))
    for pattern, _, instead in (entry.partition("\t") for entry in _TABLE["changing"])
]
_TIMES = [pattern for pattern, instead in _CHANGING_PARTS if instead == "<time>"]
_ERROR_LINES = list(map(re.compile, _TABLE["lines"]))
_ERROR_SIGN = re.compile(
    r"error|exception|traceback|panic|fatal|failed|FAIL|not found|No such file|denied|refused"
    r"|\bE[A-Z]{4,}\b|[45]\d\d ",
    re.IGNORECASE,
)
_PLAIN_BEGINNINGS, _PLAIN_WORDS = ("error", "fatal"), ("command not found", "No such file")
_FRAME = re.compile(
    r'^\s*File "(?P<python>[^"]+)", line \d+(?:, in (?P<python_in>.+))?$'
    r"|^\s*at (?P<java_in>[\w.$<>]+)\((?P<java>[\w.]+)(?::\d+)?\)$"
    r"|^\s*at (?:async )?(?:(?P<node_in>.+?) \()?(?P<node>(?:file://)?[^()\s]+?):\d+:\d+\)?$"
    r"|^\s*-->\s*(?P<rust>[^\s:]+):\d+|^\s+(?P<go>/\S+\.go):\d+|^(?P<place>[\w./\\-]+\.\w{1,4})[:(]\d+"
)


def normalise(text: str) -> str:
    """Return a text without what differs from run to run and from machine to machine."""
    text = ESCAPE_SEQUENCE.sub("", text[:MAX_CHARS])
    for pattern, instead in _CHANGING_PARTS:
        text = pattern.sub(instead, text)
    return text.strip()


def undated(line: str) -> str:
    """Return a line without the day and the time at which it was printed, where it begins with them."""
    bare = line.lstrip("[( ")
    match = next(filter(None, (pattern.match(bare) for pattern in _TIMES)), None)
    return bare[match.end() :].lstrip("])-,: ") if match else line


def without_times(text: str) -> str:
    """Return a text without the days and times in it."""
    for pattern in _TIMES:
        text = pattern.sub("", text)
    return text


def failure(text: str) -> Failure | None:
    """Return the error that a text holds, None where there is none that can be recognised."""
    text = text[:MAX_CHARS]
    if not _ERROR_SIGN.search(text):
        return None
    lines = ESCAPE_SEQUENCE.sub("", text).split("\n")
    error = _telling_error(lines)
    frames = tuple(dict.fromkeys(_frames(lines)))
    if error is None:
        return None
    kind, message = error
    is_vague = not frames and "\n" not in text and kind.lower() in ("error", "fatal", "")
    # One line with a colon after "error" may be a sentence about errors.
    is_plain = text.lstrip().startswith(_PLAIN_BEGINNINGS)
    if is_vague and not is_plain and not any(words in text for words in _PLAIN_WORDS):
        return None
    return Failure(kind, normalise(message)[:MESSAGE_CHARS].strip(), frames[:MOST_FRAMES])


def _telling_error(lines: list[str]) -> tuple[str, str] | None:
    """Return kind and message of the line that says most: the last named error, else the first."""
    errors: list[tuple[int, str, str]] = []
    for number, line in enumerate(lines):
        line = line.strip()[:LINE_CHARS]
        for rank, pattern in enumerate(_ERROR_LINES):
            match = pattern.search(line)
            if match:
                parts = match.groupdict()
                message = (parts.get("message") or "").strip()
                is_begun = "panicked at" in line or line.endswith(":") or is_code(message)
                if number + 1 < len(lines) and is_begun:
                    message = f"{message} {lines[number + 1].strip()}".strip()
                errors.append((rank, (parts.get("kind") or "").split(".")[-1], message))
                break
    if not errors:
        return None
    best = min(rank for rank, _, _ in errors)
    # Chained Python and Java errors end with what was raised last, a compiler begins with the cause.
    best_errors = [ranked for ranked in errors if ranked[0] == best]
    rank, kind, message = best_errors[-1] if best == 0 else best_errors[0]
    return ("panic" if "panicked" in message else kind), message


def is_code(message: str) -> bool:
    """Whether a message is nothing but the code of an error: `[GHC-87110]`."""
    return message != "" and all(word[0] + word[-1] == "[]" for word in message.split())


def _frames(lines: list[str]) -> Iterator[str]:
    """Yield file and function names, innermost first."""
    python_frames: list[str] = []
    other_frames: list[str] = []
    for frame in filter(None, map(_FRAME.match, lines)):
        if frame["python"]:
            python_frames.append(_frame_name(frame["python"], frame["python_in"]))
        elif frame["java"]:
            other_frames.append(_frame_name(frame["java"], frame["java_in"].rsplit(".", 1)[-1]))
        else:
            path = frame["node"] or frame["rust"] or frame["go"] or frame["place"]
            other_frames.append(_frame_name(path, frame["node_in"]))
    yield from reversed(python_frames)
    yield from other_frames


def _frame_name(path: str, function: str | None) -> str:
    name = path.replace("\\", "/").rpartition("/")[2]
    if function and function not in ("<module>", "<anonymous>", "Object.<anonymous>"):
        return f"{name} {function}"
    return name
