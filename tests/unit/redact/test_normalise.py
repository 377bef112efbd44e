"""Nothing invisible survives, and what people can read stays readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.redact.normalise import normalise


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\r\nb\rc\x0bd\u2028e", "a\nb\nc\nd\ne"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;https://x.test\x07link\x1b]8;;\x1b\\", "link"),
        ("a\x00b\x07c\x7fd", "abcd"),
        ("to\u200bk\u200de\u2060n\ufeff", "token"),
        ("a\u202eb\u2066c", "abc"),
        ("hid\U000e0041den", "hidden"),
        ("\uff41\uff22\uff11", "aB1"),
        ("\U0001d400\u24b7", "AB"),
        ("one\u00a0two\u3000three", "one two three"),
        ("bad \ud800 end", "bad \ufffd end"),
        ("e\u0301", "\u00e9"),
    ],
)
def test_forms(raw: str, plain: str) -> None:
    """Each kind of disguise comes back as the text that it looks like."""
    assert normalise(raw) == plain


@pytest.mark.parametrize(
    "text", ["10² ½ m³", "… → ≠ ™ ﬁ", "naïve 中文 العربية हिन्दी", "🎉 emoji", "x̱"]
)
def test_meaning_stays(text: str) -> None:
    """Superscripts, fractions, arrows, scripts and emoji are not rewritten."""
    assert normalise(text) == text


def test_endless_marks_are_cut() -> None:
    """A pile of combining marks is cut short, so that it cannot take quadratic time."""
    assert len(normalise("e" + "\u0301\u0323" * 100_000)) < 40


@given(st.text(alphabet=st.characters(), max_size=60))
def test_idempotent(text: str) -> None:
    """Normalising twice is normalising once, and the result can be encoded."""
    once = normalise(text)
    assert normalise(once) == once
    once.encode("utf-8")
