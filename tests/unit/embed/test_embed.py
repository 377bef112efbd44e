"""The parts of the embedding backends that need no model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.embed.install import install_backend
from vector_memory.embed.minilm import BATCH, equal_length_batches
from vector_memory.embed.vectors import CHARS_PER_TOKEN, normalised, readable
from vector_memory.errors import BadInputError, EmbeddingError

any_text = st.text(st.characters(exclude_categories=()))


@given(any_text, st.integers(1, 4))
def test_readable_is_valid_and_short(text: str, tokens: int) -> None:
    """Any string becomes valid Unicode of bounded length that begins like it."""
    shown = readable(text, tokens)
    assert len(shown) == min(len(text), tokens * CHARS_PER_TOKEN)
    shown.encode("utf-8")
    half_pairs = {chr(code) for code in range(0xD800, 0xE000)}
    assert all(shown[i] == text[i] or text[i] in half_pairs for i in range(len(shown)))


@given(st.lists(st.integers(1, 6), max_size=60))
def test_batches_hold_equal_lengths(lengths: list[int]) -> None:
    """Every text is in one batch, with others of its own length only, and no batch is too large."""
    batches = list(equal_length_batches(lengths))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    assert all(len({lengths[place] for place in batch}) == 1 for batch in batches)
    assert all(1 <= len(batch) <= BATCH for batch in batches)


def test_equal_lengths_share_batches() -> None:
    """Nine texts of one length need three batches, not nine."""
    assert [len(batch) for batch in equal_length_batches([7] * 9)] == [4, 4, 1]


def test_normalised_makes_lengths_one() -> None:
    """Rows are divided by their length and come back as float32."""
    vectors = normalised([[3.0, 4.0], [0.0, 2.0]], 2)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [[0.6, 0.8], [0.0, 1.0]])


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [[1.0, 0.0]],
        [1.0, 0.0],
        [[1.0], [1.0, 0.0]],
        [[float("nan"), 1.0]] * 2,
        [[0.0, 0.0]] * 2,
    ],
    ids=["none", "too few", "flat", "ragged", "not a number", "zero"],
)
def test_normalised_refuses_what_is_no_vectors(rows: list[object]) -> None:
    """A model's answer that is not two proper vectors is an error, never a wrong vector."""
    with pytest.raises(EmbeddingError):
        normalised(rows, 2)  # type: ignore[arg-type]


def test_unknown_backend_names_the_others() -> None:
    """A backend that does not exist is refused with the names of those that do."""
    with pytest.raises(BadInputError, match="minilm, sentence-transformers, ollama"):
        registry.create(Settings(embedding_backend="word2vec"), "/nowhere")
    with pytest.raises(BadInputError, match="minilm, sentence-transformers, ollama"):
        install_backend("word2vec", "/nowhere/python", "/nowhere/uv")


def test_missing_packages_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its packages the optional backend says which command installs them."""
    monkeypatch.setitem(registry.BACKENDS, "sentence-transformers", "vector_memory.absent.Absent")
    with pytest.raises(EmbeddingError, match="vector-memory backend install sentence-transformers"):
        registry.create(Settings(embedding_backend="sentence-transformers"), "/nowhere")
    monkeypatch.setitem(registry.BACKENDS, "minilm", "vector_memory.absent.Absent")
    with pytest.raises(EmbeddingError, match="bootstrap"):
        registry.create(Settings(), "/nowhere")


def test_built_in_backends_need_no_installation() -> None:
    """Installing a backend that is there already does nothing and runs nothing."""
    assert install_backend("ollama", "/nowhere/python", "/nowhere/uv") == ()
