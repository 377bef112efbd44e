"""The lines that an exchange's edits wrote and took away, each as a few bytes of a hash: by these a later exchange is
known to have changed what an earlier one made, in whatever words."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from vector_memory.index.exchanges import Exchange
from vector_memory.model import TOOK_AWAY, WROTE
from vector_memory.text import shell
from vector_memory.text.words import words_in

BYTES = 5
"""Of a line's hash: by chance two lines of a million are alike once in a million."""
MOST_LINES = 150
"""Lines of one exchange that are kept: what is longer was generated, or is a whole file."""
LEAST_LETTERS = 8
"""Letters and digits of a line: shorter ones stand in many places ("return 0", "else:")."""
DIGITS = "0123456789abcdef"
SIGNS = "!#$%&()*+-./:;<="
"""What stands for the digits of marks: no word or number that is purged is found in them."""
WRITTEN, READ = str.maketrans(DIGITS, SIGNS), str.maketrans(SIGNS, DIGITS)
_CHANGELOG_NAMES = ("changelog", "changes", "history", "news")
"""What files are called that tell what was, anew with each release."""
_KEEPING_OPTIONS = ("--cached", "-n", "--dry-run")
"""Options with which `git rm` deletes nothing."""


def edited_lines(exchange: Exchange, clean: Callable[[str], str]) -> dict[str, object]:
    """Return what an exchange wrote and took away, as its first passage's `extra` has it; {} for nothing. What lies
    outside of its folder, and calls that failed or were never answered, count for nothing.

    Args:
        clean: redacts a text.
    """
    written, removed = dict[str, None](), dict[str, None]()
    for call in exchange.calls:
        if call.failed or not call.is_done:
            continue
        removed |= dict.fromkeys(f"{path}\0" for path in _removed_paths(call.command, exchange.cwd))
        path = _path_below(call.file, exchange.cwd)
        if path is None or path.rpartition("/")[2].partition(".")[0].casefold() in _CHANGELOG_NAMES:
            continue
        # A file goes when any folder that it lies in is removed: they count, too.
        written |= dict.fromkeys(f"{path}\0" for path in (path, *_folders_above(path)))
        for old, new in call.edits:
            before, after = _telling_lines(old), _telling_lines(new)
            if sorted(words_in(old)) == sorted(words_in(new)):
                # Laid out in another way it says the same.
                after |= before
                before = after
            for into, lines, opposite in ((written, after, before), (removed, before, after)):
                text = "\n".join(line for line in lines if line not in opposite)
                into |= dict.fromkeys(f"{path}\0{line}" for line in _telling_lines(clean(text)))
    # What was written and taken away again within the exchange counts for nothing.
    lasting = {WROTE: (line for line in written if line not in removed), TOOK_AWAY: (line for line in removed if line not in written)}  # fmt: skip
    marks = {name: _packed(islice(lines, MOST_LINES)) for name, lines in lasting.items()}
    return {name: packed for name, packed in marks.items() if packed}


def bytes_of(packed: object) -> bytes:
    """Return the marks of lines that a passage's `extra` holds, one behind the other, `BYTES` of each; b"" where it is
    nothing of the kind."""
    try:
        marks = bytes.fromhex(packed.translate(READ)) if isinstance(packed, str) else b""
    except ValueError:
        return b""
    return marks if len(marks) % BYTES == 0 else b""


def _packed(lines: Iterable[str]) -> str:
    hashes = (line.encode("utf-8", "surrogatepass") for line in lines)
    whole = "".join(hashlib.blake2b(line, digest_size=BYTES).hexdigest() for line in hashes)
    return whole.translate(WRITTEN)


def _removed_paths(command_line: str, cwd: str) -> Iterator[str]:
    """Yield the files and folders that a command line deletes by their names, as they lie below a folder."""
    for command in shell.parse(command_line) if "rm" in command_line else ():
        words = [word.text for word in command.words if word.plain and not word.glob]
        paths = words[2:] if words[:2] == ["git", "rm"] else words[1:] if words[:1] == ["rm"] else []  # fmt: skip
        if any(word in _KEEPING_OPTIONS for word in words):
            continue
        for path in paths:
            below = (
                None
                if path.startswith("-")
                else _path_below(posixpath.join(command.folder, path), cwd)
            )
            if below:
                yield below


def _path_below(path: str, cwd: str) -> str | None:
    """Return where a file lies below a folder, None where it does not."""
    slashed, folder = path.replace("\\", "/"), cwd.replace("\\", "/").rstrip("/") + "/"
    below = posixpath.normpath(slashed.removeprefix(folder)) if slashed else ".."
    is_outside = below.startswith(("/", "..", "~")) or below[1:2] == ":"
    return None if is_outside or below == "." else below


def _folders_above(path: str) -> Iterator[str]:
    """Yield the folders that a file lies in, the innermost first."""
    while path := path.rpartition("/")[0]:
        yield path


def _telling_lines(text: str) -> dict[str, None]:
    """Return a text's lines that say something, however they are indented, in their order."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return dict.fromkeys(line for line in lines if sum(map(str.isalnum, line)) >= LEAST_LETTERS)
