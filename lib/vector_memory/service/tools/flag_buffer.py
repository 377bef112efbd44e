"""Flags of running sessions: lines of JSON in a small file, until a turn ends and they become records.

Every word in it went through redaction before. It lies among the logs, which a purge searches and writes
over. A line is one write, so that a daemon that is killed loses nothing that was written; a line that was cut
off is skipped.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from vector_memory.client.spool import write_all
from vector_memory.system.files import drop
from vector_memory.system.paths import Home

FILE = "flags.jsonl"
MOST_BYTES = 2_000_000
"""A buffer that nobody empties grows no further."""
_writing = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Flag:
    """What the observer found in a call, every word of it redacted.

    Attributes:
        id: the same for the same finding of the same call.
        folder: where the session was started; a session's record does not keep it.
        at: when, in ISO form.
        agent: a subagent made the call.
        text: what it was found in, `reason` why, and `target` what would be hit.
        topic: what the user had asked for.
        asked: the user had asked for just this.
        verdict: what the user says of it: `asked`, `false`, or "" for nothing.
    """

    id: str
    session: str = ""
    folder: str = ""
    at: str = ""
    tool: str = ""
    agent: bool = False
    category: str = ""
    severity: str = ""
    text: str = ""
    reason: str = ""
    target: str = ""
    topic: str = ""
    asked: bool = False
    verdict: str = ""


_KINDS = {field.name: str if field.type == "str" else bool for field in fields(Flag)}


def flags_in(values: Iterable[object]) -> list[Flag]:
    """Return the flags that were written as JSON, without anything else, and of each what is a word of it."""
    rows = [row for row in values if isinstance(row, dict) and isinstance(row.get("id"), str)]
    return [
        Flag(
            **{name: row[name] for name, kind in _KINDS.items() if isinstance(row.get(name), kind)}
        )
        for row in rows
    ]


def path_of(home: Home) -> str:
    """Return where the buffer is."""
    return os.path.join(home.logs, FILE)


def append(home: Home, flags: Sequence[Flag]) -> int:
    """Write flags and return how many: none where the buffer is full or cannot be written."""
    # What was cut off in the middle of a line must not take the next one with it.
    lines = b"\n" + b"".join(json.dumps(vars(flag)).encode("ascii") + b"\n" for flag in flags)
    with _writing:
        try:
            descriptor = os.open(
                path_of(home), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600
            )
        except OSError:
            return 0
        try:
            if os.fstat(descriptor).st_size + len(lines) > MOST_BYTES:
                return 0
            write_all(descriptor, lines)
        except OSError:
            return 0
        finally:
            os.close(descriptor)
    return len(flags)


def take(home: Home) -> tuple[str, list[Flag]]:
    """Set the buffer aside and return it: its path, to be removed when its flags are stored, and its flags.
    One that was set aside before comes first: a daemon ended before it was done with it."""
    path = path_of(home)
    taken = f"{path}.taken"
    with _writing:
        if not os.path.exists(taken):
            try:
                os.rename(path, taken)
            except OSError:
                return "", []
    return taken, _read(taken)


def done(taken: str) -> None:
    """Remove a buffer whose flags are stored."""
    drop(taken)


def _read(path: str) -> list[Flag]:
    values = []
    with open(path, "rb") as file:
        for line in file.read(2 * MOST_BYTES).splitlines():
            with contextlib.suppress(ValueError):
                values.append(json.loads(line))
    return flags_in(values)
