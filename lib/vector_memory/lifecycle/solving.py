"""Whether a fix mended a problem that was noted before. Only what is plain counts: a problem that is taken
for solved does not come up again."""

from __future__ import annotations

import os
from collections.abc import Sequence

from vector_memory.lifecycle import signs
from vector_memory.text import harmless, mentions
from vector_memory.text.failures import normalise

LEAST_WORDS = 3
"""Telling words that an error must have to be known by them."""
NAMED = 0.8
"""The share of the error's words that the problem must name, where both are of one file."""


def solves(error: str, files: Sequence[str], problem: str, problem_files: Sequence[str]) -> bool:
    """Whether a fix of an error mended a problem: the problem quotes the error, or names nearly all of
    it and a file that the fix changed.

    Args:
        error: the line that said what went wrong.
        files: what the fix changed.
        problem: the problem in words, and `problem_files`, those it is about.
    """
    error = harmless.unquoted(error)
    terms = signs.terms_of(error)
    if len(terms) < LEAST_WORDS or "?" in problem:
        return False
    if _flattened(error) in _flattened(problem):
        return True
    fixed_names = {os.path.basename(file).lower() for file in files}
    problem_names = {
        os.path.basename(file).lower() for file in (*problem_files, *mentions.files(problem))
    }
    problem_terms = signs.terms_of(problem)
    return bool(fixed_names & problem_names) and len(terms & problem_terms) >= NAMED * len(terms)


def _flattened(text: str) -> str:
    # A tool's words are stored without links.
    return " ".join(normalise(harmless.defuse(text)).lower().replace("`", "").split()).rstrip(".")
