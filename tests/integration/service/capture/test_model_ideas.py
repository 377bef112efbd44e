"""A model reads on where the rules have read: once a turn, never twice, and its word is not the user's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes_ollama import OllamaServer
from model_samples import IDEA, TALK, finding_one
from service_house import ServiceHouse, captured_of
from talk import transcript

from vector_memory.model import Memory, Origin, Scope
from vector_memory.service.capture import model_ideas, model_reading
from vector_memory.service.capture.deferred import MINING
from vector_memory.service.capture.model_ideas import TAG, mine


@pytest.fixture
def server(server: OllamaServer) -> OllamaServer:
    """A server that speaks Ollama's API and finds one idea."""
    return finding_one(server)


@pytest.fixture
def house(tmp_path: Path, server: OllamaServer) -> Iterator[ServiceHouse]:
    """The service with a captured session and the extraction switched on."""
    made = ServiceHouse(tmp_path)
    made.ctx.settings = replace(
        made.ctx.settings, extraction=True, extraction_gate=False, generation_backend="ollama",
        ollama_host=server.address,
    )  # fmt: skip
    folder = tmp_path / "app"
    folder.mkdir()
    captured_of(made.ctx, str(transcript(folder, TALK)), final=True)
    made.follow()
    yield made
    made.close()


def mined(house: ServiceHouse) -> list[Memory]:
    """Return what the model found."""
    return list(house.ctx.global_shelf().journal.iter_memories(Scope(tags=(TAG,))))


def test_a_models_idea_is_stored_with_its_source(house: ServiceHouse) -> None:
    """Of the passage that it quotes, and never as the user's word."""
    assert mine(house.ctx, ["s1"], final=True)
    (idea,) = mined(house)
    assert (idea.text, idea.kind, idea.origin) == (IDEA, "decision", Origin.ASSISTANT)
    assert (idea.source.session, idea.confidence) == ("s1", 0.6)


def test_a_turn_is_read_once(house: ServiceHouse, server: OllamaServer) -> None:
    """The last turn waits until the session is over."""
    mine(house.ctx, ["s1"], final=False)
    asked = len(server.prompts)
    assert asked > 0
    mine(house.ctx, ["s1"], final=False)
    assert len(server.prompts) == asked
    mine(house.ctx, ["s1"], final=True)
    assert len(server.prompts) > asked
    assert len(mined(house)) == 1


def test_off_means_off(house: ServiceHouse, server: OllamaServer) -> None:
    """Nothing is asked unless it is wanted."""
    house.ctx.settings = replace(house.ctx.settings, extraction=False)
    assert mine(house.ctx, ["s1"], final=True)
    assert server.prompts == []


def test_it_ends_at_its_budget_and_goes_on_there(
    house: ServiceHouse, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that takes too long leaves the rest of the session for another time, and it stays due."""
    house.ctx.state.add_due(MINING, "s1")
    monkeypatch.setattr(model_ideas, "BUDGET_S", 0.0)
    model_reading.read_due(house.ctx)
    assert server.prompts == []
    assert house.ctx.state.due_keys(MINING) == ["s1"]
    monkeypatch.undo()
    model_reading.read_due(house.ctx)
    assert mined(house)
    assert house.ctx.state.due_keys(MINING) == []


def test_it_ends_with_the_daemon(house: ServiceHouse, server: OllamaServer) -> None:
    """What was not read when the daemon was told to stop is read by the next one."""
    house.ctx.state.add_due(MINING, "s1")
    house.ctx.stopping.set()
    assert not mine(house.ctx, ["s1"], final=True)
    assert not mined(house)
    house.ctx.stopping.clear()
    assert mine(house.ctx, ["s1"], final=True)
    assert mined(house)
