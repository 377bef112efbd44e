"""A language model as an option: what it adds, and that recall goes on without it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes_ollama import OllamaServer, running
from service_house import ServiceHouse

from vector_memory.config import Settings
from vector_memory.errors import BadInputError, GenerationError
from vector_memory.generate import registry
from vector_memory.generate.client import Headless
from vector_memory.service import recall, sessions

FIRST = "The importer needs the queue to be drained before it starts"
SECOND = "Drain the queue, then start the importer, then check the ledger"


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    """A server that speaks Ollama's API."""
    with running() as made:
        made.models["llama3.2:latest"] = "aa"
        yield made


@pytest.fixture
def house(tmp_path: Path, server: OllamaServer) -> Iterator[ServiceHouse]:
    """The service with two memories and a model to ask."""
    made = ServiceHouse(tmp_path)
    made.ctx.settings = replace(
        made.ctx.settings,
        generation_backend="ollama",
        generation_model="llama3.2",
        ollama_host=server.address,
    )
    for text in (FIRST, SECOND):
        made.remember(text)
    yield made
    made.close()


def found(house: ServiceHouse) -> list[str]:
    """Return what a recall brings."""
    answer = recall.recall(
        house.ctx, {"query": "start the importer, drain the queue", "global": True}
    )
    return [hit["text"] for hit in answer["hits"]]


def use(house: ServiceHouse, **settings: Any) -> None:
    house.ctx.settings = replace(house.ctx.settings, **settings)


def test_nobody_is_asked_by_default(house: ServiceHouse, server: OllamaServer) -> None:
    """A backend alone does nothing, and a prompt never asks one."""
    before = found(house)
    use(house, hyde=True, rerank=True)
    sessions.on_prompt(house.ctx, sessions.Ask("s", "/", "start the importer, drain the queue"))
    assert server.prompts == []
    assert sorted(before) == sorted([FIRST, SECOND])


def test_a_model_orders_the_first_hits(house: ServiceHouse, server: OllamaServer) -> None:
    """With `rerank` the model's order counts."""
    before = found(house)
    use(house, rerank=True)
    server.written = "[2] > [1]"
    assert found(house) == before[::-1]
    assert "Rank these 2 notes" in server.prompts[0]


def test_a_model_writes_what_is_searched_for(house: ServiceHouse, server: OllamaServer) -> None:
    """With `hyde` the note is embedded with the question, and neither stored nor shown."""
    use(house, hyde=True)
    server.written = "We drain it first, as the zebra protocol says."
    texts = found(house)
    assert sorted(texts) == sorted([FIRST, SECOND])
    assert "importer" in server.prompts[0]
    assert recall.list_memories(house.ctx, {"global": True})["total"] == 2


@pytest.mark.parametrize("failure", [(500, "no"), (404, "model not found")])
def test_recall_goes_on_when_the_model_fails(
    house: ServiceHouse, server: OllamaServer, failure: tuple[int, str]
) -> None:
    """An error of the server is counted, and the hits are those without it."""
    before = found(house)
    use(house, hyde=True, rerank=True)
    server.failure = failure
    assert found(house) == before
    assert house.ctx.state.counters()["generation_failures"] == 2


def test_recall_goes_on_when_nothing_listens(house: ServiceHouse) -> None:
    """No server is no error of a recall."""
    use(house, rerank=True, ollama_host="http://127.0.0.1:9")
    assert len(found(house)) == 2


def test_a_day_has_its_cap(house: ServiceHouse, server: OllamaServer) -> None:
    """What is counted before is not asked again, until the next day."""
    use(house, rerank=True, generation_daily_calls=2)
    for _ in range(4):
        found(house)
    assert len(server.prompts) == 2
    assert house.ctx.state.counters()["generation_refused"] == 2
    house.pass_time(days=1)
    found(house)
    assert len(server.prompts) == 3


def test_unknown_backends_are_named() -> None:
    """A wrong name brings the right ones."""
    with pytest.raises(BadInputError, match="nonsense"):
        registry.create(replace(Settings(), generation_backend="nonsense"))  # type: ignore[arg-type]


def script(folder: Path, body: str) -> str:
    """Return a program that stands for the client."""
    path = folder / "client"
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_client_that_fails_or_is_late_is_an_error(tmp_path: Path) -> None:
    """A failing, a slow and a missing program are told apart from an answer."""
    with pytest.raises(GenerationError, match="3"):
        Headless(Settings(), script(tmp_path, "echo broken >&2; exit 3")).complete("x", 9, 5.0)
    with pytest.raises(GenerationError):
        Headless(Settings(), script(tmp_path, "exec sleep 20")).complete("x", 9, 0.2)
    with pytest.raises(GenerationError, match="no program"):
        Headless(Settings(), str(tmp_path / "nothing"))


def test_a_prompt_reaches_the_client_on_stdin_alone(tmp_path: Path) -> None:
    """What memories say is no argument, and the client starts in an empty folder of its own."""
    path = script(tmp_path, 'cat; echo "|$@|"; ls -A | wc -l')
    said = Headless(Settings(), path).complete("$(id) --help", 9, 5.0)
    assert said.startswith("$(id) --help")
    assert "id)" not in said.partition("|")[2]
    assert said.split()[-1] == "0"
    assert os.getcwd()
