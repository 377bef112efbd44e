"""The embedding model as the daemon shares it: loaded once, asked by one thread at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TYPE_CHECKING

from vector_memory import redact
from vector_memory.errors import (
    EmbeddingError,
    ModelChangedError,
    UnsafeTextError,
    VectorMemoryError,
)
from vector_memory.journal.rows import text_hash
from vector_memory.model import BegunVector, Memory, Sensitivity, Served, Vocabulary

if TYPE_CHECKING:
    from vector_memory.model import Embedder, Vector, Vectors
    from vector_memory.retrieve.query import Query

PROMPT_CHARS = 320
"""What of a prompt is embedded. On 35 labelled prompts of more than 300 characters it tells what is on topic
as well as 128 tokens do (AUC 0.76 both), 240 characters do not (0.72)."""
PROMPT_WAIT_S = 0.07
"""How long a prompt's vector is waited for, of the 130 ms that a hook has."""
CONFIRM_EVERY_S = 5.0
"""How often it is asked at most whether a server still has the same model, and how long after a question at the
latest."""
PROBE_TEXT = "warm up"
log = logging.getLogger(__name__)

MOST_SENTENCES = 4_096
"""Sentences whose vectors are kept, in some 8 MB: those of a turn of 400 kB."""
BULK_FROM = 48
"""Texts from which a process of their own embeds them, so that prompts stay quick."""


class Embedding:
    """The model's state: loading, ready, or failed with a reason. One that is asked of a server may fail at any time,
    and be back at any other.

    Args:
        load: makes the embedder; called in the daemon's background.
        load_bulk: makes the one for many texts, in a process of its own.

    Attributes:
        error: why it could not be loaded, or answered no question the last time; "" where it did.
        is_replaced: another model is there under its name, which only a new daemon may use.
    """

    def __init__(self, load: Callable[[], Embedder], load_bulk: Callable[[], Embedder]) -> None:
        self._load = load
        self._load_bulk = load_bulk
        self._embedder: Embedder | None = None
        self._bulk: Embedder | None = None
        self._executor: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._sentences: OrderedDict[bytes, Vector] = OrderedDict()
        self.error = ""
        self.is_replaced = False
        self._confirm_at = 0.0
        self._confirming: threading.Timer | None = None

    @property
    def state(self) -> str:
        """`loading`, `ready` or `failed`."""
        if self._embedder is not None and not self.error:
            return "ready"
        return "failed" if self._done.is_set() else "loading"

    @property
    def model(self) -> str:
        """The model's id and version; "" until it is ready."""
        return self._embedder.model if self._embedder else ""

    @property
    def dim(self) -> int:
        """The vectors' dimension; 0 until the model is ready."""
        return self._embedder.dim if self._embedder else 0

    @property
    def is_served(self) -> bool:
        """Whether texts go to a server, which may be on another machine."""
        return isinstance(self._embedder, Served)

    def may_embed(self, memory: Memory) -> bool:
        """Whether the model may be told a memory: a server nothing that is the user's alone."""
        return not self.is_served or memory.sensitivity is not Sensitivity.RESTRICTED

    def is_name(self, word: str) -> bool:
        """Whether a word is none of the model's language; False where no model is there, or it does not tell."""
        embedder = self._embedder
        return isinstance(embedder, Vocabulary) and not embedder.has_word(word)

    def load(self) -> bool:
        """Load the model and try it once; whether it can be used."""
        try:
            embedder = self._load()
            embedder.embed_query(PROBE_TEXT)
            self._embedder, self.error = embedder, ""
        except VectorMemoryError as error:
            self._note_failure(error)
        self._done.set()
        return self._embedder is not None

    def retry(self) -> bool:
        """Ask the model once more, or load it where it could not be; whether it can be used now."""
        return self.load() if self._embedder is None else self.query(PROBE_TEXT) is not None

    def wait(self, timeout_s: float) -> bool:
        """Wait until the model is loaded; whether it can be used."""
        self._done.wait(timeout_s)
        return self._embedder is not None

    def give_up(self) -> None:
        """Let nobody wait for the model any longer: the daemon ends."""
        self._done.set()

    def query(self, text: str) -> Vector | None:
        """Return a question's vector, (dim,), or None where there is no model now, or a server must not be told."""
        if self._embedder is None or self.is_replaced:
            return None
        try:
            (told,) = self._told([text])
        except EmbeddingError:
            return None
        try:
            with self._lock:
                vector = self._embedder.embed_query(told)
        except EmbeddingError as error:
            self._note_failure(error)
            return None
        self.error = ""
        if isinstance(self._embedder, Served):
            self._confirm_soon(self._embedder)
        return vector

    def _confirm_soon(self, embedder: Served) -> None:
        """Ask after the answer: a prompt cannot wait for a second request to the server."""
        if self._confirming is None:
            now = time.monotonic()
            self._confirming = threading.Timer(
                max(0.0, self._confirm_at - now), self._confirm, [embedder]
            )
            self._confirming.daemon = True
            self._confirming.start()

    def _confirm(self, embedder: Served) -> None:
        # Texts that are embedded from here on need another confirmation.
        self._confirm_at, self._confirming = time.monotonic() + CONFIRM_EVERY_S, None
        try:
            embedder.confirm()
        except ModelChangedError as error:
            self._note_failure(error)
        except EmbeddingError:
            # The next text shows whether it can embed.
            pass

    def of_query(self, query: Query) -> BegunVector:
        """Begin to embed what is asked; return its vector, (dim,), as it is being made."""
        return self._begin(query.embedded, None)

    def of_prompt(self, query: Query) -> BegunVector:
        """Begin to embed a prompt for whose answer a hook waits: its beginning alone, which says what it is about
        at two thirds of the cost.

        Returns:
            The vector, (dim,), as it is being made; None where it takes too long: an answer found by words alone
            serves better than one that comes too late.
        """
        return self._begin(query.embedded[:PROMPT_CHARS], time.monotonic() + PROMPT_WAIT_S)

    def _begin(self, text: str, deadline: float | None) -> BegunVector:
        if self._embedder is None:
            return lambda: None
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, "embed-query")
        future = self._executor.submit(self.query, text)

        def vector() -> Vector | None:
            try:
                return future.result(
                    None if deadline is None else max(0.0, deadline - time.monotonic())
                )
            except FutureTimeoutError:
                future.cancel()
                return None

        return vector

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dim) vectors in the order of `texts`.

        Raises:
            EmbeddingError: there is no model, it failed, or it refuses one of these texts: then it is `ready` still.
        """
        if self._embedder is None:
            raise EmbeddingError("The embedding model is not loaded.", self.error)
        if self.is_replaced:
            raise ModelChangedError(self.error)
        try:
            vectors = self._documents(self._embedder, texts)
        except ModelChangedError as error:
            self._note_failure(error)
            raise
        except EmbeddingError:
            # A server may refuse a single text. A question shows whether it fails at all.
            self.query(PROBE_TEXT)
            raise
        if texts and isinstance(self._embedder, Served):
            try:
                # These vectors are stored: none may be another model's.
                self._embedder.confirm()
            except EmbeddingError as error:
                self._note_failure(error)
                raise
        self.error = ""
        return vectors

    def _told(self, texts: Sequence[str]) -> Sequence[str]:
        """Return texts as the model may be told them: a server without what is redacted now.

        Raises:
            EmbeddingError: one of them cannot be made safe.
        """
        if not self.is_served:
            return texts
        try:
            return [redact.clean(text).text for text in texts]
        except UnsafeTextError as error:
            raise EmbeddingError(str(error), error.hint) from error

    def _documents(self, embedder: Embedder, texts: Sequence[str]) -> Vectors:
        texts = self._told(texts)
        if len(texts) >= BULK_FROM:
            return self._bulk_documents(texts)
        import numpy as np

        parts = []
        for text in texts:
            # One at a time: a prompt that comes meanwhile waits for one text at most.
            with self._lock:
                parts.append(embedder.embed_documents([text]))
        return np.concatenate(parts) if parts else embedder.embed_documents([])

    def _note_failure(self, error: VectorMemoryError) -> None:
        if str(error) != self.error:
            # It is tried every few seconds, and logged once.
            log.warning("the embedding model is not available: %s", error)
        self.error = str(error)
        self.is_replaced |= isinstance(error, ModelChangedError)

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """Return what `documents` does, but embed none of the last sentences again: a turn that grows is read whole
        each time.

        Raises:
            EmbeddingError: there is no model, or it failed.
        """
        keys = [text_hash(text) for text in texts]
        with self._lock:
            vectors = {key: self._sentences[key] for key in keys if key in self._sentences}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        vectors.update(zip(missing, self.documents(list(missing.values())), strict=True))
        with self._lock:
            for key in vectors:
                self._sentences[key] = vectors[key]
                self._sentences.move_to_end(key)
            while len(self._sentences) > MOST_SENTENCES:
                self._sentences.popitem(last=False)
        import numpy as np

        return np.stack([vectors[key] for key in keys]) if keys else self.documents([])

    def end_process(self) -> None:
        """End the process for many texts; the next backlog starts another."""
        if self._bulk is not None:
            self._bulk.close()
            self._bulk = None

    def close(self) -> None:
        """Release the model."""
        self.end_process()
        if (timer := self._confirming) is not None:
            timer.cancel()
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None
        if self._embedder is not None:
            self._embedder.close()

    def _bulk_documents(self, texts: Sequence[str]) -> Vectors:
        if self._bulk is None:
            self._bulk = self._load_bulk()
        try:
            if self._bulk.model != self.model:
                raise ModelChangedError(
                    f"The embedding model is {self._bulk.model} now, not {self.model}."
                )
            return self._bulk.embed_documents(texts)
        except EmbeddingError:
            # Its process may have been killed for want of memory: the next try starts afresh.
            self.end_process()
            raise
