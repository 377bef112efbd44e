"""Memories and vectors for the tests of the search index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import numpy as np

from vector_memory.model import Candidate, CleanText, IndexRow, Memory, Scope

MODEL = "tiny@1"
DIM = 16
START = datetime(2026, 5, 1, tzinfo=timezone.utc)


def direction(number: int) -> Any:
    """Return a unit vector that differs from those of other numbers."""
    vector = np.random.default_rng(number).standard_normal(DIM).astype(np.float32)
    return vector / np.linalg.norm(vector)


def row(name: str, seq: int, lexical: str = "word", **changes: Any) -> IndexRow:
    """Return an index row; `changes` are fields of the memory, or the `vector`."""
    vector = changes.pop("vector", direction(seq))
    made = Memory(id=name, text=CleanText("text"), created_at=START + timedelta(hours=seq), seq=seq)
    return IndexRow(replace(made, **changes), lexical, vector)


def rows(first: int, last: int, **changes: Any) -> list[IndexRow]:
    """Return rows `m<i>` with these sequence numbers, both ends included."""
    return [row(f"m{i}", i, f"word w{i}", **changes) for i in range(first, last + 1)]


def matching(index: Any, terms: Sequence[str], scope: Scope, k: int) -> list[Candidate]:
    """Return what an index finds by words."""
    found: list[Candidate] = index.begin_matching(terms, scope, k)()
    return found


def seqs(candidates: list[Candidate]) -> list[int]:
    """Return the candidates' sequence numbers, in their order."""
    return [candidate.seq for candidate in candidates]
