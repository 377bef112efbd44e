"""The Ollama backend against a small server that speaks its API."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import fakes_ollama
import pytest

from vector_memory.config import Settings
from vector_memory.embed import ollama as backend
from vector_memory.embed.ollama import OllamaEmbedder
from vector_memory.errors import EmbeddingError, ModelChangedError
from vector_memory.service.base import embedding as shared
from vector_memory.service.base.embedding import Embedding


@pytest.fixture
def server() -> Iterator[fakes_ollama.OllamaServer]:
    """A server that has nomic-embed-text."""
    with fakes_ollama.running() as running:
        yield running


def _connect(server: fakes_ollama.OllamaServer, model: str = "") -> OllamaEmbedder:
    settings = Settings(
        embedding_backend="ollama", embedding_model=model, ollama_host=server.address
    )
    return OllamaEmbedder(settings, "")


def test_nomic_gets_its_task_prefixes(server: fakes_ollama.OllamaServer) -> None:
    """Documents and queries are marked as what they are."""
    embedder = _connect(server)
    server.inputs.clear()
    embedder.embed_documents(["a note", ""])
    embedder.embed_query("a question")
    assert server.inputs == [
        "search_document: a note",
        f"search_document: {backend.NOTHING}",
        "search_query: a question",
    ]
    assert embedder.dim == 768


def test_other_models_get_the_bare_text(server: fakes_ollama.OllamaServer) -> None:
    """Prefixes are nomic's own; another model would take them for words."""
    server.models["all-minilm:latest"] = "1b226e2802db"
    embedder = _connect(server, "all-minilm")
    server.inputs.clear()
    embedder.embed_documents(["a note"])
    embedder.embed_query("a question")
    assert server.inputs == ["a note", "a question"]


def test_another_version_has_another_name(server: fakes_ollama.OllamaServer) -> None:
    """The model's digest is part of its name, so a new version is not compared with the old."""
    before = _connect(server).model
    assert before == "nomic-embed-text@0a109f42"
    server.models["nomic-embed-text:latest"] = "ffffffffffff"
    assert _connect(server).model == "nomic-embed-text@ffffffff"


def test_a_version_that_comes_later_is_told(server: fakes_ollama.OllamaServer) -> None:
    """Its tag is the same, its weights are not; a new connection has its name. One of other dimensions makes no vector."""
    embedder = _connect(server)
    before = server.models["nomic-embed-text:latest"]
    server.models["nomic-embed-text:latest"] = "ffffffffffff"
    with pytest.raises(ModelChangedError, match="ffffffff"):
        embedder.confirm()
    _connect(server).confirm()
    server.models["nomic-embed-text:latest"] = before
    embedder.confirm()
    server.dim = 32
    with pytest.raises(ModelChangedError, match="32 dimensions"):
        embedder.embed_query("a question")


def test_the_version_is_asked_where_nobody_waits(
    server: fakes_ollama.OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for all texts whose vectors are kept, before they are; for questions behind the answer, once in a while."""
    monkeypatch.setattr(shared, "CONFIRM_EVERY_S", 1_000.0)
    embedder = _connect(server)
    embedding = Embedding(lambda: embedder, lambda: embedder)
    assert embedding.load()
    server.listed = 0
    assert embedding.documents(["a note", "another", "a third"]).shape == (3, 768)
    assert server.listed == 1
    embedder.embed_query("a question")
    assert server.listed == 1
    for _ in range(20):
        assert embedding.query("a question") is not None
        until(lambda: server.listed > 1)
    assert server.listed == 2
    embedding.close()


@pytest.mark.parametrize("is_kept", [False, True])
def test_of_another_version_no_vector_is_kept(
    server: fakes_ollama.OllamaServer, monkeypatch: pytest.MonkeyPatch, is_kept: bool
) -> None:
    """Of the same dimension, too. A question may get one; from then on nothing does."""
    monkeypatch.setattr(shared, "CONFIRM_EVERY_S", 0.0)
    embedder = _connect(server)
    embedding = Embedding(lambda: embedder, lambda: embedder)
    assert embedding.load()
    server.models["nomic-embed-text:latest"] = "ffffffffffff"
    if is_kept:
        with pytest.raises(ModelChangedError, match="ffffffff"):
            embedding.documents(["a note"])
    else:
        assert embedding.query("a question") is not None
        until(lambda: embedding.is_replaced)
    assert embedding.query("a question") is None
    with pytest.raises(ModelChangedError, match="ffffffff"):
        embedding.documents(["a note"])
    assert embedding.state == "failed"
    embedding.close()


def until(is_so: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    for _ in range(1_000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def test_texts_go_in_batches(server: fakes_ollama.OllamaServer) -> None:
    """More texts than one batch holds arrive whole and in order."""
    embedder = _connect(server)
    server.inputs.clear()
    texts = [f"note {number}" for number in range(2 * backend.BATCH + 3)]
    assert embedder.embed_documents(texts).shape == (len(texts), 768)
    assert server.inputs == [f"search_document: {text}" for text in texts]


def test_the_host_may_come_from_the_environment(
    server: fakes_ollama.OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a setting the client's own variable says where the server is."""
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    assert OllamaEmbedder(Settings(embedding_backend="ollama"), "").dim == 768


def test_a_missing_model_says_what_to_pull(server: fakes_ollama.OllamaServer) -> None:
    """Both a model that was never there and one removed since name the command."""
    embedder = _connect(server)
    server.models.clear()
    with pytest.raises(EmbeddingError, match="ollama pull nomic-embed-text"):
        embedder.embed_query("text")
    with pytest.raises(EmbeddingError, match="ollama pull nomic-embed-text"):
        _connect(server)


def test_no_server_is_an_expected_error(server: fakes_ollama.OllamaServer) -> None:
    """A server that cannot be reached is named, with what to do."""
    server.server_close()
    with pytest.raises(EmbeddingError, match=r"does not answer at .*ollama serve"):
        _connect(server)


def test_a_server_that_fails_is_an_expected_error(server: fakes_ollama.OllamaServer) -> None:
    """The server's own message is passed on."""
    embedder = _connect(server)
    server.failure = (500, "out of memory")
    with pytest.raises(EmbeddingError, match="out of memory"):
        embedder.embed_documents(["text"])


def test_a_slow_server_does_not_hold_a_prompt(
    server: fakes_ollama.OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query is given up after its own short time."""
    monkeypatch.setattr(backend, "QUERY_TIMEOUT_S", 0.05)
    embedder = _connect(server)
    server.delay_s = 0.5
    with pytest.raises(EmbeddingError, match="does not answer"):
        embedder.embed_query("text")
