"""Canonical JSON: the examples of RFC 8785, and what has no canonical form."""

from __future__ import annotations

import json
import struct

import pytest

from vector_memory.trust import canonical

NUMBERS = {
    "0000000000000000": "0", "8000000000000000": "0", "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324", "7fefffffffffffff": "1.7976931348623157e+308",
    "4340000000000000": "9007199254740992", "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000", "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23", "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000", "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21", "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001", "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325", "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334", "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333", "43143ff3c1cb0959": "1424953923781206.2",
}  # fmt: skip


def test_the_example_of_the_rfc() -> None:
    given = (
        r'{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],'
        r'"string":"\u20ac$\u000F\u000aA\u0027\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}'
    )
    expected = (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )
    assert canonical.canonical_bytes(json.loads(given)).decode("utf-8") == expected


def test_keys_stand_in_the_order_of_their_utf_16() -> None:
    given = {"€": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\x80": 6, "ö": 7}
    assert list(json.loads(canonical.canonical_bytes(given)).values()) == [2, 4, 6, 7, 1, 5, 3]


@pytest.mark.parametrize(("bits", "expected"), NUMBERS.items())
def test_numbers_as_the_rfc_writes_them(bits: str, expected: str) -> None:
    value = struct.unpack(">d", bytes.fromhex(bits))[0]
    assert canonical.canonical_bytes(value).decode("ascii") == expected


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), 1 << 54, "\ud800", {1: 2}, b"x", {1}]
)
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        canonical.canonical_bytes(value)
