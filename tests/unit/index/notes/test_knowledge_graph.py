"""The MCP memory server's file: told apart from ours, and taken apart into facts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from vector_memory.index.notes.knowledge_graph import facts, is_graph, parse_whole

ENTITY = {
    "type": "entity",
    "name": "Ledger",
    "entityType": "Project",
    "observations": ["is written in Go", "has  three\ntables"],
}
RELATION = {"type": "relation", "from": "Anna", "to": "Ledger", "relationType": "worksOn"}


def test_observations_are_facts_of_their_entity() -> None:
    """Each can be understood alone."""
    found = list(facts(ENTITY))
    assert [fact.text for fact in found] == [
        "Ledger: is written in Go",
        "Ledger: has three tables",
    ]
    assert {(fact.tags, fact.entities) for fact in found} == {(("project",), ("Ledger",))}


def test_an_entity_without_observations_is_a_fact_itself() -> None:
    """So that relations have something to link to."""
    (fact,) = facts({"type": "entity", "name": "Anna", "entityType": "person"})
    assert fact.text == "Anna: person"


def test_a_relation_is_a_sentence() -> None:
    """In words, whichever way its type is written."""
    (fact,) = facts(RELATION)
    assert (fact.text, fact.entities) == ("Anna works on Ledger", ("Anna", "Ledger"))
    (other,) = facts({**RELATION, "relationType": "works_on"})
    assert other.text == "Anna works on Ledger"


@pytest.mark.parametrize(
    "item",
    [{}, {"type": "entity"}, {"type": "relation", "from": "a"}, {"type": "entity", "name": 3},
     {"type": "relation", "from": "a", "to": "b", "relationType": None}],
)  # fmt: skip
def test_what_is_no_fact_is_none(item: dict[str, object]) -> None:
    """Nothing raises."""
    assert list(facts(item)) == []


def test_a_graph_is_told_by_its_first_line() -> None:
    """Memories of ours have a text, whatever else they have."""
    assert is_graph(json.dumps(ENTITY).encode())
    assert is_graph(json.dumps(RELATION).encode())
    assert is_graph(json.dumps({"entities": [], "relations": []}).encode())
    assert not is_graph(json.dumps({**ENTITY, "text": "x"}).encode())
    assert not is_graph(b'{"text": "x"}')
    assert not is_graph(b"[" * 100_000)
    assert not is_graph(b"")


def test_one_object_holds_the_same() -> None:
    """Entities first; an item's own type does not matter there."""
    whole = {"relations": [RELATION, 3], "entities": [{**ENTITY, "type": "project"}]}
    found = parse_whole(json.dumps(whole, indent=2).encode())
    assert found is not None
    assert [fact.is_relation for fact in found] == [False, False, True]
    assert parse_whole(b'{"entities": 3}') is None
    assert parse_whole(b"[]") is None


def test_a_word_is_redacted_before_its_form_is_lost() -> None:
    """Small letters, words instead of signs and one line instead of two hide what a value was."""
    value = "Ab1" * 9

    def clean(text: str) -> str:
        return text.replace(value, "[gone]")

    items: list[dict[str, Any]] = [
        {
            "type": "entity",
            "name": f"n{value}",
            "entityType": value,
            "observations": [f"has\n{value}"],
        },
        {"type": "entity", "name": "n", "entityType": f"x_{value}"},
        {"type": "relation", "from": value, "to": "b", "relationType": f"uses_{value}"},
    ]
    for fact in (one for item in items for one in facts(item, clean)):
        told = " ".join((fact.text, *fact.tags, *fact.entities)).replace(" ", "").casefold()
        assert value.casefold() not in told
