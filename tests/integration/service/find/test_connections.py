"""What links lead to, the way between two memories, and the groups that links make."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory import redact
from vector_memory.errors import BadInputError, NotFoundError


@pytest.fixture
def chain(house: ServiceHouse, app: Path) -> list[str]:
    """A question, its answer, what was built on that, a remark beside, and one that nothing leads to."""
    texts = (
        "Which database does the ledger need?",
        "The ledger needs PostgreSQL for its advisory locks.",
        "The importer of the ledger takes advisory locks, too.",
        "Cormorants dry their wings in the sun.",
        "Sandpipers run along the water's edge.",
    )
    ids = [house.remember(text, app)["id"] for text in texts]
    for first, second, relation in ((1, 0, "answers"), (2, 1, "builds_on"), (3, 2, "relates_to")):
        asked = {"from": ids[first], "to": ids[second], "relation": relation}
        door(house.ctx, "link", asked)
    return ids


def reached(house: ServiceHouse, *ids: str, **more: Any) -> list[tuple[str, int]]:
    told = door(house.ctx, "connections", {"ids": list(ids), **more})
    assert told["total"] == len(told["memories"])
    return [(one["id"], one["distance"]) for one in told["memories"]]


def test_up_and_down(house: ServiceHouse, chain: list[str]) -> None:
    """What a memory came of and what came of it; what merely relates to it is neither."""
    question, answer, built, beside, _ = chain
    assert reached(house, built, direction="up") == [(answer, 1), (question, 2)]
    assert reached(house, built, direction="up", depth=1) == [(answer, 1)]
    assert reached(house, question, direction="down") == [(answer, 1), (built, 2)]
    assert reached(house, built) == [(beside, 1), (answer, 1), (question, 2)] or reached(
        house, built
    ) == [(answer, 1), (beside, 1), (question, 2)]
    told = door(house.ctx, "connections", {"ids": [question], "direction": "down"})
    assert told["memories"][0]["by"] == f"{answer[:12]} answers {question[:12]}"


def test_the_way_between_two(house: ServiceHouse, chain: list[str]) -> None:
    """Link by link, the shortest; none where none leads there."""
    question, answer, built, beside, alone = chain
    assert reached(house, question, beside) == [(answer, 1), (built, 2), (beside, 3)]
    assert reached(house, question, alone) == []


def test_groups(house: ServiceHouse, app: Path, chain: list[str]) -> None:
    """What links join, with what most of it names; what is held back is told to no agent."""
    asked = {"project": str(app), "cwd": str(app)}
    (group,) = door(house.ctx, "connections", asked)["clusters"]
    assert group["size"] == 4 and chain[4] not in [one["id"] for one in group["memories"]]
    assert any("ledger" in word for word in group["about"])
    door(house.ctx, "edit", {"id": chain[3], "sensitivity": "restricted"})
    (group,) = door(house.ctx, "connections", {**asked, "actor": "mcp"})["clusters"]
    assert group["size"] == 3
    assert (chain[3], 1) not in reached(house, chain[2], actor="mcp")


def test_what_cannot_be_walked(house: ServiceHouse, chain: list[str]) -> None:
    with pytest.raises(BadInputError, match="up, down, both"):
        reached(house, chain[0], direction="sideways")
    with pytest.raises(BadInputError, match="between two"):
        reached(house, *chain[:3])
    with pytest.raises(NotFoundError):
        reached(house, "f" * 12)


def test_a_group_is_not_named_by_a_tool_s_words(house: ServiceHouse, app: Path) -> None:
    """What a tool printed is shown nowhere unmarked, not as a word that a group shares either."""
    first, second = (house.remember(f"The {n} pool.", app)["id"] for n in ("mailer", "crawler"))
    for id in (first, second):
        # What is dictated may not mark anything itself.
        memory = house.ctx.global_shelf().journal.by_ids([id])[id]
        text = redact.clean(f"ERROR ⟦tool: Quaggoth⟧ {memory.text}").text
        house.ctx.global_shelf().journal.update(replace(memory, text=text))
    door(house.ctx, "link", {"from": first, "to": second, "relation": "relates_to"})
    (group,) = door(house.ctx, "connections", {"project": str(app), "cwd": str(app)})["clusters"]
    assert "pool" in group["about"]
    assert "quaggoth" not in group["about"]
