"""What `stats` says of the language model."""

from __future__ import annotations

import pytest

from vector_memory.cli.answers import Row
from vector_memory.cli.stats import figures, show
from vector_memory.model import TRAILS


def test_without_a_model_nothing_is_said() -> None:
    """Neither without an answer nor without a backend."""
    assert figures(Row({})) == figures(Row({"backend": "", "calls": 3})) == ""


def test_the_day_is_told_with_its_caps() -> None:
    """Calls, tokens, refusals, failures and useless answers."""
    told = figures(
        Row(
            {
                "backend": "client",
                "model": "haiku",
                "extraction": True,
                "calls": 12,
                "daily_calls": 200,
                "tokens": 8_400,
                "daily_tokens": 200_000,
                "refused": 1,
                "failures": 2,
                "garbage": 3,
            }
        )
    )
    assert told == (
        "language model: client/haiku; today 12 of 200 calls, 8,400 of 200,000 tokens, "
        "1 refused, 2 failed, 3 answers of no use"
    )


def test_collections_sum_to_what_is_remembered(capsys: pytest.CaptureFixture[str]) -> None:
    """What observers keep count of is told apart: it is no memory."""
    told = {"memories": 3, "by_collection": {"claude_memories": 3, TRAILS: 4}}
    show(Row(told))
    out = capsys.readouterr().out
    table, _, records = out.partition("beside them")
    assert "claude_memories" in table and TRAILS not in table
    assert f"4 {TRAILS}" in records


def test_a_backfill_is_told_with_its_share(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the whole, as its own bar has it."""
    show(Row({"backfill": {"doing": "embedding", "done": 1_000, "total": 2_000}}))
    assert "backfill: embedding 1,000 of 2,000, 65% of the whole" in capsys.readouterr().out
