"""What jobs derive from memories, before it is stored."""

from __future__ import annotations

from datetime import datetime, timezone

from vector_memory import redact
from vector_memory.model import Memory, Sensitivity
from vector_memory.service.jobs import derived

NOW = datetime(2026, 5, 3, 8, tzinfo=timezone.utc)


def test_what_is_derived_has_the_strictest_level_of_its_sources() -> None:
    sources = [
        Memory(str(level), redact.clean("Salaries rise in April.").text, NOW, sensitivity=level)
        for level in (Sensitivity.PUBLIC, Sensitivity.CONFIDENTIAL, Sensitivity.INTERNAL)
    ]
    made = derived.derive("fact", "Salaries rise.", sources, NOW, {})
    assert made.sensitivity is Sensitivity.CONFIDENTIAL
    assert (
        derived.derive("fact", "Salaries rise.", sources[:1], NOW, {}).sensitivity
        is Sensitivity.PUBLIC
    )
