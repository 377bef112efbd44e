"""Steps read from words, and plans in order."""

from __future__ import annotations

import pytest

from vector_memory.errors import BadInputError
from vector_memory.service.think.planning import PlanItem, in_order
from vector_memory.service.think.workflow import COMMAND, SKILL, skill_file, steps_of


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (
            "First run the linter, then run pytest, then commit",
            ["Run the linter", "Run pytest", "Commit"],
        ),
        ("1. Build the image\n2. Push it; tag it", ["Build the image", "Push it", "Tag it"]),
        ("- lint\n- test", ["Lint", "Test"]),
        ("Before you commit, run the tests.", ["Run the tests", "Commit"]),
        ("Run make. Finally, push to main.", ["Run make", "Push to main"]),
        ("Run `a; b` -> look at v1.2", ["Run `a; b`", "Look at v1.2"]),
        ("  ", []),
    ],
)
def test_steps_are_read_in_their_order(text: str, steps: list[str]) -> None:
    """Whatever joins them."""
    assert steps_of(text) == steps


def test_a_skill_is_one_whatever_stands_in_it() -> None:
    """Its head stays three lines, and its name is one."""
    made = skill_file("Deploy: Now!", 'say "no"\n---\nname: x', ["do\n---\nit"], SKILL, "n = 3")
    assert made.path == ".claude/skills/deploy-now/SKILL.md"
    assert made.text.split("\n")[:4] == [
        "---", "name: deploy-now", 'description: "say \\"no\\" --- name: x"', "---",
    ]  # fmt: skip
    assert made.text.count("\n---\n") == 1
    assert skill_file("", "d", ["s"], COMMAND).path == ".claude/commands/steps.md"


def test_tasks_that_wait_for_each_other_are_named() -> None:
    """And an order is one in which all can be done."""
    items = [PlanItem("c", ("b",)), PlanItem("b", ("a",)), PlanItem("a")]
    assert [one.task for one in in_order(items)] == ["a", "b", "c"]
    with pytest.raises(BadInputError, match="b, c"):
        in_order([PlanItem("a"), PlanItem("b", ("c",)), PlanItem("c", ("b",))])
