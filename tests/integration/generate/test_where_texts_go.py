"""A model server is asked at its own address alone, and for no longer and no more than it may answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from fakes_ollama import OllamaServer, running

from vector_memory import ollama_client
from vector_memory.config import Settings
from vector_memory.embed.ollama import OllamaEmbedder
from vector_memory.errors import EmbeddingError, GenerationError
from vector_memory.generate.ollama import OllamaGenerator


@pytest.fixture
def other() -> Iterator[OllamaServer]:
    """Another server, to which nothing was said to go: it has the models, too."""
    with running() as made:
        made.models["llama3.2:latest"] = "aa"
        yield made


def at(server: OllamaServer) -> Settings:
    return replace(Settings(), generation_model="llama3.2", ollama_host=server.address)


ASKED: list[Callable[[Settings], object]] = [
    lambda settings: OllamaGenerator(settings).complete("The ferry is moored.", 9, 5.0),
    lambda settings: OllamaGenerator(settings).check(5.0),
    lambda settings: OllamaEmbedder(settings, "").embed_query("Where is the ferry?"),
]


@pytest.mark.parametrize("ask", ASKED)
def test_no_proxy_of_the_environment_is_asked(
    server: OllamaServer,
    other: OllamaServer,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[Settings], object],
) -> None:
    """Texts go where `ollama_host` says, not to what a company set for the web."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, other.address)
    ask(at(server))
    assert other.asked == []
    assert server.asked


@pytest.mark.parametrize("ask", ASKED)
def test_no_redirect_is_followed(
    server: OllamaServer, other: OllamaServer, ask: Callable[[Settings], object]
) -> None:
    """A server that sends on to another one has no answer."""
    server.moved_to = other.address
    with pytest.raises((GenerationError, EmbeddingError)):
        ask(at(server))
    assert other.asked == []


def test_an_answer_in_drips_is_late(server: OllamaServer) -> None:
    """The time is for the whole answer: what comes of it meanwhile makes it no longer."""
    server.blanks, server.blank_s = 100, 0.1
    began = time.monotonic()
    with pytest.raises(GenerationError, match="in time"):
        OllamaGenerator(at(server)).complete("The ferry is moored.", 9, 0.5)
    # Well before the ten seconds that the answer takes.
    assert time.monotonic() - began < 5.0


@pytest.mark.parametrize("ask", ASKED)
def test_an_answer_that_does_not_end_is_cut_off(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch, ask: Callable[[Settings], object]
) -> None:
    """No server fills the memory of this machine."""
    ask(at(server))
    monkeypatch.setattr(ollama_client, "MOST_BYTES", 50_000)
    server.blanks = 60_000
    with pytest.raises((GenerationError, EmbeddingError), match="50000 bytes"):
        ask(at(server))


@pytest.mark.parametrize("ask", ASKED)
def test_a_packed_answer_is_none(server: OllamaServer, ask: Callable[[Settings], object]) -> None:
    """A few bytes may be unpacked to more than this machine has."""
    server.packing = "gzip"
    with pytest.raises((GenerationError, EmbeddingError), match="packed"):
        ask(at(server))
