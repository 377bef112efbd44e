"""What is known of work: tasks like one, trails, what to expect of a command, what was flagged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door
from worked import work

from vector_memory.errors import BadInputError

STEPS = ["edit", "pytest tests/ledger"]


def asked(house: ServiceHouse, folder: Path, verb: str, **more: Any) -> dict[str, Any]:
    """Return the answer to a verb in a project."""
    return door(house.ctx, verb, {"project": str(folder), **more})


class TestAssessment:
    """`self_assess`."""

    def test_tasks_of_a_kind_are_counted(self, house: ServiceHouse, tmp_path: Path) -> None:
        """With how they ended, how long they took, what went wrong and which steps worked."""
        work(house, tmp_path)
        told = asked(house, tmp_path, "self_assess", task="Fix the rounding of the ledger")
        assert (told["kind"], told["compared"]) == ("fix", 6)
        assert told["done"]["told"] == "5 of 6 (44-97 %)"
        assert told["minutes"]["n"] == 6
        assert "pytest tests/ledger" in told["trail"]
        assert told["like"][0]["about"].startswith("ledger rounding")
        assert "5 of 6" in told["told"]

    def test_nothing_is_concluded_from_nothing(self, house: ServiceHouse, tmp_path: Path) -> None:
        """An empty project says so."""
        told = asked(house, tmp_path, "self_assess", task="Write the docs")
        assert told["told"].startswith("not enough evidence")
        assert told["like"] == []


class TestTrails:
    """`stigmergy`."""

    def test_a_guide_names_the_steps(self, house: ServiceHouse, tmp_path: Path) -> None:
        """By the kind, or by the words of a task."""
        work(house, tmp_path)
        told = asked(
            house, tmp_path, "stigmergy", action="guide", kind="Fix the crash of the ledger"
        )
        assert told["trails"][0]["steps"] == STEPS
        assert told["trails"][0]["won"]["n"] == 6
        told = asked(house, tmp_path, "stigmergy", action="guide", kind="release")
        assert told["told"].startswith("not enough evidence")

    def test_a_trail_fades(self, house: ServiceHouse, tmp_path: Path) -> None:
        """It is weaker later, and gone on the day that was told."""
        work(house, tmp_path)
        before = asked(house, tmp_path, "stigmergy", action="decay")["trails"][0]
        house.pass_time(days=10)
        after = asked(house, tmp_path, "stigmergy", action="decay")["trails"][0]
        assert after["strength"] < before["strength"]
        assert after["gone_on"] == before["gone_on"]

    def test_a_report_counts_half_and_once(self, house: ServiceHouse, tmp_path: Path) -> None:
        """And only where it is not tried first."""
        work(house, tmp_path)
        said = {
            "action": "deposit",
            "kind": "fix",
            "steps": STEPS,
            "evidence": "tests pass",
            "session": "s3",
        }
        before = asked(house, tmp_path, "stigmergy")["trails"][0]
        assert asked(house, tmp_path, "stigmergy", **said)["trails"][0] == before
        told = asked(house, tmp_path, "stigmergy", dry_run=False, **said)
        after = next(one for one in told["trails"] if one["kind"] == before["kind"])
        assert after["strength"] == pytest.approx(before["strength"] + 0.5, abs=0.02)
        again = asked(house, tmp_path, "stigmergy", dry_run=False, **said)
        assert again["told"].startswith("It was reported before")

    @pytest.mark.parametrize(
        "wrong",
        [
            {"action": "follow"},
            {"action": "deposit", "kind": "fix", "steps": STEPS},
            {"action": "deposit", "kind": "fix", "steps": ["rm -rf ~"], "evidence": "x"},
            {"action": "deposit", "kind": "fix", "steps": ["npx other-tool"], "evidence": "x"},
        ],
    )
    def test_wrong_reports_are_refused(
        self, house: ServiceHouse, tmp_path: Path, wrong: dict[str, Any]
    ) -> None:
        """With what there is instead."""
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "stigmergy", **wrong)


class TestWorld:
    """`world_model`."""

    def test_a_command_is_predicted_with_counts(self, house: ServiceHouse, tmp_path: Path) -> None:
        """And what was never seen is not."""
        work(house, tmp_path)
        told = asked(
            house, tmp_path, "world_model", action="predict", thing="pytest -q tests/ledger"
        )
        assert (told["good"]["k"], told["good"]["n"], told["seconds"]) == (5, 6, 2.0)
        told = asked(house, tmp_path, "world_model", action="predict", thing="cargo test")
        assert told["told"].startswith("not enough evidence")
        assert asked(house, tmp_path, "world_model")["things"]

    def test_what_was_observed_is_kept(self, house: ServiceHouse, tmp_path: Path) -> None:
        """Where it is not only tried; another state than usual is a surprise."""
        said = {"action": "observe", "thing": "port:5432", "state": "up"}
        assert asked(house, tmp_path, "world_model", **said)["dry_run"]
        assert asked(house, tmp_path, "world_model")["things"] == []
        for _ in range(4):
            house.pass_time(minutes=1)
            asked(house, tmp_path, "world_model", dry_run=False, **said)
        told = asked(house, tmp_path, "world_model", **{**said, "state": "down"})
        assert told["surprise"]
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "world_model", **{**said, "state": "sideways"})


class TestMonitor:
    """`constitutional_monitor`."""

    def test_weeks_are_compared(self, house: ServiceHouse, tmp_path: Path) -> None:
        """Of the sessions that did anything."""
        work(house, tmp_path)
        told = asked(house, tmp_path, "constitutional_monitor", action="trend")
        assert [one["flagged"]["n"] for one in told["weeks"]] == [1, 1]
        assert asked(house, tmp_path, "constitutional_monitor")["counts"] == {}
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "constitutional_monitor", action="judge")
