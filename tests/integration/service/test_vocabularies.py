"""Words of closed vocabularies are checked where a request is read, for whatever door it came through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError


@pytest.mark.parametrize(
    ("verb", "asked", "name"),
    [
        ("flags", {"category": ["nonsense"]}, "delete"),
        ("list", {"kind": ["nonsense"]}, "decision"),
        ("recall", {"query": "harbour", "kind": "nonsense"}, "decision"),
        ("recall", {"query": "harbour", "tiers": ["nonsense"]}, "long-term"),
        ("list", {"origins": ["nonsense"]}, "assistant"),
        ("list", {"collection": "nonsense"}, "learnings"),
        ("list", {"sort": "nonsense"}, "oldest"),
        ("list", {"ceiling": "nonsense"}, "restricted"),
        ("stigmergy", {"kind": "nonsense"}, "refactor"),
        ("scratch", {"action": "nonsense", "session": "s"}, "clear"),
        ("remember", {"text": "Ferries leave at nine.", "origin": "nonsense"}, "assistant"),
        ("remember", {"text": "Ferries leave at nine.", "temporal": "nonsense"}, "periodic"),
        ("remember", {"text": "Ferries leave at nine.", "every": "nonsense"}, "weekly"),
        ("remember", {"text": "Ferries leave at nine.", "kind": "two words"}, "decision"),
    ],
)
def test_a_word_that_there_is_not_is_refused_with_those_that_there_are(
    house: ServiceHouse, verb: str, asked: dict[str, Any], name: str
) -> None:
    """Nothing is left out, found or stored for a word that says nothing."""
    with pytest.raises(BadInputError, match="cannot be '(nonsense|two words)'") as refused:
        door(house.ctx, verb, {"global": True, **asked})
    assert name in str(refused.value.hint)


def test_a_word_is_taken_in_any_case_and_in_the_plural(house: ServiceHouse) -> None:
    """A kind of somebody's own is one from the first memory on that has it."""
    asked = {"global": True}
    with pytest.raises(BadInputError):
        door(house.ctx, "list", {**asked, "kind": "recipe"})
    soup = {"text": "Soup is made of leeks.", "kind": "recipe", "priority": "high"}
    door(house.ctx, "remember", {**asked, **soup})
    found = door(house.ctx, "list", {**asked, "kind": "Recipes", "priorities": ["High"]})
    assert [memory["kind"] for memory in found["memories"]] == ["recipe"]
    stored = door(house.ctx, "remember", {**asked, "text": "We sail at dawn.", "kind": "Decision"})
    assert door(house.ctx, "get", {"id": stored["id"]})["memory"]["kind"] == "decision"
    # Of two that differ in case alone it is the one that is spelled so.
    door(house.ctx, "remember", {**asked, "text": "Bread is made of rye.", "kind": "RECIPE"})
    for kind in ("recipe", "RECIPE"):
        found = door(house.ctx, "list", {**asked, "kind": kind})
        assert [memory["kind"] for memory in found["memories"]] == [kind]


def test_kinds_are_those_of_the_projects_that_are_asked(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """And nobody is told of one that only what is above his ceiling has."""
    here = {"text": "Soup is made of leeks.", "kind": "recipe", "project": str(tmp_path)}
    door(house.ctx, "remember", here)
    (found,) = door(house.ctx, "list", {"all_projects": True, "kind": "recipe"})["memories"]
    assert found["kind"] == "recipe"
    paid = {"text": "Anna is paid on Fridays.", "kind": "payroll", "sensitivity": "restricted"}
    door(house.ctx, "remember", {**here, **paid})
    with pytest.raises(BadInputError) as refused:
        door(
            house.ctx, "list", {"project": str(tmp_path), "kind": "payroll", "ceiling": "internal"}
        )
    assert "recipe" in str(refused.value.hint)
    assert "payroll" not in str(refused.value.hint)
