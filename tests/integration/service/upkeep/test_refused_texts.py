"""Texts for which an embedding server has no vector, while it has one for every other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fakes_embed import FakeEmbedder
from service_house import ServiceHouse, door

from vector_memory.errors import EmbeddingError
from vector_memory.service.base.embedding import BULK_FROM
from vector_memory.service.upkeep import check_rebuild

if TYPE_CHECKING:
    from vector_memory.model import Vectors


class Choosy(FakeEmbedder):
    """Fails for whatever holds a word, and counts how often it was asked for that."""

    refused = "poison"
    times = 0

    def close(self) -> None:
        """Stay: a process for many texts is let go when it fails, and made again."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.refused and any(self.refused in text for text in texts):
            self.times += 1
            raise EmbeddingError("The server says 500: unsupported value: NaN.")
        return super().embed_documents(texts)


@pytest.fixture
def model() -> Choosy:
    return Choosy()


@pytest.fixture
def house(tmp_path: Path, model: Choosy) -> Iterator[ServiceHouse]:
    made = ServiceHouse(tmp_path, lambda: model)
    yield made
    made.close()


def lacking(house: ServiceHouse) -> list[str]:
    """Return the texts that have no vector."""
    journal = house.ctx.global_shelf().journal
    return [change[0].text for change in journal.without_model(house.embedding.model, 999)]


def remember(house: ServiceHouse, texts: Sequence[str]) -> None:
    for text in texts:
        door(house.ctx, "remember", {"text": text, "global": True})


@pytest.mark.parametrize("count", [5, BULK_FROM + 5])
def test_for_one_that_is_refused_no_other_waits(
    house: ServiceHouse, model: Choosy, count: int
) -> None:
    """The first one, of few and of many; the model is there, and nobody waits for what never comes."""
    poison = "The gauge of poison stands in hall 0"
    remember(house, [poison, *(f"Gauge {n * 31} stands in hall {n}" for n in range(1, count))])
    house.follow()
    house.follow()
    assert lacking(house) == [poison]
    assert (house.embedding.state, house.embedding.error) == ("ready", "")
    assert check_rebuild.lag(house.ctx)[0] == 0
    asked = model.times
    remember(house, ["The ledger uses WAL mode"])
    house.follow()
    assert lacking(house) == [poison]
    assert model.times == asked, "it is asked for no more"
    # Somebody who mended the model says so.
    model.refused = ""
    assert door(house.ctx, "migrate", {})["embedded"] == 1
    assert lacking(house) == []


def test_where_all_are_refused_few_are_tried(house: ServiceHouse, model: Choosy) -> None:
    """Until something else is stored: each may take as long as the server is waited for."""
    model.refused = "hall"
    remember(house, [f"Gauge {n * 31} stands in hall {n}" for n in range(30)])
    model.times = 0
    house.follow()
    asked = model.times
    assert asked < 35
    house.follow()
    assert (model.times, len(lacking(house))) == (asked, 30)


@pytest.mark.parametrize(("refused", "others"), [(1, 30), (9, 60), (20, 150)])
def test_neighbours_that_are_refused_keep_no_others_back(
    house: ServiceHouse, model: Choosy, refused: int, others: int
) -> None:
    """All were stored while the model was away."""
    texts = [f"The gauge of poison stands in hall {n}" for n in range(refused)]
    model.refused = " "
    remember(house, [*texts, *(f"Gauge {n * 31} stands in hall {n}" for n in range(others))])
    house.follow()
    model.refused = "poison"
    assert house.embedding.retry()
    for _ in range(2 * refused + 2):
        house.follow()
    assert set(lacking(house)) == set(texts)


def test_a_text_at_which_a_model_failed_once_is_tried_again(
    house: ServiceHouse, model: Choosy
) -> None:
    """It was busy, and answered the question right behind."""
    model.refused = " "
    remember(house, ["The ledger uses WAL mode"])
    model.refused = "ledger"
    assert house.embedding.retry()
    house.follow()
    assert lacking(house) == ["The ledger uses WAL mode"]
    model.refused = ""
    house.follow()
    assert lacking(house) == []


def test_a_model_that_fails_goes_on_where_it_was(house: ServiceHouse, model: Choosy) -> None:
    """It refuses questions as well then: none of the texts is given up."""
    model.refused = " "
    remember(house, ["Gauge 31 stands in hall 1", "Gauge 62 stands in hall 2"])
    house.follow()
    assert (house.embedding.state, len(lacking(house))) == ("failed", 2)
    assert house.ctx.global_shelf().refused == set()
    model.refused = ""
    assert house.embedding.retry()
    house.follow()
    assert lacking(house) == []
