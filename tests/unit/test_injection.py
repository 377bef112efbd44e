"""What the model is shown: fenced, escaped, within its budget."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from vector_memory import injection


@given(st.text(max_size=400), st.text(max_size=80))
def test_stored_text_cannot_close_the_fence(text: str, head: str) -> None:
    """Whatever is stored, exactly one opening and one closing mark stand in the block."""
    block = injection.fence([injection.Note("id", head, text)])
    assert len(re.findall(r"</?vector-memory", block)) == 2
    assert not re.search(r"<[/!?a-zA-Z]", "\n".join(block.split("\n")[1:-1]))


def test_marks_are_random_and_equal_within_a_block() -> None:
    """Each block has its own mark, at both ends."""
    first, second = (injection.fence([injection.Note("i", "h", "t")]) for _ in range(2))
    marks = [re.findall(r'mark="(\w+)"', block) for block in (first, second)]
    assert marks[0][0] == marks[0][1] != marks[1][0]


def test_a_text_is_cut_at_sentences_around_the_match() -> None:
    """The sentence that matches survives a cut, whole, with its neighbours while they fit."""
    text = "Nothing here. " * 200 + "The port is 5433 since May. " + "Nothing there. " * 200
    piece = injection.cut(text, 60, ["port"])
    assert "The port is 5433 since May." in piece
    assert injection.tokens(piece) <= 60
    assert piece.startswith("…")
    assert piece.endswith("…")


@given(st.text(max_size=2_000), st.integers(min_value=20, max_value=200))
def test_a_cut_never_exceeds_its_budget(text: str, budget: int) -> None:
    """No text, of whatever script and without any space, comes out longer than allowed."""
    assert injection.tokens(injection.cut(text, budget)) <= budget + 2


def test_short_texts_are_left_whole() -> None:
    """What fits is not cut, only its white space is folded."""
    assert injection.cut("one  two\n\n\nthree", 100) == "one two\nthree"
