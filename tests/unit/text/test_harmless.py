"""Nothing that cannot be seen is stored or put before the model: each code point there is, both ways."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import pytest

from vector_memory.cli.output import plain
from vector_memory.redact.normalise import normalise
from vector_memory.text.fence import Note, fence
from vector_memory.text.harmless import LINE_ENDS, visible

IGNORED = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF), (0x13430, 0x1345F),
)  # fmt: skip
"""What Unicode calls default ignorable, and the controls that join hieroglyphs."""
PIECE = 16_384


def is_unseen(code: int) -> bool:
    """Whether nobody sees a character, by Unicode's own properties."""
    if unicodedata.category(chr(code)) in ("Cf", "Cc", "Cs", "Co"):
        return chr(code) not in "\t\n"
    is_none = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return is_none or any(first <= code <= last for first, last in IGNORED)


def fenced(text: str) -> str:
    """Return what a hook brings of a text."""
    return fence([Note("i", "head " + text[:99], text)])


def test_no_code_point_that_is_not_seen_comes_through() -> None:
    """All 1,114,112 of them, whichever way they come; what there is to see stays."""
    for start in range(0, 0x110000, PIECE):
        codes = range(start, start + PIECE)
        seen = {chr(code) for code in codes if not is_unseen(code)}
        kept = {one for one in seen if unicodedata.category(one) not in ("Cn", "Zs")}
        for through in (normalise, visible, plain, fenced):
            shown = set(through(" ".join(map(chr, codes))))
            found = [hex(ord(one)) for one in shown - seen if is_unseen(ord(one))]
            assert found == [], through.__name__
            if through is not normalise:
                assert kept - shown <= set("<&`~" + LINE_ENDS), through.__name__


@pytest.mark.parametrize("through", [normalise, visible, plain, fenced])
def test_nothing_unseen_parts_a_word(through: Callable[[str], str]) -> None:
    """Wherever such a character stands, the word around it is whole again."""
    for first, last in (*IGNORED, (0xE000, 0xE010), (0xF8F0, 0xF8FF), (0x10FFF0, 0x10FFFF)):
        for code in range(first, min(last, first + 99) + 1):
            assert "password" in through(f"pass{chr(code)}word {chr(code)}"), hex(code)
