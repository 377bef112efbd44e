"""Whether two texts say the same: near misses must never be merged."""

from __future__ import annotations

import pytest

from vector_memory.lifecycle import dedup

NEAR_MISSES = [
    ("The dev database listens on port 5432", "The dev database listens on port 5433"),
    ("Enable the cache in production", "Disable the cache in production"),
    ("Never push to main on Friday", "Never push to main on Monday"),
    ("The frontend calls the backend", "The backend calls the frontend"),
    ("Use pnpm, not npm, for installs", "Use npm, not pnpm, for installs"),
    ("Retries are capped at 3", "Retries are not capped at 3"),
    ("parse_config reads the file", "parse_args reads the file"),
    ("Alice owns the release", "In short, Bob owns the release"),
    ("The token expires after a day", "The token expires before a day"),
]
PARAPHRASES = [
    ("The ledger uses SQLite in WAL mode.", "the ledger uses SQLite in WAL mode"),
    ("We deploy by tagging a release", "Deploy by tagging a release"),
]


@pytest.mark.parametrize(("one", "other"), NEAR_MISSES)
def test_near_misses_are_never_the_same(one: str, other: str) -> None:
    """A number, a negation, an opposite, a day, a name or the order keeps two texts apart, however
    close their vectors are."""
    assert dedup.compare(one, other, 0.999) == "related"


@pytest.mark.parametrize(("one", "other"), PARAPHRASES)
def test_the_same_in_nearly_the_same_words_is_merged(one: str, other: str) -> None:
    """Without a word that speaks against it, a high cosine means the same."""
    assert dedup.compare(one, other, 0.95) == "same"


def test_distance_decides_first() -> None:
    """Equal words with vectors apart are not the same; texts far apart have nothing in common."""
    assert dedup.compare("a b", "a b", 0.85) == "related"
    assert dedup.compare("a b", "a b", 0.5) == "new"
