"""Rows straight from the pages of a database file, where SQLite itself cannot find them any more.

A page that holds rows says all that is needed to read them: which table they belong to shows in
their shape. Whoever asks says what of it is a row of theirs: by checksums, or by what stands in it.

Source: https://www.sqlite.org/fileformat2.html (b-tree pages, records, write-ahead log).
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from vector_memory.system import tampering

MAGIC = b"SQLite format 3\x00"
PAGE = 4_096
"""The size of a page: this package never chooses another one."""
_TABLE_LEAF, _INDEX_INNER, _INDEX_LEAF = 0x0D, 0x02, 0x0A
_LOG_HEADER, _FRAME_HEADER = 32, 24
_LOG_MAGICS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")
_WIDTHS = (0, 1, 2, 3, 4, 6, 8)
_MOST_BYTES = 1 << 28

Row = tuple[int, list[Any]]
"""The row's number (0 in a table without one) and its values."""


class Pages:
    """The pages of a database as its last commit left them: the file's, and over them those of its
    write-ahead log.

    Args:
        path: the database's file; it may be missing.
    """

    def __init__(self, path: str) -> None:
        self._content = _read(path)
        self._log = _logged_pages(_read(path + "-wal"))
        self._numbers = sorted({*range(1, len(self._content) // PAGE + 1), *self._log})
        # Where pages were taken out, what comes behind them stands so many pages further ahead.
        page_count = len(self._content) // PAGE
        is_header = self._content[: len(MAGIC)] in (MAGIC, bytes(len(MAGIC)))
        claimed_count = int.from_bytes(self._content[28:32], "big") if is_header else page_count + 1
        self._shifts = sorted({0, min(0, page_count - claimed_count)}, reverse=True)

    @property
    def ours(self) -> bool:
        """Whether this is a database at all, or what is left of one."""
        return self._content[: len(MAGIC)] in (MAGIC, bytes(len(MAGIC)), b"") or bool(self._log)

    def rows(self, with_guesses: bool) -> Iterator[Row]:
        """Yield what can be read of all rows, in no order. Pages that make no sense are left out.

        Args:
            with_guesses: where pages are missing, read rows of several pages in each way that may be, too:
                such a row may come twice, and one of the two is made up. For rows that have a checksum.
        """
        shifts = self._shifts if with_guesses else [0]
        for number in self._numbers:
            page = self._page(number)
            # The first page begins with the header of the file.
            start = 100 if number == 1 else 0
            if len(page) == PAGE and page[start] in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INNER):
                yield from self._rows_of(page, start, shifts)

    def _rows_of(self, page: bytes, start: int, shifts: Sequence[int]) -> Iterator[Row]:
        kind = page[start]
        is_inner = kind == _INDEX_INNER
        pointers_start = start + (12 if is_inner else 8)
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        for place in range(pointers_start, min(pointers_start + 2 * cells, PAGE - 1), 2):
            offset = int.from_bytes(page[place : place + 2], "big")
            for shift in shifts:
                with contextlib.suppress(ValueError, IndexError, struct.error):
                    yield self._cell(
                        page, offset + (4 if is_inner else 0), kind == _TABLE_LEAF, shift
                    )

    def _cell(self, page: bytes, offset: int, is_table: bool, shift: int) -> Row:
        size, offset = _varint(page, offset)
        number = 0
        if is_table:
            number, offset = _varint(page, offset)
        # A damaged size must not ask for all the memory that there is.
        if size > _MOST_BYTES:
            raise ValueError("a row of this size is none")
        local_size = _local_size(size, is_table)
        payload = page[offset : offset + local_size]
        if local_size < size:
            payload = self._full_payload(
                payload, page[offset + local_size : offset + local_size + 4], size, shift
            )
        return number, _values(payload)

    def _full_payload(self, payload: bytes, following: bytes, size: int, shift: int) -> bytes:
        """Return a payload with what is in its overflow pages."""
        parts, missing = [payload], size - len(payload)
        while missing > 0:
            page = self._page(int.from_bytes(following, "big") + shift)
            if len(page) != PAGE:
                raise ValueError("its overflow pages are not there")
            following, content = page[:4], page[4 : 4 + missing]
            parts.append(content)
            missing -= len(content)
        if any(following):
            raise ValueError("its last page is another row's")
        return b"".join(parts)

    def _page(self, number: int) -> bytes:
        if number < 1:
            return b""
        # The log is the newer one.
        return self._log.get(number) or self._content[(number - 1) * PAGE : number * PAGE]


def _read(path: str) -> Any:
    """Map a file: a journal may be larger than what should be read at once."""
    if not os.path.exists(path) or not os.path.getsize(path):
        return b""
    tampering.require_plain(path)
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _logged_pages(log: Any) -> dict[int, bytes]:
    """Return the pages of a write-ahead log up to its last commit, by their numbers.

    A frame belongs to the log when it has its salt. SQLite ends at the first frame whose checksum is
    wrong; the rows here have checksums of their own, so that what comes behind it is read, too.
    """
    if len(log) < _LOG_HEADER or log[:4] not in _LOG_MAGICS:
        return {}
    pages: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    for offset in range(_LOG_HEADER, len(log) - PAGE - _FRAME_HEADER + 1, _FRAME_HEADER + PAGE):
        header = log[offset : offset + _FRAME_HEADER]
        number = int.from_bytes(header[:4], "big")
        # A frame of an earlier round of the log, which is written over from its start.
        if header[8:16] != log[16:24] or not number:
            continue
        pending[number] = log[offset + _FRAME_HEADER : offset + _FRAME_HEADER + PAGE]
        # This frame commits; what comes after the last of them never counted.
        if header[4:8] != b"\0\0\0\0":
            pages.update(pending)
            pending.clear()
    return pages


def _local_size(size: int, is_table: bool) -> int:
    """Return how many bytes of a payload stand in the page itself."""
    most = PAGE - 35 if is_table else (PAGE - 12) * 64 // 255 - 23
    if size <= most:
        return size
    least = (PAGE - 12) * 32 // 255 - 23
    local = least + (size - least) % (PAGE - 4)
    return local if local <= most else least


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where it ends."""
    value = 0
    for place in range(offset, offset + 8):
        byte = data[place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, place + 1
    return value << 8 | data[offset + 8], offset + 9


def _values(payload: bytes) -> list[Any]:
    """Return a record's values.

    Raises:
        ValueError, IndexError: it is no record.
    """
    header_end, offset = _varint(payload, 0)
    kinds = []
    while offset < header_end:
        kind, offset = _varint(payload, offset)
        kinds.append(kind)
    if offset != header_end:
        raise ValueError("its header is damaged")
    values = []
    for kind in kinds:
        value, offset = _value(payload, offset, kind)
        values.append(value)
    # A guess that does not come out even was a wrong one.
    if offset != len(payload):
        raise ValueError("its size is another one")
    return values


def _value(data: bytes, offset: int, kind: int) -> tuple[Any, int]:
    if kind == 0:
        return None, offset
    if kind in (8, 9):
        return kind - 8, offset
    if kind in (10, 11):
        raise ValueError("there is no such type")
    size = _WIDTHS[kind] if kind < 7 else 8 if kind == 7 else (kind - 12) // 2
    raw = data[offset : offset + size]
    if len(raw) != size:
        raise ValueError("it ends early")
    if kind < 7:
        return int.from_bytes(raw, "big", signed=True), offset + size
    if kind == 7:
        return struct.unpack(">d", raw)[0], offset + size
    return (raw.decode() if kind % 2 else raw), offset + size
