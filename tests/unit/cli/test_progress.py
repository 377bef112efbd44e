"""What a line of progress says."""

from __future__ import annotations

import pytest

from vector_memory.cli.progress import rate


@pytest.mark.parametrize(
    ("doing", "speed", "said"),
    [
        ("reading", 61.4, "61 files/s"),
        ("embedding", 1234.5, "1,234 texts/s"),
        ("reading", 0.25, "0.2 files/s"),
        ("checking", 12.0, "12/s"),
        ("reading", None, ""),
    ],
)
def test_rate(doing: str, speed: float | None, said: str) -> None:
    """How quickly, in what is being done; nothing while it is not known."""
    assert rate(doing, speed) == said
