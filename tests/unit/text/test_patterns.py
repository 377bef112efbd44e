"""Many patterns in one pass: the same answers as each by itself."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.text.patterns import PatternSet

WORDS = (
    "we", "decided", "to", "use", "instead", "of", "the", "fix", "is", "always", "never", "mind",
    "fixed", "position", "because", "let's", "see", "don't", "error", "TODO", "later", "`npm run x`",
    "I'll", "should", "be", "keep", "it", "simple", ":(", "no longer", "Äpfel", "läuft nicht", "\n", "?",
)  # fmt: skip

CUES = (
    r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed)\b",
    r"\b(?:instead of|no longer)\b",
    r"\b(?:always|never)\b",
    r"^(?:let's|lets)\b",
    r":\(|`[^`]{3,40}`",
    r"\b(?:geht|läuft) nicht\b",
)


def test_finds_each_pattern_and_no_other() -> None:
    found = PatternSet([r"\bcat\b", r"dogs?", r"^only"]).found
    assert found("A CAT and two dogs") == [0, 1]
    assert found("concatenate") == []
    assert found("only here") == [2]
    assert found("not only here") == []


def test_a_text_that_has_no_utf8_is_read_all_the_same() -> None:
    assert PatternSet(["cat"]).found("\ud800 cat") == [0]


def test_a_pattern_that_cannot_be_is_named() -> None:
    with pytest.raises(ValueError, match=r"\(open"):
        PatternSet(["(open"])


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_the_cues_are_found_as_re_finds_them(words: list[str]) -> None:
    text = " ".join(words)
    alone = [place for place, cue in enumerate(CUES) if re.search(cue, text, re.I | re.ASCII)]
    assert PatternSet(CUES).found(text) == alone
