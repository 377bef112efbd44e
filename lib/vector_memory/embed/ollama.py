"""Models that an Ollama server runs, through its official client."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from vector_memory.config import Settings
from vector_memory.embed.vectors import no_vectors, normalised, readable
from vector_memory.errors import EmbeddingError, ModelChangedError

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors

DEFAULT_MODEL = "nomic-embed-text"
BATCH = 32
DOCUMENT_TOKENS = 2048
DOCUMENTS_TIMEOUT_S = 120.0
"""For a batch; the first one waits until the server has loaded the model."""
QUERY_TIMEOUT_S = 5.0
NOTHING = "(empty)"
"""Stands for an empty text, which the server answers with no vector at all."""


class OllamaEmbedder:
    """An embedding model on an Ollama server. Safe to use from several threads.

    Args:
        settings: `embedding_model`, `ollama_host` and `query_tokens` are read.
        models_folder: not used; the server keeps its models.

    Attributes:
        model: the model's tag and the first 8 characters of its digest on the server.
        dim: the vectors' dimension, as the server's first answer had it.

    Raises:
        EmbeddingError: the server cannot be reached or does not have the model.
        ImportError: the `ollama` package is not installed.
    """

    def __init__(self, settings: Settings, models_folder: str) -> None:
        from vector_memory.ollama_client import connect

        self._host = settings.ollama_host or os.environ.get("OLLAMA_HOST") or None
        self._tag = settings.embedding_model or DEFAULT_MODEL
        self._query_tokens = settings.query_tokens
        # These models were trained with a prefix that tells questions from documents.
        prefixed = os.path.basename(self._tag).startswith("nomic-embed-text")
        self._document_prefix = "search_document: " if prefixed else ""
        self._query_prefix = "search_query: " if prefixed else ""
        # Two clients, since a prompt cannot wait as long as a backfill.
        self._bulk: Any = connect(settings, DOCUMENTS_TIMEOUT_S)
        self._quick: Any = connect(settings, QUERY_TIMEOUT_S)
        self._closed = False
        self.model = self._versioned_name(self._bulk)
        # One answer tells the dimension, and that the model embeds at all.
        self.dim = 0
        self.dim = int(self._embed(self._bulk, ["dimension"]).shape[1])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dim) float32, L2-normalised, in the order of `texts`. Models of nomic get their
        prefix for documents.

        Raises:
            EmbeddingError: the server does not answer in time or cannot embed.
        """
        import numpy as np

        self._check_open()
        prepared = [self._prepare(self._document_prefix, text, DOCUMENT_TOKENS) for text in texts]
        batches = [
            self._embed(self._bulk, prepared[start : start + BATCH])
            for start in range(0, len(prepared), BATCH)
        ]
        return np.concatenate(batches) if batches else no_vectors(self.dim)

    def embed_query(self, text: str) -> Vector:
        """Return (dim,) float32, L2-normalised. Models of nomic get their prefix for queries.

        Raises:
            EmbeddingError: the server does not answer within `QUERY_TIMEOUT_S` or cannot embed.
        """
        self._check_open()
        prepared = self._prepare(self._query_prefix, text, self._query_tokens)
        vector: Vector = self._embed(self._quick, [prepared])[0]
        return vector

    def confirm(self) -> None:
        """Ask the server which model the tag names now: it can be pulled anew at any time, with other weights. Where
        the name is still the same, the vectors made so far are this model's.

        Raises:
            ModelChangedError: it is another one.
            EmbeddingError: the server does not answer, or has none.
        """
        self._check_open()
        name = self._versioned_name(self._quick)
        if name != self.model:
            raise self._replaced_error(f"{name}, not {self.model}")

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        for client in (self._bulk, self._quick):
            client.close()

    def _check_open(self) -> None:
        if self._closed:
            raise EmbeddingError("The embedding backend was closed.", "Make a new one.")

    @staticmethod
    def _prepare(prefix: str, text: str, max_tokens: int) -> str:
        text = readable(text, max_tokens)
        # One vector for each text: an empty one must not shift those behind it.
        return prefix + (text if text.strip() else NOTHING)

    def _embed(self, client: Any, prepared: list[str]) -> Vectors:
        """Return normalised vectors.

        Raises:
            ModelChangedError: their dimension is another model's; `confirm` tells of one that has the same.
        """
        answer = self._ask(lambda: client.embed(model=self._tag, input=prepared, truncate=True))
        vectors = normalised(answer.embeddings, len(prepared))
        if vectors.shape[1] != (self.dim or vectors.shape[1]):
            raise self._replaced_error(
                f"its vectors have {vectors.shape[1]} dimensions, not {self.dim}"
            )
        return vectors

    def _versioned_name(self, client: Any) -> str:
        """Return the tag with the digest of the model as the server has it: its version."""
        full_tag = self._tag if ":" in self._tag else f"{self._tag}:latest"
        for model in self._ask(client.list).models:
            if model.model == full_tag:
                return f"{self._tag}@{str(model.digest or 'unknown')[:8]}"
        raise self._missing_error()

    def _ask(self, request: Callable[[], Any]) -> Any:
        """Make a request and turn whatever goes wrong into an EmbeddingError."""
        from httpx import HTTPError
        from ollama import ResponseError

        try:
            return request()
        except ResponseError as error:
            if error.status_code == 404:
                raise self._missing_error() from error
            raise EmbeddingError(
                f"Ollama could not embed with {self._tag!r}: {error.error}.",
                "Look at the server's log.",
            ) from error
        except (ConnectionError, HTTPError, ValueError) as error:
            raise EmbeddingError(
                f"Ollama does not answer at {self._host or 'its usual address'}: {error!r}.",
                "Start it with `ollama serve`, or set `ollama_host`.",
            ) from error

    def _replaced_error(self, difference: str) -> ModelChangedError:
        return ModelChangedError(f"Ollama has another model under {self._tag!r}: {difference}.")

    def _missing_error(self) -> EmbeddingError:
        return EmbeddingError(
            f"Ollama has no model {self._tag!r}.", f"Run `ollama pull {self._tag}`."
        )
