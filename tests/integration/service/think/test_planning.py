"""Steps written down, found and compared; plans; answers that agree."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door
from worked import keep, task, work

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import HEURISTICS
from vector_memory.service.base import privacy
from vector_memory.service.base.asker import asker_in
from vector_memory.service.learning import counted_records


def asked(house: ServiceHouse, folder: Path, verb: str, **more: Any) -> dict[str, Any]:
    """Return the answer to a verb in a project."""
    return door(house.ctx, verb, {"project": str(folder), **more})


def test_a_restricted_word_locks_no_agent_out_of_its_plan(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """It is told to take other words; what the user adds may be taken out again."""
    (tmp_path / "CLAUDE.md").write_text("## Sensitivity\n- restricted: Heron\n")
    agents = {"actor": "agent", "cwd": str(tmp_path)}

    def plan(action: str, task: str = "", **more: Any) -> list[str]:
        request = {"action": action, "task": task, "plan": "release", "dry_run": False, **more}
        with privacy.for_request(house.ctx, {"project": str(tmp_path)}):
            told = asked(house, tmp_path, "temporal_planner", **request)
        return [one["task"] for one in told["tasks"]]

    def kept() -> str:
        asker = asker_in(house.ctx, house.ctx.place(str(tmp_path)))
        record = counted_records.get(asker, HEURISTICS, "plan:release")
        return record.sensitivity if record else ""

    plan("add", "write docs", **agents)
    with pytest.raises(BadInputError, match="restricted here"):
        plan("add", "prepare Heron slides", **agents)
    plan("add", "prepare Heron slides")
    assert kept() == "restricted"
    plan("remove", "prepare Heron slides")
    assert kept() == "internal"
    assert plan("list", **agents) == ["write docs"]


class TestAuthor:
    """`workflow_author`."""

    TEXT = "First run the linter, then run pytest, then commit"

    def test_a_description_becomes_steps(self, house: ServiceHouse, tmp_path: Path) -> None:
        """Each with the command that is known here; nothing is stored where it is only shown."""
        work(house, tmp_path)
        told = asked(house, tmp_path, "workflow_author", text=self.TEXT)
        assert [one["text"] for one in told["steps"]] == ["Run the linter", "Run pytest", "Commit"]
        assert told["steps"][1]["command"] == "pytest tests/ledger"
        assert told["steps"][1]["went_well"] == "5 of 6 (44-97 %)"
        assert door(house.ctx, "list", {"project": str(tmp_path)})["total"] == 0

    @pytest.mark.parametrize(
        ("text", "steps"),
        [
            (
                "Deploy: 1) build the image 2) push it 3) if the smoke test fails, roll back",
                ["Build the image", "Push it", "If the smoke test fails, roll back"],
            ),
            ("1. Build the image. 2. Push it.", ["Build the image", "Push it"]),
            ("Deploy:\n1. Build the image\n2. Push it", ["Build the image", "Push it"]),
            ("Install Python 3. Then install psql 1) twice.", ["Install Python 3", "Install psql 1) twice"]),
            ("Bump to version 1. Then set x to 2. Then push.", ["Bump to version 1", "Set x to 2", "Push"]),
            ("1. Set x to 2. Push it. 2. Check.", ["Set x to 2", "Push it", "Check"]),
            ("run `a` (see 1) and then `b` (see 2)", ["Run `a` (see 1)", "`b` (see 2)"]),
            ("Ship: 1) build (see 2) 2) push", ["Build (see 2)", "Push"]),
            ("1. build it 2. push it 3)", ["Build it", "Push it 3)"]),
            ("Ship: " + " ".join(f"{at}) run t{at}" for at in range(1, 12)), [f"Run t{at}" for at in range(1, 12)]),
        ],
    )  # fmt: skip
    def test_steps_that_are_counted_on_one_line_are_steps(
        self, house: ServiceHouse, tmp_path: Path, text: str, steps: list[str]
    ) -> None:
        """What they are called is none; a number that counts nothing cuts nothing."""
        told = asked(house, tmp_path, "workflow_author", text=text)
        assert [one["text"] for one in told["steps"]] == steps

    @pytest.mark.parametrize("format", ["procedure", "skill"])
    def test_what_is_forbidden_is_no_step(
        self, house: ServiceHouse, tmp_path: Path, format: str
    ) -> None:
        """It stands below them, as it was said."""
        text = f"{self.TEXT}, but never push before review. Do not edit the lock file."
        told = asked(house, tmp_path, "workflow_author", text=text, format=format)
        assert [one["text"] for one in told["steps"]] == [
            "Run the linter", "Run pytest", "Commit, but never push before review"
        ]  # fmt: skip
        assert told["text"].splitlines()[-1] == "Do not edit the lock file."
        with pytest.raises(BadInputError, match="no steps"):
            asked(house, tmp_path, "workflow_author", text="Commit it. Never push it.")

    def test_what_is_not_to_be_left_out_is_a_step(
        self, house: ServiceHouse, tmp_path: Path
    ) -> None:
        """Whoever forbids to forget it asks for it."""
        text = "Don't skip the lint: run `ruff check`, then push. Do not forget to run `make test`. Don't tag it."
        told = asked(house, tmp_path, "workflow_author", text=text)
        steps = [
            "Don't skip the lint: run `ruff check`",
            "Push",
            "Do not forget to run `make test`",
        ]
        assert [one["text"] for one in told["steps"]] == steps
        assert told["text"].splitlines()[-1] == "Don't tag it."

    def test_what_an_agent_writes_waits_for_the_user(
        self, house: ServiceHouse, tmp_path: Path
    ) -> None:
        """The user's own is a procedure at once; files are never written."""
        said = {"text": self.TEXT, "name": "Release", "dry_run": False}
        told = asked(house, tmp_path, "workflow_author", actor="mcp", **said)
        assert "vector-memory review" in told["told"]
        told = asked(house, tmp_path, "workflow_author", **{**said, "text": "Tag it. Push it."})
        stored = door(house.ctx, "get", {"id": told["id"]})["memory"]
        assert (stored["kind"], stored["collection"]) == ("procedure", "procedures")
        with pytest.raises(BadInputError, match="not written"):
            asked(house, tmp_path, "workflow_author", format="skill", **said)

    def test_a_session_becomes_steps(self, house: ServiceHouse, tmp_path: Path) -> None:
        """Of its last task that was done; one that did nothing is refused."""
        work(house, tmp_path)
        told = asked(house, tmp_path, "workflow_author", session="s1", format="skill")
        assert [one["text"] for one in told["steps"]] == [
            "Change the files.",
            "Run `pytest tests/ledger`.",
        ]
        assert "a check or the user said so" in told["text"]
        with pytest.raises(NotFoundError):
            asked(house, tmp_path, "workflow_author", session="nowhere")
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "workflow_author")


class TestSkills:
    """`skill_discovery` and `workflow_optimizer`."""

    def test_steps_that_come_again_are_shown(self, house: ServiceHouse, tmp_path: Path) -> None:
        """Of three tasks in two sessions, and not of fewer."""
        work(house, tmp_path)
        (skill,) = asked(house, tmp_path, "skill_discovery")["skills"]
        assert skill["steps"] == ["edit", "pytest tests/ledger"]
        assert (skill["won"]["k"], skill["sessions"], skill["won"]["n"]) == (5, 2, 6)
        assert (skill["name"], skill["path"]) == ("pytest", ".claude/skills/pytest/SKILL.md")
        told = asked(house, tmp_path, "skill_discovery", least=6)
        assert told["skills"] == []
        assert told["told"].startswith("not enough evidence")

    def test_two_ways_are_compared(self, house: ServiceHouse, tmp_path: Path) -> None:
        """By the tasks that took one and not the other."""
        work(house, tmp_path)
        other = [
            task(house.time, n, "s3", done=False, jobs=["tox"], steps=["tox"], commands={})
            for n in range(6)
        ]
        keep(house, tmp_path, "s3", other, [])
        told = asked(house, tmp_path, "workflow_optimizer", first=["pytest"], second=["tox"])
        assert told["compared"]["verdict"].startswith("pytest went better")
        assert told["steps"][0]["went_well"]["told"] == "5 of 6 (44-97 %)"
        told = asked(house, tmp_path, "workflow_optimizer", kind="docs")
        assert told["told"].startswith("not enough evidence")
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "workflow_optimizer", first=["pytest"])


class TestPlanner:
    """`temporal_planner`."""

    def add(self, house: ServiceHouse, folder: Path, name: str, **more: Any) -> dict[str, Any]:
        """Put a task into the plan."""
        said = {"action": "add", "task": name, "dry_run": False, **more}
        return asked(house, folder, "temporal_planner", **said)

    def test_the_longest_chain_is_critical(self, house: ServiceHouse, tmp_path: Path) -> None:
        """What may be late has slack; what is done takes no time."""
        self.add(house, tmp_path, "schema", estimate=30)
        self.add(house, tmp_path, "docs", estimate=10)
        told = self.add(house, tmp_path, "release", after=["schema", "docs"], estimate=5)
        assert told["critical_path"] == ["schema", "release"]
        slack = {one["task"]: one["slack"] for one in told["tasks"]}
        assert slack == {"schema": 0, "docs": 20, "release": 0}
        said = {"action": "done", "task": "schema"}
        tried = asked(house, tmp_path, "temporal_planner", **said)
        assert tried["minutes"] == 15
        assert asked(house, tmp_path, "temporal_planner")["minutes"] == 35
        asked(house, tmp_path, "temporal_planner", dry_run=False, **said)
        assert asked(house, tmp_path, "temporal_planner")["minutes"] == 15

    def test_estimates_are_of_like_tasks(self, house: ServiceHouse, tmp_path: Path) -> None:
        """And a deadline that cannot be kept is told."""
        work(house, tmp_path)
        due = (house.time + timedelta(minutes=5)).isoformat()
        told = self.add(house, tmp_path, "Fix the ledger rounding", due=due)
        (planned,) = told["tasks"]
        assert (planned["minutes"], planned["late"]) == (12, True)
        assert "6 like tasks" in planned["by"]
        told = self.add(house, tmp_path, "Paint the shed")
        assert "Nothing says how long this takes: Paint the shed." in told["told"]

    def test_a_day_is_over_when_it_ends(self, house: ServiceHouse, tmp_path: Path) -> None:
        """A deadline in words is one to come, as of a memory: "this week" and a weekday are not over."""
        for due in ("today", "this week", f"{house.time:%A}", "in 2 days"):
            (planned,) = self.add(house, tmp_path, "Paint", due=due, estimate=1)["tasks"]
            assert not planned["late"], due
        # The day itself, and not the moment after its end.
        assert planned["due"] == f"{house.time.astimezone() + timedelta(days=2):%Y-%m-%d}"
        asked(house, tmp_path, "remember", text="Renew the gate's certificate.", due="tomorrow")
        day = house.time.astimezone() + timedelta(days=1)
        (told,) = asked(house, tmp_path, "temporal_planner")["deadlines"]
        assert told == f"{day:%Y-%m-%d}: Renew the gate's certificate."

    def test_what_cannot_be_is_refused(self, house: ServiceHouse, tmp_path: Path) -> None:
        """And changes nothing."""
        self.add(house, tmp_path, "a")
        self.add(house, tmp_path, "b", after=["a"])
        with pytest.raises(BadInputError, match="a, b"):
            self.add(house, tmp_path, "a", after=["b"])
        with pytest.raises(NotFoundError):
            self.add(house, tmp_path, "c", after=["z"])
        assert len(asked(house, tmp_path, "temporal_planner")["tasks"]) == 2


class TestSwarm:
    """`micro_swarm`."""

    ANSWERS = ("Use Postgres for the ledger.", "use Postgres for the ledger") * 2

    def test_what_says_the_same_votes_together(self, house: ServiceHouse, tmp_path: Path) -> None:
        """More than two thirds agree, or nobody does."""
        said = {
            "question": "Which database?",
            "answers": [*self.ANSWERS, "Use SQLite for the ledger."],
        }
        told = asked(house, tmp_path, "micro_swarm", **said)
        assert (told["agreed"], told["tolerates"]) == (True, 1)
        assert told["opinions"][0]["voters"] == [1, 2, 3, 4]
        assert any("SQLite" in one for one in told["conflicts"])
        told = asked(house, tmp_path, "micro_swarm", weights=["1", "1", "1", "1", "5"], **said)
        assert not told["agreed"]

    def test_advice_votes_with_an_order(self, house: ServiceHouse, tmp_path: Path) -> None:
        """And not with its opposite, or with what is so."""
        advice = ["We should use Postgres.", "You should use Postgres", "I would use Postgres.", "Use Postgres."]  # fmt: skip
        others = ["We should not use Postgres.", "We could use Postgres.", "You use Postgres."]
        told = asked(house, tmp_path, "micro_swarm", question="Which?", answers=advice + others)
        assert told["opinions"][0]["voters"] == [1, 2, 3, 4]
        assert len(told["opinions"]) == 4

    @pytest.mark.parametrize(
        "wrong",
        [{"answers": ["one"]}, {"answers": "one"}, {"answers": ["a", "b"], "weights": ["x"]}],
    )
    def test_wrong_votes_are_refused(
        self, house: ServiceHouse, tmp_path: Path, wrong: dict[str, Any]
    ) -> None:
        """With what is needed."""
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "micro_swarm", question="Which?", **wrong)
