"""What comes first of facts that differ in one thing, with a real store and the real model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes_embed import models_folder
from service_house import ServiceHouse, door

from vector_memory.config import Settings
from vector_memory.embed import registry

FACTS = [
    *(f"The {name} service listens on port {port}." for name, port in zip(
        ("catalog", "cart", "tax", "label", "stock", "price", "voucher", "review"),
        (8101, 8102, 8103, 8110, 8111, 8112, 8120, 8121), strict=True)),
    *(f"Error E{code} of the printer means that the {part} is open." for code, part in (
        (17, "lid"), (71, "tray"), (171, "hatch"), (117, "drawer"))),
    *(f"{name} reviews changes in the {folder} folder." for name, folder in (
        ("Agnes", "parser"), ("Agneta", "lexer"), ("Carla", "loader"), ("Carl", "linker"))),
    *(f'The key "{key}" switches {what}.' for key, what in (
        ("ui.dense", "narrow rows"), ("ui.dense_menu", "the narrow menu"), ("ui.dark", "dark colours"))),
    "The frontend calls the backend.",
    "The backend calls the frontend.",
    "The importer retries on timeouts.",
    "The exporter does not retry on timeouts.",
    "The upload limit is 10 MB.",
    "The upload limit is 20 MB.",
    "Access tokens expire after 15 minutes.",
    "Refresh tokens expire after 14 days.",
]  # fmt: skip


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    made = ServiceHouse(tmp_path, lambda: registry.create(Settings(), models_folder()))
    yield made
    made.close()


def texts(house: ServiceHouse, question: str, project: Path) -> list[str]:
    """Return the texts that a question brings, best first."""
    request = {"query": question, "project": str(project)}
    return [hit["text"] for hit in door(house.ctx, "recall", request)["hits"]]


def test_each_fact_is_first_in_its_own_words_whatever_was_used(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """Newer facts that contradict an older one, and those that are used all the time, stand behind what
    was asked for; facts with their parts exchanged both come."""
    place = tmp_path / "shop"
    place.mkdir()
    ids = []
    for fact in FACTS:
        answer = house.remember(fact, place)
        assert answer["action"] in ("stored", "linked")
        ids.append(answer["id"])
        house.pass_time(days=1)
    assert [texts(house, fact, place)[0] for fact in FACTS] == FACTS
    shelf = next(one for one in house.ctx.all_shelves() if one.journal.find(ids[0]))
    shelf.journal.touch(dict.fromkeys(ids[::2], 500), house.time)
    house.follow()
    assert [texts(house, fact, place)[0] for fact in FACTS] == FACTS
    assert set(texts(house, "frontend calls backend", place)[:2]) == set(FACTS[-8:-6])


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what listens on 8111, and why?", "The stock service listens on port 8111."),
        ("is the upload limit still 10 MB?", "The upload limit is 10 MB."),
        ("what is the upload limit?", "The upload limit is 20 MB."),
        ("printer shows E117", "Error E117 of the printer means that the drawer is open."),
        ('what does the key "ui.dense" do?', 'The key "ui.dense" switches narrow rows.'),
        ("what does Carl review?", "Carl reviews changes in the linker folder."),
    ],
)
def test_what_a_question_names_is_first(
    house: ServiceHouse, tmp_path: Path, question: str, expected: str
) -> None:
    """An exact number, identifier, name or quotation beats what differs in it; the newer of two that
    contradict each other is first where none is named."""
    place = tmp_path / "shop"
    place.mkdir()
    for fact in FACTS:
        house.remember(fact, place)
        house.pass_time(days=1)
    assert texts(house, question, place)[0] == expected


def test_nothing_is_an_answer(house: ServiceHouse, tmp_path: Path) -> None:
    """What has nothing to do with a question stands there for programs, and does not fit; other words for
    the same thing do."""
    place = tmp_path / "shop"
    place.mkdir()
    for fact in (
        *FACTS,
        "The office lost its wireless link until the network configuration moved.",
    ):
        house.remember(fact, place)

    def fitting(question: str) -> list[str]:
        request = {"query": question, "project": str(place)}
        hits = door(house.ctx, "recall", request)["hits"]
        assert len(hits) == 10 and all(0.0 <= hit["relevance"] <= 1.0 for hit in hits)
        return [hit["text"] for hit in hits if hit["fits"]]

    assert fitting("purple elephants dancing") == []
    assert any("network configuration" in text for text in fitting("WiFi problem"))
