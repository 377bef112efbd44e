"""Who wrote a prompt: the user or a program."""

from __future__ import annotations

import pytest

from vector_memory.index.typists import is_typed
from vector_memory.system.json_in import Record


@pytest.mark.parametrize(
    "prompt",
    [
        "You are a reviewer. You must always answer in JSON.\n<diff>\n+ x = 1\n</diff>\nReturn a list.",
        "Your task is to name the session.\n<messages>\nhello\n</messages>",
    ],
)
def test_a_role_with_a_block_is_a_programs(prompt: str) -> None:
    """However short it is: nobody types marks on lines of their own to say who is spoken to."""
    assert not is_typed(Record(), prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "You are missing the <b>bold</b> part, never drop it",
        "Look at this:\n<div>\nhello\n</div>\nwe always close it here",
    ],
)
def test_marks_alone_are_the_users(prompt: str) -> None:
    """Who shows some markup, or says what somebody is, is no program."""
    assert is_typed(Record(), prompt)
