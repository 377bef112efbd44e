"""JSON from outside takes memory in proportion."""

from __future__ import annotations

import json
import math
import random
import string
import tracemalloc
import uuid

import pytest

from vector_memory.index.transcript import MOST_BROKEN, MOST_GLUED, parse_objects
from vector_memory.system import json_in

DEEP = 100_000


@pytest.mark.parametrize(
    "raw",
    [b"[" * DEEP, b'{"a":' * DEEP, b"[" * DEEP + b"]" * DEEP, b'{"a"', b'"open', b"\x00", b"\xef\xbb\xbf",
     b"9" * DEEP, b"", b"nul", b"\xff\xfe\x00\x00", b'{"a": 1}}'],
)  # fmt: skip
def test_what_is_no_json_is_a_value_error(raw: bytes) -> None:
    """Nested a hundred thousand deep, cut off, or a number that no machine holds: never more."""
    with pytest.raises(ValueError):
        json_in.load(raw)
    assert parse_objects(raw) in ([], [{"a": 1}])


def test_odd_json_is_read_as_python_reads_it() -> None:
    """The last of equal keys, NaN, infinite numbers, lone surrogates."""
    assert json_in.load(b'{"a": 1, "a": 2}') == {"a": 2}
    assert math.isnan(json_in.load(b"NaN"))
    assert json_in.load(b"1e999") == math.inf
    assert json_in.load(b'"\\ud800"') == "\ud800"


@pytest.mark.parametrize("piece", [b"[],", b"{},", b'"ab",', b"0.5,"])
def test_millions_of_values_are_refused_before_they_take_memory(piece: bytes) -> None:
    """Five megabytes of empty lists would become two hundred and more."""
    raw = b'{"a": [' + piece * (5_000_000 // len(piece)) + b"0]}"
    tracemalloc.start()
    with pytest.raises(ValueError, match="values"):
        json_in.load(raw)
    assert parse_objects(raw) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_much_talk_is_no_crowd() -> None:
    """Megabytes of words and a picture in base64 are read."""
    raw = json.dumps(
        {"text": "We keep it, as it is. " * 100_000, "image": "A" * 2_000_000}
    ).encode()
    assert set(json_in.load(raw)) == {"text", "image"}
    assert len(parse_objects(raw)) == 1


def test_glued_lines_are_read_up_to_a_number() -> None:
    """Some are left together by writers at work; thousands are nobody's."""
    assert len(parse_objects(b'{"a": 1}' * 50)) == 50
    assert len(parse_objects(b"{}" * 5_000)) == MOST_GLUED


def test_a_line_of_broken_pieces_is_given_up() -> None:
    """To look for the next whole one after each of a million would take for ever."""
    assert parse_objects(b'{"type":x' * 300_000 + b'{"type": 1}') == []
    few = b'{"type":x' * (MOST_BROKEN - 1) + b'{"type": 1}'
    assert parse_objects(few) == [{"type": 1}]


def test_a_sessions_id_holds_no_secret() -> None:
    """What clients give is kept as it is; a digest of anything in which a value could stand, always the same."""
    chance = random.Random(5)
    for kept in (
        str(uuid.UUID(int=chance.getrandbits(128))),
        "s1",
        "proof-2-17",
        "agent-0c2f",
        "one-of-many",
        "",
    ):
        assert json_in.session_id(kept) == kept
    letters = string.ascii_letters + string.digits
    for number in range(300):
        value = "".join(chance.choices(letters, k=chance.randrange(17, 80)))
        shape = ("{}", "token={}", "password: {}", "AKIA{}", "ghp_{}", "{} x", "a/{}", "\ud800{}")[
            number % 8
        ]
        name = json_in.session_id(shape.format(value))
        assert value[:12] not in name
        assert name == json_in.session_id(shape.format(value)) == json_in.session_id(name)
    assert [json_in.session_id(one) for one in (None, 7, [], {})] == [""] * 4
