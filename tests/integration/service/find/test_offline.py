"""What `recall` answers where no daemon can run."""

from __future__ import annotations

import pytest
from service_house import ServiceHouse

from vector_memory.client import offline


def test_each_page_goes_on_where_the_one_before_ended(house: ServiceHouse) -> None:
    ids = {house.remember(f"The {word} pool is deep.")["id"] for word in ("north", "south", "east")}
    asked = {"query": "which pool is deep", "k": 2, "global": True}
    pages = [offline.recall(house.ctx.home, {**asked, "offset": at}, "") for at in (0, 2, 4)]
    told = [[hit["id"] for hit in page["hits"]] for page in pages]  # type: ignore[attr-defined]
    assert [len(page) for page in told] == [2, 1, 0]
    assert {id for page in told for id in page} == ids


@pytest.mark.parametrize("limit", [{"ceiling": "internal"}, {"jurisdictions": ["EU"]}])
def test_under_a_ceiling_or_a_law_there_are_none(
    house: ServiceHouse, limit: dict[str, object]
) -> None:
    """Only a daemon can keep to it."""
    house.remember("The north pool is deep.", sensitivity="confidential")
    asked = {"query": "which pool is deep", "k": 2, "global": True}
    assert offline.recall(house.ctx.home, asked, "")["hits"]
    assert offline.recall(house.ctx.home, {**asked, **limit}, "")["hits"] == []
