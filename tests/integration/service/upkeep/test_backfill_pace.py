"""How far the vectors are, as whoever waits for them is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.service.base import follow_journal
from vector_memory.service.upkeep import check_rebuild


def test_vectors_that_are_made_count_before_their_batch_is_in_the_index(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Step by step; it is level only when the last one is in the index, and nothing is counted twice."""
    monkeypatch.setattr(follow_journal, "STEP", 2)
    house.remember("The gateway listens on port 5433.")
    for n in range(5):
        door(house.ctx, "remember", {"text": f"fact number {n} of a kind", "global": True})
    shelf = house.ctx.global_shelf()
    monkeypatch.setattr(shelf.journal, "get_vectors", lambda keys, model: {})
    waiting: list[int] = []
    documents = house.embedding.documents

    def watched(texts: Sequence[str]) -> Any:
        waiting.append(check_rebuild.lag(house.ctx)[0])
        return documents(texts)

    monkeypatch.setattr(house.embedding, "documents", watched)
    house.follow()
    assert waiting == [5, 3, 1]
    assert check_rebuild.lag(house.ctx) == (0, 6)
    assert shelf.embedded_ahead == 0


def test_stats_tell_how_far_a_backfill_is(house: ServiceHouse) -> None:
    """As it told who waits; nothing where none runs."""
    assert door(house.ctx, "stats", {})["backfill"] == {}
    house.ctx.filling.told = {"doing": "embedding", "done": 1, "total": 2}
    assert door(house.ctx, "stats", {})["backfill"] == house.ctx.filling.told
