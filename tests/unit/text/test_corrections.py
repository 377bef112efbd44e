"""A prompt that takes back what was said right before it is known by how it begins and by its numbers."""

from __future__ import annotations

import pytest

from vector_memory.text.corrections import corrects

BEFORE = (
    "User: write the labels of the crates to the spool, 3 copies each, with tabs\n"
    "Assistant: The labels of the crates go to the spool, with 3 copies each and tabs."
)


@pytest.mark.parametrize(
    "prompt",
    [
        "3 is too few, make it 8", "not 3 but 8 copies", "8 copies instead of 3", "hm no, put the labels on the tray",
        "Wait. No. The tray, not the spool.", "Ok, scratch that. Crates have no labels.",
        "No wait, spaces, 4. Tabs look awful in gerrit", "3 sind zu wenig, nimm 5", "nicht 3, sondern 5",
        "nein, die labels kommen auf das tray",
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


@pytest.mark.parametrize(
    "prompt",
    [
        "Good. Now actually write the labels of the crates", "I actually like that spool. Next: crates",
        "Wait, what is the spool called", "No, which spool do the labels go to", "rather nice labels! please merge",
        "Great, now the crates in the store instead of the labels", "Stop. Good. Now write the labels",
        "does the spool actually work with the labels",
    ],
)  # fmt: skip
def test_what_goes_on_or_asks_corrects_nothing(prompt: str) -> None:
    """Words that may take something back mostly do not."""
    assert not corrects(prompt, BEFORE)


@pytest.mark.parametrize(
    "prompt",
    [
        "No, thanks, the labels are all", "Nein, alles gut mit den labels, danke", "non, c'est bien, les labels",
        "no: 3 is fine", "Nope, the labels look great", "No, still fails with the labels",
        "Not now, first the crates",
    ],
)  # fmt: skip
def test_who_refuses_and_agrees_corrects_nothing(prompt: str) -> None:
    """He refuses what was offered."""
    assert not corrects(prompt, BEFORE)


@pytest.mark.parametrize(
    "prompt",
    [
        "the labels failed in step 3 of 7", "the labels do not fit in 3 of 7 crates", "same 3 labels, PR 42",
        "also do it for PR 42, same 3 labels", "It takes 3 s for the labels, we had 12 before",
        "3 labels it is. Then raise the limit of the crates to 40",
        "raise PR 42 with the 3 labels",
    ],
)  # fmt: skip
def test_two_numbers_alone_correct_nothing(prompt: str) -> None:
    """The one has to stand for the other."""
    assert not corrects(prompt, BEFORE)


def test_who_answers_a_question_corrects_nothing() -> None:
    """What was offered was not done."""
    assert not corrects("no, the crates of wood stay here", f"{BEFORE} Shall I weigh the crates?")
