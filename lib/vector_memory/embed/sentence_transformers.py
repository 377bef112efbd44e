"""Any sentence-transformers model, on torch and the CPU. Its packages come only on request."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from vector_memory.config import Settings
from vector_memory.embed import model_layout
from vector_memory.embed.vectors import no_vectors, normalised, readable
from vector_memory.errors import EmbeddingError

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
BATCH = 4
MAX_TOKENS = 8192
"""What is read of a text for models that set no limit themselves."""
FINGERPRINT_VALUES = 64
"""Values of each tensor that tell one version of a model from another."""


class SentenceTransformers:
    """A model by its id or its folder. One thread at a time.

    A folder is never looked up anywhere; an id is downloaded only when it is not on this machine.
    Code that comes with a model is not run.

    Args:
        settings: `embedding_model` (an id or a folder; empty: all-MiniLM-L6-v2, from
            `models_folder` if it is there), `embedding_threads` and `query_tokens` are read.
        models_folder: the data home's `models/`.

    Attributes:
        model: the model's id, or its folder's name, and 8 characters that tell its version.
        dim: the vectors' dimension.

    Raises:
        EmbeddingError: the model is not there or cannot be loaded.
        ImportError: sentence-transformers is not installed.
    """

    def __init__(self, settings: Settings, models_folder: str) -> None:
        name = settings.embedding_model or _default_model(models_folder)
        self._model: Any = _load(name, settings.embedding_threads)
        limit = self._model.max_seq_length
        # A model of nothing but a table of words says that it reads without end.
        self._is_endless = limit is not None and not math.isfinite(limit)
        self._max_tokens = int(limit) if limit and not self._is_endless else MAX_TOKENS
        self._query_tokens = min(settings.query_tokens, self._max_tokens)
        self.dim = int(self._model.get_embedding_dimension())
        # A path would make the same model another one in another folder.
        short_name = os.path.basename(os.path.normpath(name)) if os.path.isdir(name) else name
        self.model = f"{short_name}@{_fingerprint(self._model)}"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dim) float32, L2-normalised, in the order of `texts`, with the model's
        document prompt.

        Raises:
            EmbeddingError: the model failed or was closed.
        """
        return self._encode(texts, "encode_document", self._max_tokens)

    def embed_query(self, text: str) -> Vector:
        """Return (dim,) float32, L2-normalised, with the model's query prompt."""
        vector: Vector = self._encode([text], "encode_query", self._query_tokens)[0]
        return vector

    def close(self) -> None:
        """Release the model."""
        self._model = None

    def _encode(self, texts: Sequence[str], method: str, max_tokens: int) -> Vectors:
        if self._model is None:
            raise EmbeddingError("The embedding model was closed.", "Make a new one.")
        if not texts:
            return no_vectors(self.dim)
        # Set before each call: documents and questions are cut at different lengths.
        if not self._is_endless:
            self._model.max_seq_length = max_tokens
        try:
            rows = getattr(self._model, method)(
                [readable(text, max_tokens) for text in texts],
                batch_size=BATCH,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        except (RuntimeError, ValueError, IndexError) as error:
            raise EmbeddingError(
                f"The embedding model {self.model} failed: {error}.", "Choose another model."
            ) from error
        return normalised(rows, len(texts))


def _default_model(models_folder: str) -> str:
    folder = os.path.join(models_folder, model_layout.FOLDER)
    return folder if os.path.isfile(os.path.join(folder, "modules.json")) else DEFAULT_MODEL


def _load(name: str, threads: int) -> Any:
    # Before the import, which reads them.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch

    import_module("transformers.utils.logging").disable_progress_bar()
    torch.set_num_threads(threads)
    if os.path.isdir(name):
        return _open(name, local_files_only=True)
    # What is here already is not asked for: a start needs no network.
    try:
        return _open(name, local_files_only=True)
    except EmbeddingError:
        return _open(name, local_files_only=False)


def _open(name: str, *, local_files_only: bool) -> Any:
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(
            name, device="cpu", trust_remote_code=False, local_files_only=local_files_only
        )
    except Exception as error:
        # What a broken folder or an unknown id raises is anything from KeyError to SafetensorError.
        raise EmbeddingError(
            f"The model {name!r} cannot be loaded: {error}.",
            "Name a model's folder, or an id that can be downloaded, with "
            "`vector-memory config set embedding_model MODEL`.",
        ) from error


def _fingerprint(model: Any) -> str:
    """Return 8 characters that tell versions of a model apart: its structure, its prompts and a
    sample of each tensor."""
    digest = hashlib.blake2b(digest_size=4)
    # A prompt is part of a vector as much as a weight is.
    digest.update(repr((model, sorted(model.prompts.items()))).encode())
    for name, tensor in model.state_dict().items():
        sample = tensor.flatten()[:FINGERPRINT_VALUES].float().cpu().numpy().tobytes()
        digest.update(repr((name, tuple(tensor.shape))).encode() + sample)
    return digest.hexdigest()
