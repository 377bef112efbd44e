"""A long text is read in stretches that overlap, and nothing of it is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.extract.chunks import PIECE_CHARS, chunks
from vector_memory.text.fence import tokens

SENTENCES = " ".join(f"Sentence number {n} says something of its own." for n in range(400))


def test_a_short_text_is_one_chunk() -> None:
    """And nothing is none."""
    assert chunks("Drain the queue first. Then start.") == ["Drain the queue first. Then start."]
    assert chunks(" \n ") == []


def test_chunks_are_small_and_overlap() -> None:
    """Each has at most the size, and begins with about 100 tokens of the one before."""
    found = chunks(SENTENCES)
    assert len(found) > 5
    assert all(tokens(one) <= 500 for one in found)
    for before, after in zip(found, found[1:], strict=False):
        shared = next(n for n in range(len(after), 0, -1) if before.endswith(after[:n].rstrip()))
        assert 50 <= tokens(after[:shared]) <= 100


@given(st.text(max_size=3_000), st.integers(1, 60), st.integers(0, 80))
def test_nothing_is_left_out(text: str, size: int, overlap: int) -> None:
    """Whatever the text and the sizes, every word is in a chunk, and none is much too long."""
    found = chunks(text, size, overlap)
    assert "".join(text.split()) == "" or found
    assert all(len(one) <= PIECE_CHARS or tokens(one) <= size for one in found)
    everything = "".join("".join(found).split())
    assert set("".join(text.split())) == set(everything)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("text", ["." * 200_000, "x" * 200_000, "\n" * 200_000, "a. " * 60_000])
def test_nasty_texts_take_no_time(text: str) -> None:
    """Without sentences or with nothing else: linear time. What takes the square of it ends as a hang does."""
    assert chunks(text) or not text.strip()
