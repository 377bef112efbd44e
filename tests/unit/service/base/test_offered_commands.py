"""Which commands a memory that only says them would have somebody run."""

from __future__ import annotations

import pytest
from journal_samples import memory

from vector_memory.service.base import offered_commands


@pytest.mark.parametrize(
    "text", ["Set `x` to `rm -rf /`.", "Not ``a``, but `rm -rf /`.", "Run ``rm -rf /``."]
)
def test_a_short_code_or_more_marks_hide_no_command(text: str) -> None:
    said = offered_commands.of_memory(memory(1, text))
    assert said[-1] == "rm -rf /"
    assert not offered_commands.are_harmless(said, "/p")


def test_what_stands_between_two_codes_is_none() -> None:
    assert offered_commands.of_memory(memory(1, "`x` for `git status`")) == ["x", "git status"]
