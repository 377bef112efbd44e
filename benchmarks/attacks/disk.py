"""Looking for thousands of values in every byte below some folders, whatever a file's form: as they are, in
other case, as UTF-16, as JSON, base64, percent signs and hexadecimal write them, whole or a part of them.

Of each form, windows of eight bytes stand in one sorted table; every place of a file is compared with it at
once. What stands in compressed files, in archives and in SQLite's and LanceDB's tables is read out first.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import json
import os
import re
import sqlite3
import stat
import tarfile
import tempfile
import urllib.parse
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

WINDOW = 8
LEAST_PIECE = 12
"""A part of a value counts from so many characters on: fewer may be anybody's."""
BLOCK_BYTES = 1 << 22
OVERLAP = 256
MOST_BYTES = 1 << 30
BITS = 25
ESCAPED = re.compile(rb"\\u00([0-9a-fA-F]{2})")
FULL_TEXT = re.compile(rb"using\s+fts5\s*\(", re.IGNORECASE)


def forms(value: str) -> dict[bytes, float]:
    """Return the bytes that a file may hold a value as, with how many of them are one character."""
    words = {value, value.lower(), value.upper()}
    texts = words | {json.dumps(value)[1:-1], urllib.parse.quote(value, safe="")}
    found = {text.encode(): 1.0 for text in texts}
    found |= {value.encode(name): 2.0 for name in ("utf-16-le", "utf-16-be")}
    found[value.encode().hex().encode()] = 2.0
    for shift in range(3):
        # Of base64 the part that does not depend on what stands around the value.
        coded = base64.b64encode(b"\0" * shift + value.encode())
        found[coded[4 if shift else 0 : -4]] = 4 / 3
    return {form: size for form, size in found.items() if len(form) >= WINDOW}


class Needles:
    """The values that are looked for."""

    def __init__(self, values: Iterable[str]) -> None:
        self._sizes = [
            (form, value, size) for value in set(values) for form, size in forms(value).items()
        ]
        self._sizes.sort()
        self._forms = [(form, value) for form, value, _ in self._sizes]
        self._shared = _shared(self._forms)
        windows: list[int] = []
        owners: list[tuple[int, int]] = []
        for number, (form, _) in enumerate(self._forms):
            last = len(form) - WINDOW
            for at in {*range(0, last + 1, WINDOW), last}:
                windows.append(int.from_bytes(form[at : at + WINDOW], "little"))
                owners.append((number, at))
        table = np.array(windows, dtype=np.uint64)
        order = np.argsort(table, kind="stable")
        self._table, self._owners = table[order], [owners[place] for place in order]
        self._bits = np.zeros(1 << BITS, dtype=bool)
        if len(table):
            self._bits[_hashed(table)] = True

    def found_in(self, data: bytes) -> dict[str, int]:
        """Return the values of which something stands in these bytes, with the most of its characters (in the
        form in which it stands there) that do."""
        found: dict[str, int] = {}
        if not len(self._table):
            return found
        for shift in range(WINDOW):
            count = (len(data) - shift) // WINDOW
            if count <= 0:
                break
            seen = np.frombuffer(data, dtype="<u8", count=count, offset=shift)
            maybe = np.flatnonzero(self._bits[_hashed(seen)])
            places = np.searchsorted(self._table, seen[maybe])
            for place, index in zip(places.tolist(), maybe.tolist(), strict=True):
                window = int(seen[index])
                while place < len(self._table) and int(self._table[place]) == window:
                    self._grow(data, index * WINDOW + shift, *self._owners[place], found)
                    place += 1
        return found

    def _grow(self, data: bytes, start: int, number: int, at: int, found: dict[str, int]) -> None:
        """Note how much of a form stands around a window that fits."""
        form, value = self._forms[number]
        first, last = at, at + WINDOW
        while (
            first > 0 and start - at + first > 0 and data[start - at + first - 1] == form[first - 1]
        ):
            first -= 1
        while (
            last < len(form)
            and start - at + last < len(data)
            and data[start - at + last] == form[last]
        ):
            last += 1
        # How a shape begins is no part of the secret: others begin so too.
        begin, unit = self._shared[number], self._sizes[number][2]
        size = (last - max(first, begin)) / unit
        if size >= min(LEAST_PIECE, (len(form) - begin) / unit):
            found[value] = max(found.get(value, 0), int(size))


def _shared(ordered: list[tuple[bytes, str]]) -> list[int]:
    """Return of each form how long it begins like one of another value, of forms in order."""
    common = [0] * len(ordered)
    for place, (form, value) in enumerate(ordered):
        for step in (-1, 1):
            other = place + step
            while 0 <= other < len(ordered) and ordered[other][1] == value:
                other += step
            if 0 <= other < len(ordered):
                both = os.path.commonprefix([form, ordered[other][0]])
                common[place] = max(common[place], len(both))
    return common


def _hashed(windows: NDArray[np.uint64]) -> NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        mixed = windows * np.uint64(0x9E3779B97F4A7C15)
    return mixed >> np.uint64(64 - BITS)


@dataclass
class Searched:
    """What was read, and which values stand in which files."""

    files: int = 0
    bytes: int = 0
    found: dict[str, set[str]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)


def search(folders: Iterable[str], needles: Needles, without: Iterable[str] = ()) -> Searched:
    """Look into every file below these folders, and at the names of all of them.

    Args:
        without: folders that are left out.
    """
    done = Searched()
    left_out = {os.path.realpath(one) for one in without}
    for folder in folders:
        for here, below, names in os.walk(folder):
            below[:] = [
                one for one in below if os.path.realpath(os.path.join(here, one)) not in left_out
            ]
            listed = "\n".join([*below, *names]).encode("utf-8", "surrogateescape")
            _note(done, needles, listed, f"{here} (names)")
            for name in names:
                path = os.path.join(here, name)
                with contextlib.suppress(OSError):
                    if stat.S_ISREG(os.lstat(path).st_mode):
                        done.files += 1
                        _file(done, needles, path)
            if here.endswith(".lance"):
                _table(done, needles, here)
    return done


def _note(done: Searched, needles: Needles, data: bytes, path: str) -> None:
    done.bytes += len(data)
    looks = [data]
    if ESCAPED.search(data):
        looks.append(ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), data))
    for look in looks:
        for value in needles.found_in(look):
            done.found.setdefault(value, set()).add(path)


def _file(done: Searched, needles: Needles, path: str) -> None:
    with open(path, "rb") as file:
        kept = b""
        first = b""
        while block := file.read(BLOCK_BYTES):
            first = first or block[:512]
            _note(done, needles, kept + block, path)
            kept = block[-OVERLAP:]
    try:
        for name, data in _inside(path, first):
            _note(done, needles, data, f"{path} ({name})")
    except Exception as error:
        done.unread.append(f"{path}: {error!r}")


def _inside(path: str, first: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what a compressed file, an archive or a database holds."""
    if first.startswith(b"\x1f\x8b"):
        with gzip.open(path, "rb") as file:
            yield from _unpacked("gzip", file.read(MOST_BYTES))
    elif first.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield from _unpacked(name, archive.read(name))
    elif first.startswith(b"SQLite format 3\0"):
        yield "rows", b"\n".join(_rows(path))


def _unpacked(name: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what was packed, and what is packed in it: a tar's members, databases, compressed files."""
    yield name, data
    members: list[tuple[str, bytes]] = []
    with contextlib.suppress(tarfile.TarError), tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for member in tar.getmembers():
            content = tar.extractfile(member)
            if content is not None:
                members.append((f"{name}/{member.name}", content.read()))
    for inner, content in members or [(name, data)]:
        if content.startswith(b"SQLite format 3\0"):
            with tempfile.NamedTemporaryFile(suffix=".db") as copy:
                copy.write(content)
                copy.flush()
                yield inner, b"\n".join(_rows(copy.name))
        elif content.startswith(b"\x1f\x8b"):
            yield inner, gzip.decompress(content)


def _rows(path: str) -> Iterator[bytes]:
    """Yield every value of every table, and every term of the full-text indexes, which a database's pages may
    hold in pieces."""
    base = sqlite3.connect(f"file:{urllib.parse.quote(path)}?mode=ro", uri=True)
    base.text_factory = bytes
    try:
        tables = base.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        for raw, sql in tables:
            name = raw.decode().replace('"', '""')
            if FULL_TEXT.search(sql or b""):
                base.execute(
                    f"CREATE VIRTUAL TABLE temp.\"v_{name}\" USING fts5vocab('main', '{name}', 'row')"
                )
                for row in base.execute(f'SELECT term FROM temp."v_{name}"'):
                    yield row[0]
            with contextlib.suppress(sqlite3.DatabaseError):
                for row in base.execute(f'SELECT * FROM "{name}"'):
                    for cell in row:
                        if isinstance(cell, bytes):
                            yield cell
    finally:
        base.close()


def _table(done: Searched, needles: Needles, path: str) -> None:
    """Read every version of a LanceDB table: its files may be compressed."""
    import lancedb

    try:
        base = lancedb.connect(os.path.dirname(path))
        table = base.open_table(os.path.basename(path)[: -len(".lance")])
        for version in table.list_versions():
            table.checkout(version["version"])
            read = table.to_arrow()
            texts = [one for one in read.column_names if str(read.schema.field(one).type) in TEXTS]
            for name in texts:
                words = "\n".join(
                    str(one) for one in read.column(name).to_pylist() if one is not None
                )
                _note(done, needles, words.encode("utf-8", "surrogateescape"), f"{path} (rows)")
    except Exception as error:
        done.unread.append(f"{path}: {error!r}")


TEXTS = (
    "string",
    "large_string",
    "list<item: string>",
    "dictionary<values=string, indices=int32, ordered=0>",
)
