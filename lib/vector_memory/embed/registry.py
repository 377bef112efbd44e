"""Which backends there are, and how one is made. Nothing heavy is imported until `create`."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from vector_memory.config import ENGLISH_BACKEND, Settings
from vector_memory.errors import BadInputError, EmbeddingError
from vector_memory.model import Embedder

BACKENDS = {
    "minilm": "vector_memory.embed.minilm.MiniLm",
    "sentence-transformers": "vector_memory.embed.sentence_transformers.SentenceTransformers",
    "ollama": "vector_memory.embed.ollama.OllamaEmbedder",
}
"""Name → class. A class takes `(settings, models_folder)`."""

OPTIONAL = frozenset({"sentence-transformers"})
"""Backends whose packages come only on request."""
SERVED = frozenset({"ollama"})
"""Backends that ask a server, which may be back at any time."""


def unused_model_setting(settings: Settings) -> str:
    """Return what is wrong where a model is named that the backend does not read, "" where it reads it."""
    if settings.embedding_backend != ENGLISH_BACKEND or not settings.embedding_model:
        return ""
    return (
        f"The backend {ENGLISH_BACKEND} has a model of its own: embedding_model"
        f" ({settings.embedding_model}) is not read."
    )


def create(settings: Settings, models_folder: str) -> Embedder:
    """Make the embedder that the settings name, loaded and ready.

    Args:
        settings: `embedding_*`, `ollama_host` and `query_tokens` are read.
        models_folder: the data home's `models/`.

    Returns:
        A backend that can embed at once; whoever asked closes it.

    Raises:
        BadInputError: there is no backend of that name.
        EmbeddingError: its packages, its model or its server are missing.
    """
    name = settings.embedding_backend
    if name not in BACKENDS:
        raise BadInputError(
            f"There is no embedding backend {name!r}.", f"Backends: {', '.join(BACKENDS)}."
        )
    module, _, class_name = BACKENDS[name].rpartition(".")
    try:
        return cast(Embedder, getattr(import_module(module), class_name)(settings, models_folder))
    except ImportError as error:
        raise EmbeddingError(
            f"The packages of the backend {name!r} are missing or broken: {error}.",
            f"Run `vector-memory backend install {name}`."
            if name in OPTIONAL
            else "Run `./bootstrap.sh` again.",
        ) from error
