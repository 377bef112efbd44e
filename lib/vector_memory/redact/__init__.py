"""Redaction: the one way to the `CleanText` that the journal takes."""

from __future__ import annotations

from typing import NamedTuple

from vector_memory.errors import UnsafeTextError
from vector_memory.model import CleanText
from vector_memory.redact.normalise import normalise
from vector_memory.redact.secrets import redact_secrets

__all__ = ["Clean", "clean"]

_PASSES = 20


class Clean(NamedTuple):
    """A text without secrets, and how many were taken out of it."""

    text: CleanText
    redactions: int


def clean(text: str) -> Clean:
    """Return the text normalised and with every secret replaced by `[redacted:<rule>]`.

    Cleaning what is clean changes nothing.

    Raises:
        UnsafeTextError: the text could not be handled; it must not be stored.
    """
    try:
        return _settled(normalise(text))
    except UnsafeTextError:
        raise
    except Exception as error:
        raise UnsafeTextError(
            f"A text could not be checked for secrets ({type(error).__name__}), so it was dropped.",
            "`vector-memory doctor` shows how often this happens.",
        ) from error


def _settled(text: str) -> Clean:
    """Redact until nothing is left to redact: what is taken out may uncover something else."""
    total = 0
    for _ in range(_PASSES):
        cleaned, count = redact_secrets(text)
        cleaned = normalise(cleaned) if count else cleaned
        if cleaned == text:
            return Clean(CleanText(text), total)
        text, total = cleaned, total + count
    raise UnsafeTextError(
        "A text kept on showing secrets, so it was dropped.", "Store it without the secrets."
    )
