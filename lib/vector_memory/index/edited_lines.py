"""The lines that an exchange's edits wrote and took away, each as a few bytes of a hash: by these a later exchange is
known to have changed what an earlier one made, in whatever words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from itertools import islice

from vector_memory.index.exchanges import Exchange
from vector_memory.model import TOOK_AWAY, WROTE
from vector_memory.text import shell

BYTES = 5
"""Of a line's hash: by chance two lines of a million are alike once in a million."""
MOST_LINES = 150
"""Lines of one exchange that are kept: what is longer was generated, or is a whole file."""
LEAST_LETTERS = 8
"""Letters and digits of a line: shorter ones stand in many places ("return 0", "else:")."""


def edited_lines(exchange: Exchange, clean: Callable[[str], str]) -> dict[str, object]:
    """Return what an exchange wrote and took away, as its first passage's `extra` has it; {} for nothing.

    Args:
        clean: redacts a text.
    """
    wrote, took = dict[str, None](), dict[str, None]()
    for call in exchange.calls:
        if call.failed:
            continue
        took |= dict.fromkeys(f"{_name(path)}\0" for path in _removed(call.command))
        # It goes with its folder, too.
        folder = call.file.replace("\\", "/").rpartition("/")[0]
        wrote |= dict.fromkeys(f"{_name(path)}\0" for path in (call.file, folder) if path)
        for old, new in call.edits:
            before, after = _lines(old), _lines(new)
            for into, lines, others in ((wrote, after, before), (took, before, after)):
                own = "\n".join(line for line in lines if line not in others)
                into |= dict.fromkeys(f"{_name(call.file)}\0{line}" for line in _lines(clean(own)))
    # What was written and changed again on the way is no exchange's word.
    kept = {WROTE: (line for line in wrote if line not in took), TOOK_AWAY: (line for line in took if line not in wrote)}  # fmt: skip
    marks = {name: _packed(islice(lines, MOST_LINES)) for name, lines in kept.items()}
    return {name: packed for name, packed in marks.items() if packed}


def marks_in(packed: object) -> list[int]:
    """Return the marks of lines that a passage's `extra` holds; none where it is nothing of the kind."""
    try:
        packed_bytes = bytes.fromhex(packed) if isinstance(packed, str) else b""
    except ValueError:
        return []
    places = range(0, len(packed_bytes) - BYTES + 1, BYTES)
    return [int.from_bytes(packed_bytes[at : at + BYTES], "big") for at in places]


def _packed(lines: Iterable[str]) -> str:
    hashes = (line.encode("utf-8", "surrogatepass") for line in lines)
    return "".join(hashlib.blake2b(line, digest_size=BYTES).hexdigest() for line in hashes)


def _removed(command: str) -> list[str]:
    """Return the files and folders that a command line deletes by their names."""
    if "rm" not in command:
        return []
    words = ([word.text for word in one.words if word.plain and not word.glob] for one in shell.parse(command))  # fmt: skip
    behind = (line[2:] if line[:2] == ["git", "rm"] else line[1:] if line[:1] == ["rm"] else [] for line in words)  # fmt: skip
    return [path.rstrip("/") for line in behind for path in line if not path.startswith("-")]


def _lines(text: str) -> dict[str, None]:
    """Return a text's lines that say something, however they are indented, in their order."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return dict.fromkeys(line for line in lines if sum(map(str.isalnum, line)) >= LEAST_LETTERS)


def _name(path: str) -> str:
    """Return a file's name: worktrees and subfolders have it under several paths."""
    return path.replace("\\", "/").rpartition("/")[2]
