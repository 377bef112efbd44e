"""Looking for words in files byte by byte, whatever a file's format: so a purge shows that they are gone."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import re2

from vector_memory.redact.automaton import options
from vector_memory.system.unpacking import Unpacked

CHUNK_BYTES = 1 << 20
"""What is read at once: the daemon answers others between two chunks."""
MEMORY_BYTES = 64 << 20
MOST_PIECES = 120
PIECE_CHARS = 48
LEAST_CHARS = 12
"""How many pieces of texts are looked for at most, and how long each is."""


@dataclass
class SearchResult:
    """What a search read, and where it found something: paths with the places (start, end) in each."""

    files: int = 0
    bytes: int = 0
    found: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)


class Needles:
    """Words in every form in which a file of ours may hold them: as they are, in capitals or small
    letters, as UTF-16, inside JSON, and inside JSON inside JSON.

    Args:
        pieces: the words, at least one.
        names: longer words of ours that may contain one of them, which does not count there.
    """

    def __init__(self, pieces: Sequence[str], names: Iterable[str] = ()) -> None:
        forms = {form for piece in pieces for form in _forms(piece)}
        self._names = [name.encode().lower() for name in names]
        # The longest first: a shorter form is a part of a longer one.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        either = b"|".join(map(_escape_bytes, ordered))
        self._pattern = re2.compile(either, options(case_sensitive=False, most_bytes=MEMORY_BYTES))
        self._longest = len(ordered[0])

    def places(self, data: bytes) -> list[tuple[int, int]]:
        """Return where the words stand in these bytes, as (start, end)."""
        spans = (match.span() for match in self._pattern.finditer(data))
        return [(start, end) for start, end in spans if not self._is_of_name(data, start, end)]

    def _is_of_name(self, data: bytes, start: int, end: int) -> bool:
        """Whether what stands there is a part of a name, and no more than that."""
        word = data[start:end].lower()
        return any(
            name.startswith(word, at) and data[start - at : start - at + len(name)].lower() == name
            for name in self._names
            for at in range(min(start, len(name) - len(word)) + 1)
            if len(name) > len(word)
        )

    def in_file(self, file: IO[bytes]) -> tuple[int, list[tuple[int, int]]]:
        """Return how many bytes a file has, and where in it the words stand."""
        places: set[tuple[int, int]] = set()
        size, tail = 0, b""
        while block := file.read(CHUNK_BYTES):
            data = tail + block
            start = size - len(tail)
            places.update((start + begin, start + end) for begin, end in self.places(data))
            size += len(block)
            tail = data[-(self._longest - 1) :] if self._longest > 1 else b""
        return size, sorted(places)


def search(paths: Iterable[str], needles: Needles) -> SearchResult:
    """Look into every one of these files; gzipped ones are read as what they hold.

    Returns:
        Where something was found, and what could not be read.
    """
    result = SearchResult()
    for path in paths:
        try:
            with _open(path) as file:
                size, places = needles.in_file(file)
        except FileNotFoundError:
            # It was there when the folder was listed: the daemon works on.
            continue
        except (OSError, EOFError, zlib.error):
            result.unread.append(path)
            continue
        result.files += 1
        result.bytes += size
        if places:
            result.found[path] = places
    return result


def files_below(folder: str, without: Iterable[str] = ()) -> Iterator[str]:
    """Yield the regular files in a folder and below, but for those in the folders `without`. Links are
    not followed."""
    excluded = set(without)
    for current, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if os.path.join(current, name) not in excluded)
        for name in sorted(names):
            path = os.path.join(current, name)
            with contextlib.suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path


def overwrite(path: str, places: Sequence[tuple[int, int]]) -> None:
    """Write stars over these places of a file, durably. It stays as long as it was, so that who appends to
    it meanwhile is not disturbed."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK), "r+b") as file:
        for start, end in places:
            file.seek(start)
            file.write(b"*" * (end - start))
        file.flush()
        os.fsync(file.fileno())


def pieces_of(texts: Sequence[str], most: int = MOST_PIECES) -> list[str]:
    """Return pieces of texts to look for: of each its longest line or two, cut to a size that a file hardly breaks. Of
    many texts at most `most` pieces, evenly taken."""
    pieces = list(dict.fromkeys(piece for text in texts for piece in _pieces(text)))
    step = max(1.0, len(pieces) / most)
    return [pieces[int(number * step)] for number in range(min(len(pieces), most))]


def _pieces(text: str) -> Iterator[str]:
    lines = sorted({" ".join(line.split()) for line in text.splitlines()}, key=len, reverse=True)
    for line in lines[:2]:
        middle = max(0, (len(line) - PIECE_CHARS) // 2)
        piece = line[middle : middle + PIECE_CHARS].strip()
        if len(piece) >= LEAST_CHARS:
            yield piece


def _forms(piece: str) -> Iterator[bytes]:
    for words in {piece, piece.lower(), piece.upper(), piece.casefold()}:
        once = _json_forms({words})
        escaped = {words} | once | _json_forms(once)
        yield from (form.encode("utf-8", "replace") for form in escaped)
        yield from (words.encode(name, "replace") for name in ("utf-16-le", "utf-16-be"))


def _json_forms(words: set[str]) -> set[str]:
    return {
        json.dumps(word, ensure_ascii=ascii_only)[1:-1]
        for word in words
        for ascii_only in (True, False)
    }


def _escape_bytes(form: bytes) -> bytes:
    return b"".join(b"\\x%02x" % byte for byte in form)


@contextlib.contextmanager
def _open(path: str) -> Iterator[IO[bytes]]:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        file_stat = os.fstat(descriptor)
        if not stat.S_ISREG(file_stat.st_mode) or file_stat.st_nlink > 1:
            raise OSError(errno.EMLINK, "it stands elsewhere, too, and may be another's")
        # A file that is not gzipped, though its name says so, raises, and counts as unread.
        yield Unpacked(file) if path.endswith(".gz") else file  # type: ignore[misc]
