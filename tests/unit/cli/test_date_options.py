"""Dates at the command line."""

from __future__ import annotations

import pytest
import typer

from vector_memory.cli import verbs


def test_a_wrong_date_brings_examples() -> None:
    """A wrong date is wrong usage, and the message shows right ones."""
    with pytest.raises(typer.BadParameter, match="yesterday, 12h, 3d, 2w"):
        verbs.at_command_line("whenever")


def test_words_work_where_a_date_is_taken() -> None:
    """What comes is later than what was, however it is said."""
    assert verbs.at_command_line("last week") < verbs.at_command_line("tomorrow")
