"""What every embedder promises, asked of every backend and of the fake."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import fakes_ollama
import numpy as np
import pytest
from fakes_embed import FakeEmbedder, models_folder, require_package

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.embed.pool import BulkEmbedder
from vector_memory.errors import EmbeddingError
from vector_memory.model import Embedder, Vocabulary

Make = Callable[[], Embedder]

TEXTS = [
    "The database migration failed because the disk was full.",
    "Use tabs in the Makefile, spaces everywhere else.",
    "def retry(times): return [attempt(i) for i in range(times)]",
    "one",
    "A longer note, so that the texts of a batch differ in their length: " + "words and more " * 30,
    "We chose PostgreSQL over MySQL on 2026-03-14.",
    "two",
]
NAUGHTY = [
    "",
    " ",
    "\n\t\r",
    "\x00",
    "before\x00after",
    "\ud800",
    "half a pair \udfff of surrogates",
    "\u202eright to left\u202c",
    "zero\u200bwidth\ufeff",
    "e\u0301 é ﬁ Å",
    "日本語のテキスト",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "\U0010ffff\ufffe",
    "[CLS] [SEP] [PAD] [MASK] <s> </s>",
    "' OR 1=1; DROP TABLE memories; --",
    "a" * 5_000,
    "𝕬" * 500,
]


def _from_settings(settings: Settings) -> Make:
    return lambda: registry.create(settings, models_folder())


KINDS = ["fake", "minilm", "bulk", "sentence-transformers", "ollama"]
if os.environ.get("OLLAMA_HOST"):
    KINDS.append("ollama-real")


@pytest.fixture(scope="module", params=KINDS)
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """How to make an embedder of each kind."""
    if request.param == "fake":
        yield FakeEmbedder
    elif request.param == "bulk":
        yield lambda: BulkEmbedder(Settings(), models_folder())
    elif request.param == "ollama":
        with fakes_ollama.running() as server:
            settings = Settings(embedding_backend="ollama", ollama_host=server.address)
            yield _from_settings(settings)
    elif request.param == "ollama-real":
        yield _from_settings(Settings(embedding_backend="ollama"))
    else:
        if request.param == "sentence-transformers":
            require_package("sentence_transformers")
        yield _from_settings(Settings(embedding_backend=request.param))


@pytest.fixture(scope="module")
def embedder(make: Make) -> Iterator[Embedder]:
    """One embedder of each kind for the module."""
    made = make()
    yield made
    made.close()


def test_documents_become_unit_vectors(embedder: Embedder) -> None:
    """There is one float32 row of length 1 for each text."""
    vectors = embedder.embed_documents(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dim)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() <= 1e-5


def test_query_becomes_a_unit_vector(embedder: Embedder) -> None:
    """A query has one float32 vector of length 1."""
    vector = embedder.embed_query("why did the migration fail?")
    assert vector.shape == (embedder.dim,)
    assert vector.dtype == np.float32
    assert abs(np.linalg.norm(vector) - 1) <= 1e-5


def test_order_is_kept(embedder: Embedder) -> None:
    """Each row belongs to the text at its place, however batches are made."""
    vectors = embedder.embed_documents(TEXTS)
    backwards = embedder.embed_documents(TEXTS[::-1])[::-1]
    assert (vectors * backwards).sum(axis=1).min() >= 0.9999
    others = vectors @ vectors.T - np.eye(len(TEXTS))
    assert others.max() < 0.9999


def test_batch_equals_single(embedder: Embedder) -> None:
    """A text's vector does not depend on what is embedded beside it."""
    batch = embedder.embed_documents(TEXTS)
    single = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    assert (batch * single).sum(axis=1).min() >= 0.9999


def test_many_texts(embedder: Embedder) -> None:
    """More texts than any batch holds come back whole and in order."""
    texts = [f"{word} {number}" for number in range(15) for word in ("disk", "tree", "a b c d e")]
    vectors = embedder.embed_documents(texts)
    assert vectors.shape == (len(texts), embedder.dim)
    assert vectors[40] @ embedder.embed_documents([texts[40]])[0] >= 0.9999


def test_no_texts(embedder: Embedder) -> None:
    """No texts are no rows, of the right width."""
    vectors = embedder.embed_documents([])
    assert vectors.shape == (0, embedder.dim)
    assert vectors.dtype == np.float32


@pytest.mark.parametrize("text", NAUGHTY, ids=ascii)
def test_any_text_is_embedded(embedder: Embedder, text: str) -> None:
    """Empty, broken and odd texts get a vector like any other, as document and as query."""
    vectors = embedder.embed_documents([text, "something plain"])
    assert vectors.shape == (2, embedder.dim)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() <= 1e-5
    assert abs(np.linalg.norm(embedder.embed_query(text)) - 1) <= 1e-5


def test_very_long_text(embedder: Embedder) -> None:
    """A text of a megabyte is embedded by what it begins with."""
    start = "The journal is the truth and the index follows it. "
    vectors = embedder.embed_documents([start * 20_000, start * 10_000])
    assert vectors[0] @ vectors[1] >= 0.9999


def test_same_text_same_vector(embedder: Embedder) -> None:
    """Asking again gives the same numbers."""
    assert np.array_equal(embedder.embed_documents(TEXTS), embedder.embed_documents(TEXTS))
    assert np.array_equal(embedder.embed_query("one"), embedder.embed_query("one"))


def test_a_paraphrase_is_nearer_than_another_topic(embedder: Embedder) -> None:
    """A question is nearer to its answer than to something else."""
    answer, other = embedder.embed_documents(
        [
            "The database migration failed because the disk was full.",
            "Grandmother bakes apple pies every autumn.",
        ]
    )
    question = embedder.embed_query("why did the database migration fail, was the disk full?")
    assert question @ answer > question @ other + 0.2


def test_model_names_its_version(make: Make, embedder: Embedder) -> None:
    """The model's name has a version and is the same for each instance."""
    name, _, version = embedder.model.rpartition("@")
    assert name
    assert version
    again = make()
    assert (again.model, again.dim) == (embedder.model, embedder.dim)
    again.close()


def test_a_model_may_tell_words_from_names(embedder: Embedder) -> None:
    """What tells it has the words of its language, and none that joins several or was made up."""
    if isinstance(embedder, Vocabulary):
        assert all(map(embedder.has_word, ("cache", "gate", "Receipt")))
        assert not any(
            map(embedder.has_word, ("wkhtmltopdf", "mbtiles", "cache_it", "", "two words"))
        )
    else:
        assert "MiniLm" not in type(embedder).__name__


def test_closed_embedder_says_so(make: Make) -> None:
    """After `close` nothing is embedded, and closing twice is allowed."""
    closed = make()
    closed.close()
    closed.close()
    with pytest.raises(EmbeddingError):
        closed.embed_documents(["text"])
    with pytest.raises(EmbeddingError):
        closed.embed_documents([])
    with pytest.raises(EmbeddingError):
        closed.embed_query("text")
