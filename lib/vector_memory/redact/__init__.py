"""Redaction: the one way to the `CleanText` that the journal takes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vector_memory.errors import UnsafeTextError
from vector_memory.model import CleanText
from vector_memory.redact import policy as policies
from vector_memory.redact.automaton import Meter, ascii_of
from vector_memory.redact.echoes import find_echoes, find_words, together, values_known, weak_values
from vector_memory.redact.encoded import find_encoded
from vector_memory.redact.normalise import normalise
from vector_memory.redact.placeholders import placeholders
from vector_memory.redact.policy import Policy, active
from vector_memory.redact.secrets import find_secrets
from vector_memory.redact.spans import NEAR, Span, merge_spans, without
from vector_memory.redact.wrapped import find_wrapped

__all__ = [
    "Clean",
    "active",
    "blotted",
    "clean",
    "for_project",
    "together",
    "told",
    "values_known",
    "warm",
]

_PASSES = 8
_ATTEMPTS = 3
_GROWTH, _GROWN = 2, 256
"""A cleaned text has at most so many times its characters, and so many more."""


class Clean(NamedTuple):
    """A text without secrets, and how many were taken out of it."""

    text: CleanText
    redactions: int


def clean(text: str, policy: Policy | None = None) -> Clean:
    """Return the text normalised and with every secret replaced by `[redacted:<rule>]`.

    Cleaning what is clean changes nothing.

    Args:
        text: any text.
        policy: what is kept out beside secrets; by default what the settings and the user's and the
            project's own rules say.

    Raises:
        UnsafeTextError: the text could not be handled; it must not be stored.
    """
    with _unsafe_on_error():
        return _redact_fully(normalise(text), policy or active())


@contextlib.contextmanager
def for_project(
    folders: tuple[str, ...], configurations: Sequence[str] | None = None
) -> Iterator[None]:
    """Let what is cleaned in this block belong together, and keep to the rules that
    `policy.for_project` says."""
    with policies.for_project(folders, configurations), together():
        yield


def told(before: str, words: str, behind: str) -> list[str]:
    """Return the passwords made of words that a prompt tells. They go from the other forms of its exchange
    (`blotted`), where nothing around them may tell them, and from nowhere else.

    Args:
        before: what stands before the prompt in its passage, and `behind` what stands behind it.
        words: the prompt.

    Raises:
        UnsafeTextError: the prompt could not be handled.
    """
    with _unsafe_on_error():
        before, words, behind = map(normalise, (before, words, behind))
        text, start, end = before + words + behind, len(before), len(before) + len(words)
        spans = _spans(text, active())
        return weak_values(text, [span for span in spans if start <= span.start < span.end <= end])


def blotted(text: str, values: Sequence[str]) -> Clean:
    """Return a clean text without some values, where they stand as whole words."""
    spans = find_words(text, values)
    return Clean(CleanText(without(text, spans)), len(spans))


@contextlib.contextmanager
def _unsafe_on_error() -> Iterator[None]:
    """Let whatever goes wrong in this block mean that a text must not be stored."""
    try:
        yield
    except UnsafeTextError:
        raise
    except Exception as error:
        raise UnsafeTextError(
            f"A text could not be checked for secrets ({type(error).__name__}), so it was dropped.",
            "`vector-memory doctor` shows how often this happens.",
        ) from error


def warm() -> None:
    """Build the automata now, which takes some 60 ms: the first text need not wait for it."""
    clean("\u00a0AKIA %41 password: 1")


def _redact_fully(original: str, policy: Policy) -> Clean:
    """Redact until nothing is left to redact: what is taken out may uncover something else."""
    for _ in range(_ATTEMPTS):
        text, total = original, 0
        for _ in range(_PASSES):
            spans = _spans(text, policy)
            cleaned = normalise(_without_spans(text, spans, len(original))) if spans else text
            if cleaned == text:
                return Clean(CleanText(text), total)
            text, total = cleaned, total + len(spans)
        # A rule of a project that never has enough is left out from here on.
        if not sum(rules.blame(text) for rules in policy.rules):
            break
    raise UnsafeTextError(
        "A text kept on showing secrets, so it was dropped.", "Store it without the secrets."
    )


def _without_spans(text: str, spans: list[Span], size: int) -> str:
    """Return a text without spans. Where placeholders would make it several times as long as the original
    was, what stands between near ones goes too."""
    cleaned = without(text, spans)
    if len(cleaned) <= _GROWTH * size + _GROWN:
        return cleaned
    return without(text, merge_spans([*spans, *placeholders(text)], NEAR))


def _spans(text: str, policy: Policy) -> list[Span]:
    """Return all that must go of a normalised text, in order, nothing twice."""
    meter, kinds = Meter(len(text)), policy.kinds

    def find_in_plain_text(words: str) -> list[Span]:
        spans = list(find_secrets(words, kinds, meter))
        for rules in policy.rules:
            spans += rules.find(words)
        return spans

    spans = find_in_plain_text(text)
    spans += find_encoded(text, ascii_of(text), find_in_plain_text, meter)
    spans += [*find_wrapped(text, spans), *find_echoes(text, spans)]
    return merge_spans(spans)
