"""Which prompts need no memory, and which point back."""

from __future__ import annotations

import pytest

from vector_memory.text import prompts


@pytest.mark.parametrize(
    "prompt",
    ["yes", "Go on.", "thanks!", "ok do it", "/compact", "/remember x", "!ls", "", "  ", "👍",
     "looks good", "continue please", "no", "2", "commit and push it"],
)  # fmt: skip
def test_acknowledgements_and_commands_need_nothing(prompt: str) -> None:
    """Prompts that only steer get no memory."""
    assert prompts.needs_nothing(prompt)


@pytest.mark.parametrize(
    "prompt",
    ["fix the parser", "which port does postgres use?", "yes, but use the WAL mode", "why?",
     "no, the other database"],
)  # fmt: skip
def test_prompts_with_content_may_need_something(prompt: str) -> None:
    """A content word makes a prompt worth a search."""
    assert not prompts.needs_nothing(prompt)


@pytest.mark.parametrize(
    ("prompt", "back"),
    [
        ("why did that fail?", True),
        ("try it again", True),
        ("fix it", True),
        ("which port does the postgres instance of the staging ledger service use?", False),
    ],
)
def test_short_pointing_prompts_are_told_apart(prompt: str, back: bool) -> None:
    """Only prompts that lean on the last turn are searched together with it."""
    assert prompts.points_back(prompt) is back
