"""Sessions step by step, what a failure came of, memory as it was, and what changed since."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, captured_of, door
from work import Session
from worked import keep, task, work

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.journal.use_labels import UseLabel
from vector_memory.service.capture import archives, deferred, step_log
from vector_memory.service.think.debugging import graph

BROKEN = "ModuleNotFoundError: No module named 'app' while importing the ledger"


def asked(house: ServiceHouse, folder: Path, verb: str, **more: Any) -> dict[str, Any]:
    """Return the answer to a verb in a project."""
    return door(house.ctx, verb, {"project": str(folder), **more})


def session(house: ServiceHouse, folder: Path, name: str = "s1") -> Session:
    """Let a session fix the parser, learn from it, and log its steps as after its end."""
    made = Session(folder, name, folder, house.time - timedelta(hours=5))
    made.ask("Fix the crash of the parser").read().run("pytest", BROKEN, failed=True)
    made.edit("parser.py").run("pytest", "3 passed").run("just lint").say()
    house.ctx.state.set_cursor(str(made.path), {})
    house.ctx.state.add_due(deferred.LESSONS, str(made.path))
    deferred.finish_some(house.ctx)
    return made


class TestSteps:
    """Step logs, `time_travel` and `flow_debug`."""

    def test_steps_outlive_the_transcript(self, house: ServiceHouse, tmp_path: Path) -> None:
        """They are logged when the session has been read, and go with a purge."""
        made = session(house, tmp_path)
        before = asked(house, tmp_path, "time_travel", action="show", session="s1")["steps"]
        assert [one["what"] for one in before] == ["prompt", "read", "run", "edit", "run", "run"]
        assert (before[2]["job"], before[2]["ok"], before[4]["ok"]) == ("pytest", False, True)
        made.path.unlink()
        told = asked(house, tmp_path, "time_travel", action="show", session="s1", step=3, k=2)
        assert told["steps"] == before[2:4]
        (listed,) = asked(house, tmp_path, "time_travel")["sessions"]
        assert listed.endswith(" s1")
        assert archives.remove(house.ctx.home, "s1") == 0
        with pytest.raises(NotFoundError):
            asked(house, tmp_path, "time_travel", action="show", session="s1")

    def test_secrets_are_not_logged(self, house: ServiceHouse, tmp_path: Path) -> None:
        """Neither those of commands nor of prompts."""
        secret = "ghp_" + "0a1B2c3D4e5F6g7H8i9J" * 2
        made = Session(tmp_path, "s1", tmp_path, house.time)
        made.ask(f"Use the token {secret}").run(f"GITHUB_TOKEN={secret} gh pr list").say()
        assert step_log.write(house.ctx, str(made.path)) == 2
        (path,) = archives.archives_of(house.ctx.home, "s1", archives.STEPS)
        assert secret not in Path(path).read_text()

    def test_a_secret_that_only_a_file_names(self, house: ServiceHouse, tmp_path: Path) -> None:
        """What the agent writes as a password goes from the prompt, too, in the log and in what is learned."""
        secret, made = "lantern" + "Xq7Kw2Zp", Session(tmp_path, "s1", tmp_path, house.time)
        made.ask(f"For the reports add it to the config with {secret} and run the tests")
        given = {
            "file_path": f"{tmp_path}/a.toml",
            "old_string": "a",
            "new_string": f'password = "{secret}"',
        }
        made.call("Edit", given, "The file was updated.").run("pytest", "3 passed").say()
        house.ctx.state.set_cursor(str(made.path), {})
        house.ctx.state.add_due(deferred.LESSONS, str(made.path))
        deferred.finish_some(house.ctx)
        (path,) = archives.archives_of(house.ctx.home, "s1", archives.STEPS)
        assert "For the reports" in Path(path).read_text()
        assert secret not in Path(path).read_text()
        kept = [one.read_bytes() for one in Path(house.ctx.home.root).rglob("*") if one.is_file()]
        assert [one for one in kept if secret.encode() in one] == []

    def test_a_flow_shows_what_mended_what(self, house: ServiceHouse, tmp_path: Path) -> None:
        """As nodes and edges, and drawn."""
        session(house, tmp_path)
        told = asked(house, tmp_path, "flow_debug", session="s1")
        labels = {one["id"]: one["label"] for one in told["nodes"]}
        mended = [one for one in told["edges"] if one["why"] == "mended"]
        assert [(labels[one["from_id"]], labels[one["to_id"]]) for one in mended] == [
            ("pytest", "pytest")
        ]
        assert told["mermaid"].startswith("flowchart TD\nsubgraph t1")
        assert 'n3["pytest (1 failed)"]:::failed' in told["mermaid"]
        assert "n3 -.->|mended| n5" in told["mermaid"]
        with pytest.raises(NotFoundError):
            asked(house, tmp_path, "flow_debug", session="nowhere")

    def test_a_session_is_named_by_how_its_id_begins(
        self, house: ServiceHouse, tmp_path: Path
    ) -> None:
        """As lists show it, and as every command takes it; where several begin so, neither is drawn."""
        for name in ("5e55aa01-0000", "5e55bb02-0000"):
            made = session(house, tmp_path, name)
            captured_of(house.ctx, made.path, str(tmp_path), final=True)
        told = asked(house, tmp_path, "flow_debug", session="5e55aa")
        assert told["nodes"] == asked(house, tmp_path, "flow_debug", session="5e55aa01-0000")["nodes"]  # fmt: skip
        assert asked(house, tmp_path, "time_travel", action="show", session="5e55bb")["steps"]
        with pytest.raises(BadInputError, match="names 2 sessions"):
            asked(house, tmp_path, "flow_debug", session="5e55")

    def test_an_agent_is_told_of_its_projects_sessions_alone(
        self, house: ServiceHouse, tmp_path: Path
    ) -> None:
        """Unless it asks about another one; the user names any, wherever he is. The log tells no more than the
        transcript, and a part of a file's name names no session."""
        here, there = tmp_path / "here", tmp_path / "there"
        for folder, name in ((here, "5e55aa01-0000"), (there, "5e55bb02-0000")):
            folder.mkdir()
            made = session(house, folder, name)
            captured_of(house.ctx, made.path, str(folder), final=True)
        agent, steps = {"actor": "mcp", "cwd": str(here)}, {"action": "show"}
        for is_logged in (False, True):
            assert asked(house, here, "flow_debug", session="5e55", **agent)["nodes"]
            for name in ("5e55bb02-0000", "5e55bb", "0000"):
                with pytest.raises(NotFoundError):
                    asked(house, here, "flow_debug", session=name, **agent)
                with pytest.raises(NotFoundError):
                    asked(house, here, "time_travel", session=name, **steps, **agent)
            for more in ({"project": str(there)}, {"all_projects": True}):
                request = {"session": "5e55bb", **agent, **more}
                assert door(house.ctx, "flow_debug", request)["nodes"]
            assert asked(house, here, "flow_debug", session="5e55bb")["nodes"]
            for path in [] if is_logged else tmp_path.rglob("*.jsonl"):
                if "data" not in path.parts:
                    assert step_log.write(house.ctx, str(path))
                    path.unlink()

    def test_a_graph_is_drawn_whatever_was_said(self) -> None:
        """No label ends its box; repetitions are one node."""
        steps = [step_log.LoggedStep(n, 1, "", "run", "", 'x"] --> y', True) for n in (1, 2)]
        nodes, edges = graph(steps)
        assert (len(nodes), nodes[0].n, edges) == (1, 2, [])

    def test_two_sessions_are_compared(self, house: ServiceHouse, tmp_path: Path) -> None:
        """By what they ran; and what is recorded by hand is only tried first."""
        session(house, tmp_path)
        other = Session(tmp_path, "s2", tmp_path, house.time).ask("Test it").run("cargo test").say()
        house.ctx.state.set_cursor(str(other.path), {})
        told = asked(house, tmp_path, "time_travel", action="compare", session="s1", other="s2")
        assert "only the first ran `pytest`" in told["changed"]
        assert "only the second ran `cargo test`" in told["changed"]
        assert asked(house, tmp_path, "time_travel", action="record", session="s2")["dry_run"]
        assert len(asked(house, tmp_path, "time_travel")["sessions"]) == 1
        asked(house, tmp_path, "time_travel", action="record", session="s2", dry_run=False)
        assert len(asked(house, tmp_path, "time_travel")["sessions"]) == 2


class TestMemoryThen:
    """Memory as it was, and recalls done again."""

    def test_memory_is_as_it_was(self, house: ServiceHouse, tmp_path: Path) -> None:
        """What gave way since then holds, what came since then is not there."""
        house.remember("The ledger runs on port 5432.", tmp_path)
        house.pass_time(days=1)
        then = house.time.isoformat()
        house.pass_time(days=1)
        house.remember("The ledger runs on port 5433 now instead of port 5432.", tmp_path)
        old = door(house.ctx, "list", {"project": str(tmp_path)})["memories"]
        told = asked(house, tmp_path, "time_travel", action="memory", at=then)
        assert [one["text"] for one in told["memories"]] == ["The ledger runs on port 5432."]
        told = asked(house, tmp_path, "semantic_diff", what="memory", at=then)
        assert [one["text"] for one in told["new"]] == [old[0]["text"]]
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "time_travel", action="memory")

    def test_a_recall_without_a_memory(self, house: ServiceHouse, tmp_path: Path) -> None:
        """Tells what would not have been found."""
        house.remember("We chose Postgres for the ledger.", tmp_path)
        one = house.remember("The ledger exporter writes CSV files.", tmp_path)
        said = {"action": "replay", "query": "ledger exporter"}
        told = asked(house, tmp_path, "time_travel", without=[one["id"][:12]], **said)
        assert one["id"] not in [memory["id"] for memory in told["memories"]]
        assert any("not found" in line for line in told["changed"])
        told = asked(house, tmp_path, "time_travel", settings=["scoring=sum"], **said)
        assert told["memories"]
        for wrong in ({}, {"settings": ["capture=false"]}, {"settings": ["scoring=luck"]}):
            with pytest.raises(BadInputError):
                asked(house, tmp_path, "time_travel", **said, **wrong)


class TestCauses:
    """`causal_debug` and `semantic_diff`."""

    def test_a_failure_is_explained(self, house: ServiceHouse, tmp_path: Path) -> None:
        """By what came before it, and what ended it; kept on request alone."""
        session(house, tmp_path)
        told = asked(house, tmp_path, "causal_debug", error="No module named app", step="just lint")
        assert (told["tasks"], told["of"]) == (1, 1)
        (case,) = told["cases"]
        assert (case["job"], case["before"], case["mended_by"]) == (
            "pytest",
            ["prompt", "read"],
            "edit",
        )
        assert told["mended_by"] == {"a change of files": 1}
        assert "not enough evidence" in told["with_step"]["verdict"]
        assert "id" not in told
        kept = asked(house, tmp_path, "causal_debug", session="s1", dry_run=False)
        stored = door(house.ctx, "get", {"id": kept["id"]})["memory"]
        assert stored["collection"] == "causal_analysis"
        told = asked(house, tmp_path, "causal_debug", error="disk quota exceeded")
        assert told["told"].startswith("not enough evidence")
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "causal_debug")

    def test_windows_of_work_are_compared(self, house: ServiceHouse, tmp_path: Path) -> None:
        """From a date or a session on; few tasks are too few to tell."""
        work(house, tmp_path)
        told = asked(house, tmp_path, "semantic_diff", at="s2", since="2026-04-01")
        assert (told["first"]["tasks"], told["second"]["tasks"]) == (3, 3)
        assert "not enough evidence" in told["told"]
        more = [task(house.time - timedelta(hours=9), n, "s3", done=False) for n in range(9)]
        keep(house, tmp_path, "s3", more, [])
        early = [task(house.time - timedelta(days=8), n, "s4") for n in range(9)]
        keep(house, tmp_path, "s4", early, [])
        told = asked(house, tmp_path, "semantic_diff", at="2026-05-01", since="2026-04-01")
        assert told["done"]["verdict"].startswith("before went better")
        with pytest.raises(NotFoundError):
            asked(house, tmp_path, "semantic_diff", at="v1.2")
        with pytest.raises(BadInputError):
            asked(house, tmp_path, "semantic_diff", at="2026-05-01", until="2026-04-01")


class TestPreload:
    """`predictive_preload`."""

    def test_what_like_sessions_used_is_foretold(self, house: ServiceHouse, tmp_path: Path) -> None:
        """From five sessions on, with how often that was right."""
        one = house.remember("The ledger rounds half to even.", tmp_path)
        prompt = "Fix the rounding of the ledger"
        assert asked(house, tmp_path, "predictive_preload", prompt=prompt)["memories"] == []
        for number in range(5):
            name = f"s{number}"
            keep(house, tmp_path, name, [task(house.time, number, name)], [])
            label = UseLabel(name, one["id"], house.time, "prompt", "note", 9.0, True)
            house.ctx.state.add_use_labels([label])
        told = asked(house, tmp_path, "predictive_preload", prompt=prompt)
        assert [memory["id"] for memory in told["memories"]] == [one["id"]]
        assert (told["hits"]["k"], told["hits"]["n"]) == (5, 5)
        assert asked(house, tmp_path, "predictive_preload", prompt="Paint it")["memories"] == []
