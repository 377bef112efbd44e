"""Models that an Ollama server runs, through its official client."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from vector_memory.config import Settings
from vector_memory.errors import GenerationError, ModelAwayError
from vector_memory.model import Completion

DEFAULT_MODEL = "llama3.2:3b"
CONTEXT_TOKENS = 8_192
"""Ollama's own default cuts a long prompt's beginning off without a word."""
MAX_CHARS = 20_000
MOST_ERROR_CHARS = 300
"""Of what a server says: it may be a page."""
HINT = "Start Ollama and pull the model, or set generation_backend to nothing."


class OllamaGenerator:
    """A model on an Ollama server.

    Args:
        settings: `generation_model` and `ollama_host` are read.
    """

    overhead_tokens = 64

    def __init__(self, settings: Settings) -> None:
        self.name = f"ollama/{settings.generation_model or DEFAULT_MODEL}"
        self._model = settings.generation_model or DEFAULT_MODEL
        self._settings = settings

    def complete(
        self,
        prompt: str,
        max_tokens: int,
        timeout_s: float,
        schema: Mapping[str, Any] | None = None,
    ) -> Completion:
        """Return what the model writes; with a schema, the server lets it write nothing else.

        Raises:
            ModelAwayError: nobody listens there, or the server has no such model.
            GenerationError: the server does not answer in time, or refuses.
        """
        options = {"num_predict": max_tokens, "temperature": 0.0, "num_ctx": CONTEXT_TOKENS}
        answer = self._ask(
            timeout_s,
            lambda client: client.chat(
                model=self._model,
                messages=[{"role": "user", "content": prompt}],
                # A model that thinks first would use up its tokens on that.
                think=False,
                format=dict(schema) if schema else None,
                options=options,
            ),
        )
        return Completion(str(answer.message.content or "")[:MAX_CHARS], _tokens(answer))

    def check(self, timeout_s: float) -> None:
        """See whether the server has the model.

        Raises:
            GenerationError: the server cannot be reached in time, or has it not.
        """
        self._ask(timeout_s, lambda client: client.show(self._model))

    def _ask(self, timeout_s: float, question: Callable[[Any], Any]) -> Any:
        from vector_memory.ollama_client import connect

        answer: Future[Any] = Future()

        def ask() -> None:
            try:
                client = connect(self._settings, timeout_s)
                try:
                    answer.set_result(question(client))
                finally:
                    client.close()
            except Exception as error:
                # The client raises what its HTTP library raises, besides errors of its own.
                answer.set_exception(error)

        # HTTP libraries count the time between two bytes; who asks waits so long for all of them. What comes too late
        # is left to this thread, which gives it up with its next byte.
        threading.Thread(target=ask, name="ollama", daemon=True).start()
        try:
            return answer.result(timeout_s)
        except Exception as error:
            reason = str(error)[:MOST_ERROR_CHARS] or "not in time"
            # The client has an error with a status for what a server refuses.
            is_away = isinstance(error, ConnectionError) or getattr(error, "status_code", 0) == 404
            kind = ModelAwayError if is_away else GenerationError
            raise kind(f"Ollama did not answer: {reason}.", HINT) from error


def _tokens(answer: Any) -> int | None:
    """Return what a call took; None where the server does not say. It leaves the prompt out where it
    still had it from an earlier call."""
    if answer.prompt_eval_count is None or answer.eval_count is None:
        return None
    return int(answer.prompt_eval_count) + int(answer.eval_count)
