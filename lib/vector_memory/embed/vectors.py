"""What all backends do with texts and vectors alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vector_memory.errors import EmbeddingError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from vector_memory.model import Vectors

CHARS_PER_TOKEN = 32
"""No ordinary text has longer tokens, so what lies beyond tokens × this is never seen anyway."""


def readable(text: str, max_tokens: int) -> str:
    """Return the text's beginning, enough for `max_tokens`, as valid Unicode: a tokenizer takes
    no lone surrogates, and reads a text of megabytes to its end before it is cut."""
    return text[: max_tokens * CHARS_PER_TOKEN].encode("utf-8", "replace").decode("utf-8")


def no_vectors(dim: int) -> Vectors:
    """Return (0, dim) float32."""
    return np.empty((0, dim), np.float32)


def normalised(rows: ArrayLike, count: int) -> Vectors:
    """Return vectors of length 1.

    Args:
        rows: what a model answered, (count, dim) of any numbers.
        count: how many texts were asked about.

    Returns:
        (count, dim) float32, L2-normalised, in the same order.

    Raises:
        EmbeddingError: the rows are not `count` finite vectors of one dimension, or one is zero.
    """
    try:
        vectors = np.asarray(rows, np.float32)
    except ValueError:
        # Rows of different lengths: the check below says so.
        vectors = no_vectors(0)
    if vectors.ndim != 2 or len(vectors) != count:
        raise EmbeddingError(
            f"The model answered {count} texts with an array of shape {vectors.shape}.",
            "Choose another model: this one makes no sentence embeddings.",
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    # Stored once, such a vector would be compared with every question.
    if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
        raise EmbeddingError(
            "The model answered with a vector that is not a number or is zero.",
            "Install the model again.",
        )
    return np.asarray(vectors / lengths, np.float32)
