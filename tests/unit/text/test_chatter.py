"""What nobody will look for is told from what says something."""

from __future__ import annotations

import pytest

from vector_memory.text.chatter import is_chatter, without_applause


@pytest.mark.parametrize(
    "text",
    [
        "Perfect!", "Great, thanks!", "You're absolutely right!", "Let me check the tests.",
        "Now I'll run the linter:", "Good. Now let me update the template", "All tests pass!",
        "Would you like me to commit this?", "Here's a summary of the changes:", "---", "ok",
        "I'm going to read the config first.", "Now let's also add a test for that:",
        "Fair enough.", "ok, fine, agreed!", "I like it.", "Sounds like a plan",
    ],
)  # fmt: skip
def test_chatter(text: str) -> None:
    """Applause, narration, status, leads."""
    assert is_chatter(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'll use uv instead of pip because the image has it.", "The pool leaks connections.",
        "Let's never commit the lock file.", "All tests pass on Python 3.12 but not on 3.9.",
        "Fixed by raising the limit to 50.", "We need a staging database.", "Use pnpm.",
    ],
)  # fmt: skip
def test_no_chatter(text: str) -> None:
    """Reasons, rules, findings."""
    assert not is_chatter(text)


def test_applause_goes() -> None:
    """A sentence keeps what stands behind the applause."""
    assert without_applause("Perfect! The port is 5433.") == "The port is 5433."
    assert without_applause("Great pools leak.") == "Great pools leak."
    assert without_applause("ok, fine, let's use vite") == "let's use vite"
    assert without_applause("Umbrella tests: none") == "Umbrella tests: none"
    assert without_applause("Perfect!") == "Perfect!"
