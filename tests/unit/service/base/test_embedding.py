"""The embedding model as the daemon shares it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from fakes_embed import FakeEmbedder

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
