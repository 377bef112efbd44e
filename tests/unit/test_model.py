"""The words that all parts share."""

from __future__ import annotations

import pytest

from vector_memory.model import is_hex


@pytest.mark.parametrize(
    ("word", "is_one"),
    [("0f" * 16, True), ("0F" * 16, False), ("0f" * 15, False), ("0g" * 16, False), ("", False)],
)
def test_an_id_is_lower_case_and_whole(word: str, is_one: bool) -> None:
    """What is no id as it is written here becomes none."""
    assert is_hex(word, 32) is is_one
