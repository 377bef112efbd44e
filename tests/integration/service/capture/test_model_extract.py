"""Ideas by a model: off unless chosen, within the day's caps, and nothing is lost when it fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fakes_ollama import OllamaServer
from service_house import ServiceHouse

from vector_memory.errors import GenerationError
from vector_memory.model import EXTRACTION_MARK
from vector_memory.service.capture.model_ideas import MOST_CHUNKS, extract_ideas

TEXT = (
    "User: why did the import hang last night?\n\nAssistant: The importer waits for the queue. We "
    "decided to drain the queue before each import, since the lock is held otherwise."
)
IDEA = "The queue is drained before each import, since the lock is held otherwise."


def answer(text: str = IDEA) -> str:
    """Return a good answer with one idea."""
    quote = "drain the queue before each import"
    one = {"text": text, "intent": "decision", "confidence": 0.8, "quote": quote}
    return json.dumps({"ideas": [one]})


@pytest.fixture
def house(tmp_path: Path, server: OllamaServer) -> Iterator[ServiceHouse]:
    """The service with a model to ask, and the extraction switched on."""
    made = ServiceHouse(tmp_path)
    made.ctx.settings = replace(
        made.ctx.settings,
        extraction=True,
        generation_backend="ollama",
        ollama_host=server.address,
    )
    yield made
    made.close()


def use(house: ServiceHouse, **settings: Any) -> None:
    house.ctx.settings = replace(house.ctx.settings, **settings)


def texts(house: ServiceHouse, text: str = TEXT, known: tuple[str, ...] = ()) -> list[str]:
    """Return what is found until the model cannot be asked."""
    found: list[str] = []
    with suppress(GenerationError):
        for ideas in extract_ideas(house.ctx, text, known):
            found += [idea.text for idea in ideas]
    return found


def used(house: ServiceHouse) -> dict[str, int]:
    return house.ctx.generation.used_on(house.ctx.local_now().date())


@pytest.mark.parametrize("off", [{"extraction": False}, {"generation_backend": ""}])
def test_nobody_is_asked_unless_both_are_chosen(
    house: ServiceHouse, server: OllamaServer, off: dict[str, Any]
) -> None:
    """A switch and a model: without either, nothing happens."""
    use(house, **off)
    assert texts(house) == []
    assert server.prompts == []


def test_a_model_finds_an_idea(house: ServiceHouse, server: OllamaServer) -> None:
    """The gate, then the extractor, whose answer is held to a schema; what it took is counted."""
    server.answers = ["yes", answer()]
    assert texts(house) == [IDEA]
    gate, extractor = server.chats
    assert gate.get("format") is None
    assert extractor["format"]["properties"]["ideas"]
    assert all(prompt.startswith(EXTRACTION_MARK) for prompt in server.prompts)
    assert (used(house)["calls"], used(house)["tokens"]) == (2, 220)
    assert house.ctx.state.counters()["ideas_extracted"] == 1


def test_what_rules_found_is_not_found_again(house: ServiceHouse, server: OllamaServer) -> None:
    """What is known stays out."""
    server.answers = ["yes", answer()]
    assert texts(house, known=(IDEA,)) == []


def test_the_gate_is_a_setting(house: ServiceHouse, server: OllamaServer) -> None:
    """Without it one call does."""
    use(house, extraction_gate=False)
    server.answers = [answer()]
    assert texts(house) == [IDEA]


def test_short_texts_are_not_worth_a_call(house: ServiceHouse, server: OllamaServer) -> None:
    """Go on, thanks."""
    assert texts(house, "Thanks, go on.") == []
    assert server.prompts == []


def test_secrets_are_out_before_the_model_sees_them(
    house: ServiceHouse, server: OllamaServer
) -> None:
    """Whoever calls may have forgotten it."""
    server.written = "no"
    texts(house, f"{TEXT} The key is {'AKIA' + 'IOSFODNN7EXAMPLB'}, keep it.")
    assert "AKIA" not in server.prompts[0]


def test_garbage_is_counted_and_loses_nothing(house: ServiceHouse, server: OllamaServer) -> None:
    """Two bad answers are the end of it, and the next text is tried again."""
    server.answers = ["yes", "I think so.", '{"ideas": [{"text": "?"}]}', "yes", answer()]
    assert texts(house) == []
    assert used(house)["garbage"] == 2
    assert texts(house) == [IDEA]


@pytest.mark.parametrize("failure", [(500, "no"), (404, "model not found")])
def test_a_failure_gives_the_model_a_rest(
    house: ServiceHouse, server: OllamaServer, failure: tuple[int, str]
) -> None:
    """It is not tried with every text for minutes, and comes back by itself."""
    server.failure = failure
    assert texts(house) == texts(house) == []
    assert (used(house)["calls"], used(house)["failures"]) == (1, 1)
    server.failure = None
    server.answers = ["yes", answer()]
    house.pass_time(minutes=11)
    assert texts(house) == [IDEA]


def test_a_model_that_is_late_is_a_failure(
    house: ServiceHouse, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for ever."""
    monkeypatch.setattr("vector_memory.service.base.model_help.TIMEOUT_S", 0.1)
    server.delay_s = 0.4
    assert texts(house) == []
    assert used(house)["failures"] == 1


def test_a_used_up_day_is_left_to_the_rules(house: ServiceHouse, server: OllamaServer) -> None:
    """What was found before stays; tomorrow it goes on."""
    use(house, generation_daily_calls=2)
    server.answers = ["yes", answer()]
    long = TEXT + " Word by word it goes on and says nothing." * 60
    assert texts(house, long) == [IDEA]
    assert (used(house)["calls"], used(house)["refused"], used(house)["failures"]) == (2, 1, 0)
    house.pass_time(days=1)
    server.answers = ["yes", answer()]
    assert texts(house) == [IDEA]


def test_one_text_does_not_take_the_whole_day(house: ServiceHouse, server: OllamaServer) -> None:
    """Only so much of it is read."""
    server.written = "no"
    texts(house, "The log goes on and on without an end in sight. " * 3_000)
    assert len(server.prompts) == MOST_CHUNKS


def test_a_text_that_cannot_be_redacted_is_shown_to_nobody(
    house: ServiceHouse, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is dropped and counted."""

    def broken(text: str) -> None:
        raise ValueError("oh")

    monkeypatch.setattr("vector_memory.redact.normalise", broken)
    assert texts(house) == []
    assert server.prompts == []
    assert house.ctx.state.counters()["texts_dropped"] == 1
