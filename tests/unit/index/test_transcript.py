"""Lines are read as the client leaves them: broken, glued, huge or unfinished."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from vector_memory.index import transcript
from vector_memory.index.transcript import Lines, parse_objects, read_entries


def test_places_of_entries(tmp_path: Path) -> None:
    """Entries know their line and the bytes of it, broken and empty lines counted."""
    path = tmp_path / "t.jsonl"
    path.write_bytes('{"a": "é"}\n\n{broken\n{"b": 2}\r\n'.encode())
    found = list(read_entries(str(path)))
    assert [(one.line, one.data) for one in found] == [(1, {"a": "é"}), (4, {"b": 2})]
    assert path.read_bytes()[found[1].start : found[1].end] == b'{"b": 2}\r\n'
    assert list(read_entries(str(path), found[0].end))[0].data == {"b": 2}


def test_glued_objects(tmp_path: Path) -> None:
    """Two objects on one line are two entries of that line."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}{"b": 2} {"c": 3}\n')
    assert [(one.line, one.part, one.data) for one in read_entries(str(path))] == [
        (1, 0, {"a": 1}),
        (1, 1, {"b": 2}),
        (1, 2, {"c": 3}),
    ]


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (b'{"type": "user", "x": {"type":"assistant"}', 1),
        (b'{"a": "cut off in the mid{"type": "user"}\n', 1),
        (b'{"a": "quotes {\\"type\\": \\"user\\"} and is cut off\n', 0),
        (b'{"a": "cut off in the mid{"parentUuid":null,"b":1}\n', 1),
        (b'"text" 42 [1] null\n', 0),
        (b"\xff\xfe{}\n", 0),
        (b"\x00\x00{}\n", 1),
        (b"[" * 100_000, 0),
    ],
)
def test_damage(raw: bytes, found: int) -> None:
    """Damage costs at most what is damaged, and never raises."""
    assert len(parse_objects(raw)) == found


def test_unfinished_last_line(tmp_path: Path) -> None:
    """A last line without its line break is left for the next time, unless nothing will follow."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": 1}\n{"b": 2}')
    lines = Lines(str(path))
    assert [one.data for one in lines] == [{"a": 1}]
    assert (lines.offset, lines.line) == (9, 1)
    assert [one.data for one in read_entries(str(path), final=True)] == [{"a": 1}, {"b": 2}]


def test_megabyte_line(tmp_path: Path) -> None:
    """A line of a megabyte is read like any other."""
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"image": "A" * 1_500_000}) + '\n{"b": 2}\n')
    assert [sorted(one.data) for one in read_entries(str(path))] == [["image"], ["b"]]


def test_overlong_line_is_skipped(tmp_path: Path) -> None:
    """A line past the limit is skipped in small steps; the next one has its right place."""
    path = tmp_path / "t.jsonl"
    with open(path, "wb") as file:
        for _ in range(40):
            file.write(b"x" * 1_000_000)
        file.write(b'\n{"b": 2}\n')
    tracemalloc.start()
    found = list(read_entries(str(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(one.line, one.start, one.data) for one in found] == [(2, 40_000_001, {"b": 2})]
    assert peak < 3 * transcript.LONGEST_LINE_BYTES
