"""Bulk embedding in a child process, so that a backfill does not slow prompts down.

Frames on the child's stdin: first `{"settings", "models"}`, then `{"documents": […]}` or
`{"query": …}`. On its stdout, one for each: `R[model, dim]`, `V` and float32 rows, or
`E[message, hint]`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from vector_memory.config import Settings
from vector_memory.embed.worker import ERROR
from vector_memory.errors import EmbeddingError
from vector_memory.system.children import Child

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors

FRAME_TEXTS = 64
ANSWER_TIMEOUT_S = 900.0
"""For one frame; the first may have to fetch a model."""
CLOSED = "The embedding process was closed."
SETTINGS = (
    "embedding_backend",
    "embedding_model",
    "embedding_threads",
    "ollama_host",
    "query_tokens",
)


class BulkEmbedder:
    """Any backend, in a child process of low priority that starts at the first use.

    Safe to use from several threads; they take turns.

    Args:
        settings: passed on to the backend.
        models_folder: passed on to the backend.
        pycache: where the child keeps its bytecode; by default where this process does.
    """

    def __init__(self, settings: Settings, models_folder: str, pycache: str | None = None) -> None:
        self._opening_message = {
            "settings": {name: getattr(settings, name) for name in SETTINGS},
            "models": models_folder,
        }
        self._pycache = pycache
        self._lock = threading.RLock()
        self._child: Child | None = None
        self._model, self._dim = "", 0
        self._closed = False

    @property
    def model(self) -> str:
        """The backend's model and version. The first question starts the child."""
        self._ensure_child()
        return self._model

    @property
    def dim(self) -> int:
        """The vectors' dimension. The first question starts the child."""
        self._ensure_child()
        return self._dim

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        child = self._child
        return child.pid if child is not None and child.exit_code is None else None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dim) float32, L2-normalised, in the order of `texts`; read-only.

        Raises:
            EmbeddingError: the backend failed, or the child ended or hangs.
        """
        import numpy as np

        with self._lock:
            self._ensure_child()
            # In frames, so that the child's limit of time is for so many texts, not for all.
            rows = b"".join(
                self._ask({"documents": list(texts[start : start + FRAME_TEXTS])})
                for start in range(0, len(texts), FRAME_TEXTS)
            )
        return np.frombuffer(rows, np.float32).reshape(-1, self._dim)

    def embed_query(self, text: str) -> Vector:
        """Return (dim,) float32, L2-normalised; read-only.

        Raises:
            EmbeddingError: the backend failed, or the child ended or hangs.
        """
        import numpy as np

        with self._lock:
            self._ensure_child()
            return np.frombuffer(self._ask({"query": text}), np.float32)

    def stop(self) -> None:
        """End the child; the next use starts another."""
        with self._lock:
            child, self._child = self._child, None
            if child is not None:
                child.end()

    def close(self) -> None:
        """End the child for good, in the middle of its work: who waits for that gets an error."""
        # Without the lock: whoever holds it may be waiting for the child for minutes.
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
        self.stop()

    def _ensure_child(self) -> None:
        """Have a child with a loaded model."""
        with self._lock:
            if self._closed:
                raise EmbeddingError(CLOSED, "Make a new one.")
            if self.pid is not None:
                return
            # A child that died is cleared away first.
            self.stop()
            self._child = Child("vector_memory.embed.worker", self._pycache)
            if self._closed:
                # Closed just now, by a thread that saw no child to kill.
                self.stop()
                raise EmbeddingError(CLOSED, "Make a new one.")
            try:
                self._model, self._dim = json.loads(self._ask(self._opening_message))
            except EmbeddingError:
                self.stop()
                raise

    def _ask(self, message: Mapping[str, object]) -> bytes:
        """Return the answer to one frame, without its first byte.

        Raises:
            EmbeddingError: the backend failed, or the child ended or does not answer.
        """
        child = self._child
        assert child is not None
        is_sent = child.send(json.dumps(message).encode(), ANSWER_TIMEOUT_S)
        answer = child.receive(ANSWER_TIMEOUT_S) if is_sent else None
        if answer is None:
            self.stop()
            raise EmbeddingError(
                f"The embedding process ended or hung (exit code {child.exit_code}).",
                "It starts again by itself; `vector-memory doctor` says what is wrong.",
            )
        if answer[:1] == ERROR:
            raise EmbeddingError(*json.loads(answer[1:]))
        return answer[1:]
