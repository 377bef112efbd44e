"""Which generators there are, and how one is made. Nothing is imported until `create`."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from vector_memory.config import Settings
from vector_memory.errors import BadInputError, ModelAwayError
from vector_memory.model import Generator

BACKENDS = {
    "ollama": "vector_memory.generate.ollama.OllamaGenerator",
    "client": "vector_memory.generate.client.Headless",
}
"""Name → class. A class takes `(settings)`."""


def create(settings: Settings) -> Generator:
    """Make the generator that the settings name.

    Raises:
        BadInputError: there is no backend of that name.
        ModelAwayError: what it needs is missing.
    """
    name = settings.generation_backend
    if name not in BACKENDS:
        raise BadInputError(
            f"There is no generation backend {name!r}.", f"Backends: {', '.join(BACKENDS)}."
        )
    module, _, class_name = BACKENDS[name].rpartition(".")
    try:
        return cast(Generator, getattr(import_module(module), class_name)(settings))
    except ImportError as error:
        raise ModelAwayError(
            f"The packages of the backend {name!r} are missing: {error}.",
            "Run `./bootstrap.sh` again.",
        ) from error
