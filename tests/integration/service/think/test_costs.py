"""What sessions took of their models, what they were given unasked, and how fast memory is."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door
from worked import keep, task

from vector_memory.errors import BadInputError
from vector_memory.model import CleanText, Origin, Scope
from vector_memory.service.base import context_block
from vector_memory.service.base.shown_notes import START, Showing
from vector_memory.text.fence import Note

MODEL = "claude-sonnet-4-5-20250929"


def answer(id: str, day: int, output: int, **usage: int) -> dict[str, Any]:
    """Return a line of a transcript in which a model answers."""
    took = {"input_tokens": 1_000, "output_tokens": output, **usage}
    return {
        "type": "assistant", "sessionId": "s1", "cwd": "", "timestamp": f"2026-05-0{day}T10:00:00Z",
        "message": {"id": id, "model": MODEL, "role": "assistant", "content": [], "usage": took},
    }  # fmt: skip


def transcript(folder: Path, lines: list[dict[str, Any]], name: str = "s1") -> Path:
    """Write a session's transcript."""
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps({**one, "cwd": str(folder)}) + "\n" for one in lines))
    return path


def asked(house: ServiceHouse, folder: Path, verb: str, **more: Any) -> dict[str, Any]:
    """Return the answer to a verb in a project."""
    return door(house.ctx, verb, {"project": str(folder), **more})


class TestCosts:
    """`cost_router`."""

    LINES = (
        answer("m1", 1, 10),
        answer("m1", 1, 1_000, cache_read_input_tokens=2_000_000),
        answer("m2", 2, 1_000, cache_creation_input_tokens=1_000),
    )

    def read(self, house: ServiceHouse, folder: Path) -> Path:
        """Have a session's transcript known."""
        path = transcript(folder, list(self.LINES))
        house.ctx.state.set_cursor(str(path), {})
        return path

    def test_an_answer_counts_once(self, house: ServiceHouse, tmp_path: Path) -> None:
        """However many lines it has; money follows the table."""
        path = self.read(house, tmp_path)
        (row,) = asked(house, tmp_path, "cost_router")["rows"]
        assert row["usage"] == {
            "input": 2_000, "output": 2_000, "cache_5m": 1_000, "cache_1h": 0,
            "cached": 2_000_000, "answers": 2,
        }  # fmt: skip
        assert row["dollars"] == pytest.approx(0.006 + 0.03 + 0.00375 + 0.6, abs=0.01)
        path.unlink()
        days = asked(house, tmp_path, "cost_router", by="day")["rows"]
        assert [one["name"] for one in days] == ["2026-05-02", "2026-05-01"]

    def test_the_user_sets_prices(self, house: ServiceHouse, tmp_path: Path) -> None:
        """Lines of theirs go first; one that is none is named; without a price there is no money."""
        self.read(house, tmp_path)
        own = Path(house.ctx.home.path("prices.txt"))
        own.write_text("# mine\nclaude-sonnet* 1000 0 0 0 0\n")
        told = asked(house, tmp_path, "cost_router", by="day", cap=1)
        assert told["rows"][0]["dollars"] == 1.0
        assert told["over"] == []
        assert (
            asked(house, tmp_path, "cost_router", action="prices")["prices"][0]
            == "claude-sonnet* 1000 0 0 0 0"
        )
        own.write_text("claude-sonnet* much\n")
        with pytest.raises(BadInputError, match="no price"):
            asked(house, tmp_path, "cost_router")

    def test_advice_needs_two_models(self, house: ServiceHouse, tmp_path: Path) -> None:
        """With five tasks each."""
        tasks = [task(house.time, number, "s1", model=MODEL) for number in range(3)]
        keep(house, tmp_path, "s1", tasks, [])
        self.read(house, tmp_path)
        told = asked(house, tmp_path, "cost_router", action="route", task="Fix the ledger")
        assert told["models"][0]["dollars"] == pytest.approx(0.64, abs=0.01)
        assert told["told"].startswith("not enough evidence")
        assert [(one["model"], one["done"]["n"]) for one in told["models"]] == [(MODEL, 3)]
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "cost_router", by="moon")


class TestBudget:
    """`context_budget`."""

    def show(self, house: ServiceHouse, session: str) -> str:
        """Show a note to a session at its start."""
        note = Note(f"{session}-note", "2026-05-01", "We chose Postgres for the ledger.")
        return context_block.show(house.ctx, session, [note], showing=Showing(START))

    def test_what_was_given_is_told_by_compartment(
        self, house: ServiceHouse, tmp_path: Path
    ) -> None:
        """Of the session and of all."""
        assert self.show(house, "s1")
        assert self.show(house, "s2")
        told = asked(house, tmp_path, "context_budget", session="s1")
        start = next(one for one in told["compartments"] if one["compartment"] == "start")
        assert (start["times"], start["limit"]) == (1, 900)
        assert 0 < start["used"] == told["used"] < start["all"]
        assert len(told["compartments"]) == 5

    def test_a_session_gets_no_more_than_its_cap(self, house: ServiceHouse, tmp_path: Path) -> None:
        """Another one still does."""
        from dataclasses import replace

        house.ctx.settings = replace(house.ctx.settings, session_tokens=1)
        assert self.show(house, "s1") == ""
        house.ctx.settings = replace(house.ctx.settings, session_tokens=10_000)
        assert self.show(house, "s1")

    def test_only_the_user_sets_a_limit(self, house: ServiceHouse, tmp_path: Path) -> None:
        """And only one that can be."""
        said = {"action": "set", "compartment": "prompt", "tokens": 300}
        asked(house, tmp_path, "context_budget", actor="mcp", **said)
        config = Path(house.ctx.home.config)
        assert not config.exists()
        with pytest.raises(BadInputError, match="`vector-memory config set prompt_tokens 300`"):
            asked(house, tmp_path, "context_budget", actor="mcp", dry_run=False, **said)
        assert [one.actor for one in house.ctx.state.audit_entries(5, action="setting_refused")] == ["mcp"]  # fmt: skip
        asked(house, tmp_path, "context_budget", dry_run=False, **said)
        assert json.loads(config.read_text()) == {"prompt_tokens": 300}
        for wrong in ({"compartment": "failure"}, {"tokens": 1}):
            with pytest.raises(BadInputError):
                asked(house, tmp_path, "context_budget", **{**said, **wrong})


class TestBenchmark:
    """`benchmark` and `benchmark_suite`."""

    def test_a_suite_measures_and_keeps(self, house: ServiceHouse, tmp_path: Path) -> None:
        """What it wrote to time a write is gone; a run that is not kept changes nothing."""
        for number in range(6):
            house.remember(
                f"Decision {number}: the ledger exporter number {number} writes rows of its own.",
                tmp_path,
            )
        # An example of a job's own is found by no question but its collection's.
        example = replace(
            next(iter(house.ctx.global_shelf().journal.iter_memories(Scope()))),
            id="e" * 32,
            text=CleanText("A feature that went well here took eleven steps and one retry in all."),
            collection="trajectories",
            origin=Origin.JOB,
            created_at=house.time + timedelta(minutes=1),
        )
        house.ctx.global_shelf().journal.add([example])
        told = asked(house, tmp_path, "benchmark_suite", n=5)
        found = {one["name"]: one for one in told["dimensions"]}
        assert set(found) == {
            "recall_ms",
            "store_ms",
            "quality",
            "duplicates",
            "size_mb",
            "open_ms",
        }
        assert [one.partition(":")[0] for one in told["missing"]] == ["hooks_ms"]
        assert (told["memories"], found["duplicates"]["value"]) == (7, 0)
        assert found["recall_ms"]["verdict"].startswith("too few runs")
        assert door(house.ctx, "stats", {"all_projects": True})["memories"] == 7
        assert found["quality"]["value"] == 1.0
        known = house.ctx.state.cursor("benchmarks")
        asked(house, tmp_path, "benchmark_suite", n=5, dimensions=["size_mb"], baseline=False)
        asked(house, tmp_path, "benchmark", what="store", n=5)
        assert house.ctx.state.cursor("benchmarks") == known
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "benchmark_suite", dimensions=["luck"])
