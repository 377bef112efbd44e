"""What of a note comes up in what was said after it."""

from __future__ import annotations

import pytest

from vector_memory.text.traces import SessionPiece, is_used, signs

NOTE = (
    "The nightly export broke because render_ledger() keeps the cursor open; `flush_rows` in "
    "src/export/ledger_writer.py closes the dangling cursor handle first."
)


def said(text: str) -> SessionPiece:
    """Return words of the assistant."""
    return SessionPiece(text, is_said=True)


def given(text: str) -> SessionPiece:
    """Return what the assistant was told."""
    return SessionPiece(text, is_said=False)


def test_signs_are_names_and_rows_of_rare_words() -> None:
    """Files by their own name, identifiers without brackets, and three words in a row."""
    found = signs(NOTE)
    assert {"render_ledger", "flush_rows", "ledger_writer.py"} <= found
    assert ("dangl", "cursor", "handl") in found


def test_ordinary_words_are_no_sign() -> None:
    """What anybody says is nothing of the note."""
    assert not signs(
        "This is the file that we have to work on now, and then it should be all right."
    )
    assert not signs("See README.md.")


@pytest.mark.parametrize(
    "answer",
    [
        "I call flush_rows in ledger_writer.py before the export.",
        "First it closes that dangling cursor handle in flush_rows.",
    ],
)
def test_two_signs_are_a_use(answer: str) -> None:
    """Two names, or a name and a phrase, which nobody had said before."""
    assert is_used(NOTE, [given("Fix the export, please.")], [said(answer)])


def test_one_sign_may_be_chance() -> None:
    """One name alone is no use."""
    assert not is_used(NOTE, [], [said("I look at flush_rows now.")])


def test_what_was_in_sight_says_nothing() -> None:
    """The prompt's own words, and those of the talk before it, are not the note's."""
    before = [said("We have flush_rows."), given("What does ledger_writer.py do?")]
    assert not is_used(NOTE, before, [said("flush_rows in ledger_writer.py closes it.")])


def test_what_a_tool_told_first_is_the_tools() -> None:
    """A name that the assistant was given before it said it does not come from the note."""
    after = [said("Let me look."), given("def flush_rows(): ...  # ledger_writer.py")]
    answer = said("So flush_rows in ledger_writer.py it is.")
    assert not is_used(NOTE, [], [*after, answer])
    assert is_used(NOTE, [], [answer, *after])


def test_a_name_is_a_whole_word() -> None:
    """A longer name is another one."""
    assert not is_used(NOTE, [], [said("flush_rows_all and my_render_ledger and prerender_ledger")])
