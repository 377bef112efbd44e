"""A prompt that takes back what was said right before it is known by how it begins and by its numbers."""

from __future__ import annotations

import pytest

from vector_memory.text.corrections import corrects

BEFORE = (
    "User: write the labels of the crates to the spool, 3 copies each\n"
    "Assistant: The labels of the crates go to the spool, with 3 copies each."
)


@pytest.mark.parametrize(
    "prompt",
    [
        "3 is too few, make it 5", "hm no, put the labels on the tray", "Wait. No. The tray, not the spool.",
        "Actually, scratch that. Crates have no labels.", "then the labels on the tray instead",
        "3 sind zu wenig, nimm 5", "nein, die labels kommen auf das tray",
    ],
)  # fmt: skip
def test_corrections(prompt: str) -> None:
    """Each speaks of the same thing, and otherwise."""
    assert corrects(prompt, BEFORE)


@pytest.mark.parametrize(
    "prompt",
    [
        "no wait, the parser first", "no labels on crates of glass", "ok, and the labels of the boxes, too",
        "are 3 labels not too few, or 5?", "no", "print the 3 labels",
        "the spool has 3 slots, and the crates that come in on Monday have to be weighed by the 5 people of the store",
    ],
)  # fmt: skip
def test_no_corrections(prompt: str) -> None:
    """Another thing, a rule of its own, what goes on, a question."""
    assert not corrects(prompt, BEFORE)
