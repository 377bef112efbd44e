"""What comes first of facts that differ in one thing, with a real store and the real model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from fakes_embed import models_folder
from service_house import ServiceHouse, door

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.model import Scope

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

CORPORA: dict[str, list[str]] = {
    "values": FACTS,
    "pins": [
        f"{name} is pinned to {version} because the next release broke our type stubs."
        for name, version in (
            ("pydantic", "2.7.4"), ("pydantic-core", "2.18.4"), ("httpx", "0.27.0"), ("httpcore", "1.0.5"),
        )
    ],
    "directions": [
        f"The {one} pushes its events to the {other} over a websocket."
        for one, other in permutations(("gateway", "ledger", "scheduler"), 2)
    ],
    "negations": [
        f"Feature flags are {word}cached in {place} for one minute."
        for place in ("staging", "production") for word in ("", "not ")
    ],
    "people": [
        f"{one} reviews the migrations that {other} writes."
        for one, other in permutations(("Lena", "Omar", "Priya"), 2)
    ],
    "orders": [
        f"On release day we {one} before we {other}."
        for one, other in permutations(("migrate", "deploy", "seed"), 2)
    ],
    "paths": [
        f"The clock skew fix for sessions is in {path}."
        for path in ("src/auth/token.py", "src/auth/tokens.py", "lib/auth/token.py", "src/auth/token_test.py")
    ],
    "units": [
        f"The upload endpoint times out after {time}."
        for time in ("30 seconds", "30 minutes", "300 milliseconds", "3 seconds")
    ],
    "choices": [
        f"We chose {one} over {other} for the {what} stream."
        for what in ("audit", "metrics") for one, other in permutations(("Kafka", "RabbitMQ"), 2)
    ],
}  # fmt: skip
"""Facts of which those of one corpus differ in little: a number, a name, a direction, an order, a negation."""
NUMBERED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "tests": (
        ("The suite has {} tests and all of them pass.", "CI: {} passed, none failed, in nine minutes."),
        ("which run had {} tests?", "when did we have {} passing tests"),
    ),
    "shares": (
        ("Coverage is {}% since the lexer is tested too.", "The parser stands at {} percent coverage."),
        ("when was the coverage {} percent", "why is the parser at {} % coverage"),
    ),
    "issues": (
        ("Issue #{}: the exporter drops the last row of large files.", "We closed issue {}, the flaky login test."),
        ("issue {}", "what happened with ticket {}?"),
    ),
    "latencies": (
        ("Median latency: {} ms with the pool of eight.", "With keep-alive a request takes {}ms."),
        ("when was the latency {} ms", "what gave {}ms?"),
    ),
    "versions": (
        ("Version 2.{} of the client broke the proxy settings.", "We pinned the client to 2.{} because of the leak."),
        ("what was wrong with client 2.{}?", "why did we pin 2.{}"),
    ),
}  # fmt: skip
"""Wordings of facts that a number tells apart, and questions in other words, each with the number's place."""
NETWORK = "The office lost its wireless link until the network configuration moved."


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServiceHouse, Path]]:
    """A house with all facts in one project, a day apart, and the project's folder."""
    folder = tmp_path_factory.mktemp("ranking")
    house = ServiceHouse(folder, lambda: registry.create(Settings(), models_folder()))
    place = folder / "shop"
    place.mkdir()
    for fact in (*(fact for corpus in CORPORA.values() for fact in corpus), NETWORK):
        assert house.remember(fact, place)["action"] in ("stored", "linked")
        house.pass_time(days=1)
    yield house, place
    house.close()


def hits(house: ServiceHouse, question: str, project: Path) -> list[dict[str, Any]]:
    """Return what a question brings, best first. To be found counts as use, and each test has its own."""
    request = {"query": question, "project": str(project)}
    return list(door(house.ctx, "recall", request)["hits"])


def texts(house: ServiceHouse, question: str, project: Path) -> list[str]:
    """Return the texts that a question brings, best first."""
    return [hit["text"] for hit in hits(house, question, project)]


@pytest.mark.parametrize("corpus", CORPORA)
def test_each_fact_is_first_in_its_own_words_whatever_was_used(
    filled: tuple[ServiceHouse, Path], corpus: str
) -> None:
    """Newer facts that contradict an older one, and those that are used all the time, stand behind what
    was asked for."""
    house, place = filled
    facts = CORPORA[corpus]
    assert [texts(house, fact, place)[0] for fact in facts] == facts
    (shelf,) = [one for one in house.ctx.all_shelves() if one.journal.count(Scope())]
    used = [one.id for one in shelf.journal.iter_memories(Scope()) if one.text in facts[::2]]
    assert len(used) == len(facts[::2])
    shelf.journal.touch(dict.fromkeys(used, 500), house.time)
    house.follow()
    assert [texts(house, fact, place)[0] for fact in facts] == facts


@pytest.mark.parametrize("first", (24, 3080))
def test_a_number_of_a_question_beats_one_that_differs(
    tmp_path: Path, first: int, filled: tuple[ServiceHouse, Path]
) -> None:
    """However much nearer in its words the fact of another number is: with every number in each place."""
    house, place = filled[0], tmp_path / "numbers"
    place.mkdir()
    facts = {
        (sort, number): wordings[number % 2].format(number)
        for sort, (wordings, _) in NUMBERED.items()
        for number in range(first, first + 4)
    }
    for fact in facts.values():
        house.remember(fact, place)
        house.pass_time(days=1)
    wrong = [
        (question.format(number), found[0])
        for sort, number in facts
        for question in NUMBERED[sort][1]
        if str(number) not in (found := texts(house, question.format(number), place))[0]
    ]
    assert wrong == []


def test_both_of_two_with_their_parts_exchanged_come(filled: tuple[ServiceHouse, Path]) -> None:
    assert set(texts(filled[0], "frontend calls backend", filled[1])[:2]) == {
        "The frontend calls the backend.", "The backend calls the frontend.",
    }  # fmt: skip


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
    filled: tuple[ServiceHouse, Path], question: str, expected: str
) -> None:
    """An exact number, identifier, name or quotation beats what differs in it; the newer of two that
    contradict each other is first where none is named."""
    assert texts(filled[0], question, filled[1])[0] == expected


def test_nothing_is_an_answer(filled: tuple[ServiceHouse, Path]) -> None:
    """What has nothing to do with a question stands there for programs, and does not fit; other words for
    the same thing do."""

    def fitting(question: str) -> list[str]:
        found = hits(filled[0], question, filled[1])
        assert len(found) == 10 and all(0.0 <= hit["relevance"] <= 1.0 for hit in found)
        return [hit["text"] for hit in found if hit["fits"]]

    assert fitting("purple elephants dancing") == []
    assert NETWORK in fitting("WiFi problem")


def test_a_project_is_offered_only_where_something_fits(
    filled: tuple[ServiceHouse, Path], tmp_path: Path
) -> None:
    def note(query: str) -> str | None:
        request = {"query": query, "project": str(tmp_path)}
        found: str | None = door(filled[0].ctx, "recall", request).get("note")
        return found

    assert "in the project shop" in (note("Which port does the tax service of shop use?") or "")
    assert note("Do purple elephants dance in shop?") is None
