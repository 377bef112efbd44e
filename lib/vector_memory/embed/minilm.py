"""The default backend: all-MiniLM-L6-v2 in fp32 on ONNX Runtime."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vector_memory.config import Settings
from vector_memory.embed.model_layout import FOLDER, GRAPH_FILE, TOKENIZER_FILE
from vector_memory.embed.vectors import no_vectors, normalised, readable
from vector_memory.errors import EmbeddingError
from vector_memory.system import heap

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors

MODEL = "all-MiniLM-L6-v2@53aa5117"
DIM = 384
DOCUMENT_TOKENS = 256
BATCH = 4
"""Texts at once at most, all of the same length: on a CPU larger batches gain nothing."""
BULK = 32
"""Texts from which on the memory that a call took is worth giving back."""
SEPARATOR_ID = 102
MARKS = 2
"""Tokens that stand around those of a text."""
THREADS = 1
"""Of one text. A second one that does not spin gains nothing, of 20 tokens or of 80, and takes the processor
from the search by words, which runs meanwhile. Many texts are embedded by several processes."""


class MiniLm:
    """all-MiniLM-L6-v2, exactly as its authors compute it. Safe to use from several threads.

    Args:
        settings: `query_tokens` is read.
        models_folder: where `model_files.install` put the model.

    Raises:
        EmbeddingError: the model is not there or cannot be loaded.
    """

    thread_safe = True
    model = MODEL
    """The model and the first 8 characters of its weights' sha256."""
    dim = DIM

    def __init__(self, settings: Settings, models_folder: str) -> None:
        folder = os.path.join(models_folder, FOLDER)
        self._query_tokens = settings.query_tokens
        self._tokenizer = _load_tokenizer(os.path.join(folder, TOKENIZER_FILE))
        self._session: Any = _load_session(os.path.join(folder, GRAPH_FILE))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), 384) float32, L2-normalised, in the order of `texts`; tokens past 256 do not
        count.

        Raises:
            EmbeddingError: the model failed or was closed.
        """
        if not texts:
            # A closed model says so, even where there is nothing to do.
            self._open_session()
            return no_vectors(DIM)
        tokens = [self._tokens(text, DOCUMENT_TOKENS) for text in texts]
        vectors = np.empty((len(texts), DIM), np.float32)
        for places in equal_length_batches([len(ids) for ids in tokens]):
            vectors[places] = self._run([tokens[place] for place in places])
        if len(texts) >= BULK:
            heap.give_back()
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Return (384,) float32, L2-normalised; tokens past `query_tokens` do not count."""
        vector: Vector = self._run([self._tokens(text, self._query_tokens)])[0]
        return vector

    def has_word(self, word: str) -> bool:
        """Whether a word stands in the model's vocabulary as a whole."""
        return len(self._tokenizer.encode(word).ids) == 1 + MARKS

    def close(self) -> None:
        """Release the model."""
        self._session = None

    def _tokens(self, text: str, limit: int) -> list[int]:
        ids: list[int] = self._tokenizer.encode(readable(text, limit)).ids
        # The model expects its separator at the end, whatever was cut.
        return ids if len(ids) <= limit else [*ids[: limit - 1], SEPARATOR_ID]

    def _run(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        session = self._open_session()
        try:
            (vectors,) = session.run(["vector"], {"ids": np.array(tokens, np.int64)})
        except Exception as error:
            # ONNX Runtime's own exceptions share no base but Exception.
            raise EmbeddingError(
                f"The embedding model failed: {error}.", "Run `vector-memory doctor`."
            ) from error
        return normalised(vectors, len(tokens))

    def _open_session(self) -> Any:
        if self._session is None:
            raise EmbeddingError("The embedding model was closed.", "Make a new one.")
        return self._session


def equal_length_batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Group texts of equal length, since a batch has no padding.

    Yields:
        At most `BATCH` places of `lengths`, all of one length, the shortest first. Each place comes
        once.
    """
    group: list[int] = []
    # In the order of their lengths, so that equal ones are neighbours.
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and (len(group) == BATCH or lengths[group[0]] != lengths[place]):
            yield group
            group = []
        group.append(place)
    if group:
        yield group


def _load_tokenizer(path: str) -> Any:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:
        # tokenizers raises bare Exception.
        raise _not_loadable(path, error) from error
    # The published file asks for both; texts are grouped by length and cut here instead.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _load_session(path: str) -> Any:
    # Set before the import: by then it has made its files and would report home.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    # An arena keeps what the longest text ever took.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    # The graph is written as it should run, so there is nothing to optimise at each start.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Threads that spin while they wait save a millisecond on an idle machine, but cost many on a
    # busy one, and take the processor from the hook that waits for the answer.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise _not_loadable(path, error) from error


def _not_loadable(path: str, error: Exception) -> EmbeddingError:
    if not os.path.exists(path):
        return EmbeddingError(
            f"The embedding model is not installed: {path} is missing.", "Run `./bootstrap.sh`."
        )
    return EmbeddingError(
        f"The embedding model in {os.path.dirname(path)} cannot be loaded: {error}.",
        "Delete that folder and run `./bootstrap.sh` again.",
    )
