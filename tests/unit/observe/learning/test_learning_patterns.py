"""The table of patterns: each is used, and each has a name of its own."""

from __future__ import annotations

from pathlib import Path

from vector_memory.observe import learning
from vector_memory.observe.learning import tasks
from vector_memory.observe.learning.tasks import PATTERNS


def test_each_pattern_is_used() -> None:
    """What nothing asks for stands in no table."""
    (folder,) = learning.__path__
    code = "\n".join(path.read_text() for path in Path(folder).glob("*.py"))
    asked = {name for name in PATTERNS if f'"{name}"' in code}
    kinds = {f"kind_{kind}" for kind in tasks.KINDS}
    assert asked | kinds == set(PATTERNS)
    text = (Path(folder) / "patterns.txt").read_text()
    assert len(PATTERNS) == sum(
        " = " in line and line[0].islower() and line.split(" = ")[0].isidentifier()
        for line in text.splitlines()
    )
