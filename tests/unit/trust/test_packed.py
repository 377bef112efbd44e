"""Bytes as words: each comes back, and there is one word for each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.trust.packed import packed, unpacked


@given(st.binary(max_size=64))
def test_bytes_come_back(raw: bytes) -> None:
    assert unpacked(packed(raw)) == raw


@pytest.mark.parametrize("word", ["A", "AB=", "AB==", "A+", "A/", "AB\n", " AB", "AR", "é"])
def test_what_is_no_word_is_refused(word: str) -> None:
    """Nor one that says the same as another: "AR" has bits that no byte holds."""
    with pytest.raises(ValueError):
        unpacked(word)
