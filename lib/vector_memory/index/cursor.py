"""How far a transcript was read, so that it can be read on. No text of it is kept in a cursor."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

from vector_memory.system.files import open_plain

HEAD_BYTES = 1_024
TAIL_BYTES = 256


class Position(NamedTuple):
    """A place in a transcript: `offset` bytes, `line` lines and `turns` exchanges lie before it, and `part`
    objects of its first line. Of two places the greater comes later."""

    offset: int = 0
    part: int = 0
    line: int = 0
    turns: int = 0


@dataclass(frozen=True)
class Cursor:
    """Where reading goes on: at the start of the oldest exchange that may still grow.

    `offset`, `part`, `line` and `turns` are that place (`Position`). `head` and `tail` are hashes of the
    file's first `head_bytes` and of the bytes just before `offset`. `emitted` holds hashes of the exchanges
    after `offset` that were given out, by their key. `lessons` is where the last task begins of which lessons
    were taken: it may still go on, so lessons begin there again.
    """

    offset: int = 0
    line: int = 0
    part: int = 0
    turns: int = 0
    head_bytes: int = 0
    head: str = ""
    tail: str = ""
    emitted: dict[str, str] = field(default_factory=dict)
    lessons: Position = Position()

    @property
    def position(self) -> Position:
        """Where reading goes on."""
        return Position(self.offset, self.part, self.line, self.turns)

    def to_dict(self) -> dict[str, object]:
        """Return the cursor as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: Mapping[str, object]) -> Cursor:
        """Return the cursor that `to_dict` made; one at the start when `raw` is none."""
        values: dict[str, Any] = {
            cursor_field.name: raw[cursor_field.name]
            for cursor_field in fields(cls)
            if cursor_field.name in raw
        }
        if isinstance(lessons := values.get("lessons"), list):
            values["lessons"] = Position(*(number for number in lessons[:4] if type(number) is int))
        defaults = asdict(cls())
        if any(type(value) is not type(defaults[name]) for name, value in values.items()):
            return cls()
        return cls(**values)

    def still_fits(self, path: str) -> bool:
        """Whether the file is the one that was read, only longer: not cut, rewritten or replaced."""
        if os.path.getsize(path) < self.offset:
            return False
        head, tail = fingerprint(path, self.offset, self.head_bytes)
        return (head, tail) == (self.head, self.tail)


def fingerprint(path: str, offset: int, head_bytes: int) -> tuple[str, str]:
    """Return the hashes of a file's first `head_bytes` bytes and of those just before `offset`."""
    with open_plain(path) as file:
        head = file.read(head_bytes)
        start = max(0, offset - TAIL_BYTES)
        file.seek(start)
        tail = file.read(offset - start)
    return _hash(head), _hash(tail)


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=12).hexdigest()
