"""Rows of a matrix as codes: what they lose, and what they still find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vector_memory.store import rows
from vector_memory.store.rows import CodedRows, ExactRows, encode, signs_of


def cloud(count: int, dim: int, seed: int = 3) -> Any:
    """Return vectors that lie in clusters, as those of texts do."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, count // 50), dim))
    vectors = centres[rng.integers(0, len(centres), count)] + rng.standard_normal((count, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def coded(vectors: Any) -> CodedRows:
    codes, scales = encode(vectors)
    return CodedRows(codes, scales, signs_of(codes))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 40), st.integers(1, 200), st.integers(0, 99))
def test_codes_are_close_and_codes_of_codes_the_same(count: int, dim: int, seed: int) -> None:
    """Whatever the dimension, a decoded vector is almost the original, and coding it again changes
    nothing: a matrix can be rewritten any number of times."""
    vectors = cloud(count, dim, seed)
    held = coded(vectors)
    decoded = held.take(np.arange(count))
    assert np.abs(decoded - vectors).max() <= np.abs(vectors).max() / 254 + 1e-6
    again, scales = encode(decoded)
    assert (again == held.codes).all()
    assert np.allclose(scales, held.scales)


def test_signs_of_all_dimensions_count() -> None:
    """A dimension that is no multiple of 64 is padded, and bits stay apart."""
    signs = signs_of(np.array([[1.0] * 70, [-1.0] * 70]))
    assert signs.shape == (2, 2)
    assert int(np.bitwise_count(signs[:, 0] ^ signs[:, 1]).sum()) == 70


def test_a_short_slice_is_compared_whole() -> None:
    """Up to the shortlist's length every kept row is scored, as the exact rows are."""
    vectors = cloud(300, 48)
    keep = np.ones(200, np.bool_)
    keep[::7] = False
    scores, places = coded(vectors).scored(slice(50, 250), vectors[60], keep)
    exact, others = ExactRows(vectors).scored(slice(50, 250), vectors[60], keep)
    assert (places == others).all()
    assert scores == pytest.approx(exact, abs=0.02)


def test_the_shortlist_holds_nearly_all_that_is_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting bits first loses few of the nearest, and never brings what is not kept."""
    monkeypatch.setattr(rows, "SHORTLIST", 500)
    vectors = cloud(12_000, 128)
    held = coded(vectors)
    keep = np.ones(len(vectors), np.bool_)
    keep[5_000:5_500] = False
    found = total = 0
    for vector in cloud(12_000, 128)[::1_500]:
        scores, places = held.scored(slice(0, len(vectors)), vector, keep)
        assert keep[places].all()
        assert 500 <= len(places) < 3_000
        best = set(places[np.argsort(-scores)[:20]].tolist())
        exact = np.where(keep, vectors @ vector, -2)
        found += len(best & set(np.argsort(-exact)[:20].tolist()))
        total += 20
    assert found >= 0.95 * total
