"""Models that an Ollama server runs, through its official client."""

from __future__ import annotations

import os
from typing import Any

from vector_memory.config import Settings
from vector_memory.errors import GenerationError

DEFAULT_MODEL = "llama3.2:3b"
HINT = "Start Ollama and pull the model, or set generation_backend to nothing."


class Ollama:
    """A model on an Ollama server.

    Args:
        settings: `generation_model` and `ollama_host` are read.
    """

    def __init__(self, settings: Settings) -> None:
        self.name = f"ollama/{settings.generation_model or DEFAULT_MODEL}"
        self._model = settings.generation_model or DEFAULT_MODEL
        self._host = settings.ollama_host or os.environ.get("OLLAMA_HOST") or None

    def complete(self, prompt: str, max_tokens: int, timeout_s: float) -> str:
        """Return what the model writes.

        Raises:
            GenerationError: the server cannot be reached in time, or refuses.
        """
        from ollama import Client

        client: Any = Client(host=self._host, timeout=timeout_s)
        try:
            answer = client.generate(
                model=self._model,
                prompt=prompt,
                options={"num_predict": max_tokens, "temperature": 0.0},
            )
            return str(answer["response"])
        except Exception as error:
            # The client raises what its HTTP library raises, besides errors of its own.
            raise GenerationError(f"Ollama did not answer: {error}.", HINT) from error
        finally:
            client.close()
