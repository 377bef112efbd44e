"""By how much the gate's threshold moves."""

from __future__ import annotations

from itertools import pairwise

import pytest

from vector_memory.journal.use_labels import UseCount
from vector_memory.service.base.gate_threshold import BOUND, LEAST_SHOWN, USUAL, move


@pytest.mark.parametrize("used", [0, LEAST_SHOWN - 1])
def test_a_few_notes_move_nothing(used: int) -> None:
    """Before enough was shown the threshold stays, whatever was used."""
    assert move(UseCount(LEAST_SHOWN - 1, used)) == 0.0


def test_as_much_as_usual_moves_nothing() -> None:
    """The usual share is where it stays."""
    assert move(UseCount(400, int(400 * USUAL))) == 0.0


def test_what_is_seldom_used_raises_it_slowly() -> None:
    """The more was shown in vain the higher it goes, never beyond the bound."""
    moves = [move(UseCount(shown, 0)) for shown in (30, 60, 200, 1_000, 100_000)]
    assert all(one < other for one, other in pairwise(moves))
    assert 0.0 < moves[0] <= 0.04
    assert moves[-1] <= BOUND


def test_what_is_often_used_lowers_it_within_the_bound() -> None:
    """Everything used is no reason to tell everything."""
    assert move(UseCount(10_000, 10_000)) == -BOUND
    assert -BOUND < move(UseCount(30, 15)) < 0.0
