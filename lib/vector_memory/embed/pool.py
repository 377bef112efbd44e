"""Bulk embedding in a child process, so that a backfill does not slow prompts down.

Frames on the child's stdin: first `{"settings", "models"}`, then `{"documents": […]}` or
`{"query": …}`. On its stdout, one for each: `R[model, dim]`, `V` and float32 rows, or
`E[message, hint]`.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vector_memory.config import Settings
from vector_memory.embed.worker import ERROR
from vector_memory.errors import EmbeddingError
from vector_memory.frames import read_frame, write_frame
from vector_memory.paths import PACKAGE_ROOT

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors

FRAME_TEXTS = 64
ANSWER_TIMEOUT_S = 300.0
"""For one frame; the first may have to fetch a model."""
STOP_TIMEOUT_S = 2.0
SETTINGS = (
    "embedding_backend",
    "embedding_model",
    "embedding_threads",
    "ollama_host",
    "query_tokens",
)
START = """
import sys
sys.path.insert(0, sys.argv[1])
from vector_memory.embed.worker import main
main()
"""


class BulkEmbedder:
    """Any backend, in a child process of low priority that starts at the first use.

    Safe to use from several threads; they take turns.

    Args:
        settings: passed on to the backend.
        models_folder: passed on to the backend.
        pycache: where the child keeps its bytecode; by default where this process does.
    """

    def __init__(self, settings: Settings, models_folder: str, pycache: str | None = None) -> None:
        self._first = {
            "settings": {name: getattr(settings, name) for name in SETTINGS},
            "models": models_folder,
        }
        self._pycache = pycache or sys.pycache_prefix
        self._lock = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._model, self._dim = "", 0
        self._closed = False

    @property
    def model(self) -> str:
        self._ready()
        return self._model

    @property
    def dim(self) -> int:
        self._ready()
        return self._dim

    @property
    def pid(self) -> int | None:
        """The child's process id, None while there is none."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dim) float32, L2-normalised."""
        import numpy as np

        with self._lock:
            self._ready()
            rows = b"".join(
                self._ask({"documents": list(texts[start : start + FRAME_TEXTS])})
                for start in range(0, len(texts), FRAME_TEXTS)
            )
        return np.frombuffer(rows, np.float32).reshape(-1, self._dim)

    def embed_query(self, text: str) -> Vector:
        """Return (dim,) float32, L2-normalised."""
        import numpy as np

        with self._lock:
            self._ready()
            return np.frombuffer(self._ask({"query": text}), np.float32)

    def stop(self) -> None:
        """End the child; the next use starts another."""
        with self._lock:
            process, self._process = self._process, None
            if process is not None:
                _end(process)

    def close(self) -> None:
        """End the child for good."""
        self._closed = True
        self.stop()

    def _ready(self) -> None:
        """Have a child with a loaded model."""
        with self._lock:
            if self._closed:
                raise EmbeddingError("The embedding process was closed.", "Make a new one.")
            if self.pid is not None:
                return
            self.stop()
            self._process = self._start()
            try:
                self._model, self._dim = json.loads(self._ask(self._first))
            except EmbeddingError:
                self.stop()
                raise

    def _start(self) -> subprocess.Popen[bytes]:
        options = ["-X", f"pycache_prefix={self._pycache}"] if self._pycache else []
        return subprocess.Popen(
            [sys.executable, "-I", *options, "-c", START, os.path.dirname(PACKAGE_ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _ask(self, message: dict[str, Any]) -> bytes:
        """Return the answer to one frame, without its first byte.

        Raises:
            EmbeddingError: the backend failed, or the child ended or does not answer.
        """
        assert self._process is not None
        answer = _exchange(self._process, json.dumps(message).encode())
        if answer is None:
            process = self._process
            self.stop()
            raise EmbeddingError(
                f"The embedding process ended or hung (exit code {process.returncode}).",
                "It starts again by itself; `vector-memory doctor` says what is wrong.",
            )
        if answer[:1] == ERROR:
            raise EmbeddingError(*json.loads(answer[1:]))
        return answer[1:]


def _exchange(process: subprocess.Popen[bytes], request: bytes) -> bytes | None:
    """Send a frame and return the answer; None when the child has gone or hangs."""
    assert process.stdin is not None and process.stdout is not None
    try:
        write_frame(process.stdin, request)
    except OSError:
        return None
    if not select.select([process.stdout], [], [], ANSWER_TIMEOUT_S)[0]:
        return None
    return read_frame(process.stdout)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the child's stdin, which ends it; kill it if it does not."""
    assert process.stdin is not None and process.stdout is not None
    # What could not be flushed: the child has gone already.
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
