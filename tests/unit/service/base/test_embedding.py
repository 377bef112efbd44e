"""The embedding model as the daemon shares it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from fakes_embed import FakeEmbedder

from vector_memory.errors import EmbeddingError, ModelChangedError
from vector_memory.model import Scope
from vector_memory.retrieve import query
from vector_memory.service.base import embedding as shared
from vector_memory.service.base.embedding import Embedding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vector_memory.model import Vector, Vectors

TOO_LONG_S = 0.01


class Stalled:
    """An embedder that answers when it is let."""

    model, dim = "stalled", 2

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.go_on.set()

    def embed_query(self, text: str) -> Vector:
        self.go_on.wait(10)
        return np.array([1.0, 0.0], np.float32)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.zeros((len(texts), 2), np.float32)

    def close(self) -> None:
        self.go_on.set()


def test_a_prompt_waits_for_its_vector_no_longer_than_it_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next one has its own again, once the model is back."""
    model, prompt = Stalled(), query.analyse("which port?", Scope())
    embedding = Embedding(lambda: model, lambda: model)
    assert embedding.of_prompt(prompt)() is None, "not loaded yet"
    assert embedding.load()
    monkeypatch.setattr("vector_memory.service.base.embedding.PROMPT_WAIT_S", 10.0)
    assert embedding.of_prompt(prompt)() is not None
    model.go_on.clear()
    monkeypatch.setattr("vector_memory.service.base.embedding.PROMPT_WAIT_S", TOO_LONG_S)
    assert embedding.of_prompt(prompt)() is None
    assert embedding.of_prompt(prompt)() is None, "behind the first"
    model.go_on.set()
    monkeypatch.setattr("vector_memory.service.base.embedding.PROMPT_WAIT_S", 10.0)
    assert embedding.of_prompt(prompt)() is not None
    embedding.close()


class Served(FakeEmbedder):
    """An embedder on a server that may be away, or have another model by now."""

    error: EmbeddingError | None = None

    def close(self) -> None:
        """Stay: a process for many texts is let go when it fails, and made again."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.error:
            raise self.error
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> Vector:
        if self.error:
            raise self.error
        return super().embed_query(text)


def test_a_server_that_is_away_is_a_model_that_fails_until_it_is_back() -> None:
    """Whatever asked it, a question or texts; and one that was away at first is loaded then."""
    model = Served()
    embedding = Embedding(lambda: model, lambda: model)
    model.error = EmbeddingError("The server is away.")
    assert not embedding.load()
    assert (embedding.state, embedding.retry()) == ("failed", False)
    model.error = None
    assert embedding.retry()
    assert (embedding.state, embedding.error) == ("ready", "")
    model.error = EmbeddingError("The server is away.")
    assert embedding.query("which port?") is None
    assert (embedding.state, embedding.error) == ("failed", "The server is away.")
    model.error = None
    assert embedding.documents(["a note"]).shape == (1, 64)
    assert embedding.state == "ready"
    for texts in (["a note"], ["a note"] * shared.BULK_FROM):
        model.error = EmbeddingError("The server is away.")
        with pytest.raises(EmbeddingError):
            embedding.documents(texts)
        assert embedding.state == "failed"
        model.error = None
        assert embedding.retry()
    assert not embedding.is_replaced


class Choosy(Served):
    """One that answers questions and refuses texts."""

    def embed_query(self, text: str) -> Vector:
        return FakeEmbedder().embed_query(text)


@pytest.mark.parametrize("count", [1, shared.BULK_FROM])
def test_a_model_that_answers_questions_has_not_failed(count: int) -> None:
    """Whatever texts it has no vector for, and however its process for many of them ended; one that failed for
    questions is back then."""
    model = Choosy()
    embedding = Embedding(lambda: model, lambda: model)
    assert embedding.load()
    model.error = EmbeddingError("The server says 500.")
    for before in ("", "The server was away."):
        embedding.error = before
        with pytest.raises(EmbeddingError, match="500"):
            embedding.documents(["a note"] * count)
        assert (embedding.state, embedding.error) == ("ready", "")


@pytest.mark.parametrize("in_bulk", [False, True])
def test_another_model_under_the_same_name_gives_no_vector(in_bulk: bool) -> None:
    """Neither where it says so itself nor where the process for many texts has it alone."""
    model, other = Served(), Served(model="other@1")
    embedding = Embedding(lambda: model, lambda: other)
    assert embedding.load()
    if not in_bulk:
        model.error = ModelChangedError("Another one.")
    with pytest.raises(ModelChangedError):
        embedding.documents(["a note"] * (shared.BULK_FROM if in_bulk else 1))
    assert embedding.is_replaced
    assert embedding.state == "failed"


def test_a_sentence_that_was_asked_for_is_not_embedded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However often a turn that grows is read whole, and as far as there is room: the last ones are kept."""
    model = FakeEmbedder()
    embedding = Embedding(lambda: model, lambda: model)
    assert embedding.load()
    said = [f"sentence {number} of the turn" for number in range(60)]
    for most in (20, 40, 60, 60):
        assert np.allclose(
            embedding.sentences(said[:most]), FakeEmbedder().embed_documents(said[:most])
        )
    assert embedding.sentences([]).shape == (0, 64)
    twice = embedding.sentences([said[1], said[0], said[1]])
    assert np.array_equal(twice[0], twice[2])
    assert model.texts_embedded == 1 + 60, "the first is to warm up"
    monkeypatch.setattr(shared, "MOST_SENTENCES", 10)
    embedding.sentences(said)
    embedding.sentences(said[-10:])
    assert model.texts_embedded == 61
    embedding.sentences(said[:1])
    assert model.texts_embedded == 62
