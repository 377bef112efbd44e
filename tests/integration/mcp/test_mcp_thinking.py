"""Tools that help to think, called as a model calls them and from a shell: with what fits, with what is missing,
and with what is wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_client
import pytest
from daemon_rig import Rig
from mcp_client import McpClient
from work import Session

from vector_memory.client.link import DaemonClient
from vector_memory.errors import BadInputError
from vector_memory.system.paths import Home

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

GOOD: dict[str, dict[str, Any]] = {
    "constitutional_monitor": {"action": "trend"},
    "self_assess": {"task": "Fix the parser"},
    "stigmergy": {"action": "guide", "kind": "fix"},
    "world_model": {"action": "predict", "thing": "cargo test"},
    "workflow_author": {
        "text": "First run the linter, then run pytest, then commit",
        "format": "skill",
    },
    "workflow_optimizer": {"first": ["cargo test"], "second": ["just lint"]},
    "skill_discovery": {"least": "3"},
    "micro_swarm": {
        "question": "Which?",
        "answers": ["Use tabs here.", "use tabs here", "Use spaces here."],
    },
    "temporal_planner": {"action": "add", "task": "Release it"},
    "benchmark": {"what": "store", "n": 5},
    "benchmark_suite": {"dimensions": ["size_mb"], "baseline": False},
    "context_budget": {},
    "cost_router": {"by": "day"},
    "causal_debug": {"session": "s1", "step": "just lint"},
    "flow_debug": {"session": "s1"},
    "time_travel": {"action": "show", "session": "s1"},
    "semantic_diff": {"at": "yesterday", "what": "memory"},
    "predictive_preload": {"prompt": "Fix the parser"},
    "agent_dev_env": {},
}
WRONG: dict[str, dict[str, Any]] = {
    "constitutional_monitor": {"action": "judge"},
    "self_assess": {},
    "stigmergy": {"action": "deposit", "kind": "fix"},
    "world_model": {"action": "predict"},
    "workflow_author": {"text": "Lint it", "format": "skill", "dry_run": False},
    "workflow_optimizer": {"first": ["cargo test"]},
    "skill_discovery": {"least": 0},
    "micro_swarm": {"question": "Which?", "answers": ["one"]},
    "temporal_planner": {"action": "done", "task": "nobody added this"},
    "benchmark": {},
    "benchmark_suite": {"dimensions": ["luck"]},
    "context_budget": {"action": "set", "compartment": "prompt", "tokens": 100, "dry_run": False},
    "cost_router": {"by": "moon"},
    "causal_debug": {},
    "flow_debug": {"session": "nowhere"},
    "time_travel": {"action": "replay", "query": "ledger"},
    "semantic_diff": {"at": "v1.2"},
    "predictive_preload": {"prompt": "x", "when": "now"},
    "agent_dev_env": {"action": "start"},
}


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A data home in which a session has failed and mended it."""
    rig = Rig(tmp_path_factory.mktemp("thinking") / "data")
    yield rig
    rig.daemon.stop()


@pytest.fixture(scope="module")
def server(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpClient]:
    """A server in the session's project."""
    folder = tmp_path_factory.mktemp("work")
    made = Session(folder, "s1", folder).ask("Fix the crash of the parser").read()
    made.run("cargo test", "error: no rule for <eof>", failed=True).edit().run("cargo test").say()
    with mcp_client.connected(rig.home.root, folder, "s2") as client:
        rig.daemon.start()
        said = {"paths": [str(made.path)], "cwd": str(folder), "wait": False}
        assert rig.daemon.ask("backfill", said, 300.0)["files"] == 1
        yield client


@pytest.mark.parametrize("name", list(GOOD))
def test_each_tool_answers_and_refuses(server: McpClient, name: str) -> None:
    """What is wrong is told with what to do; nothing in an answer looks like a tag."""
    told = server.call(name, **GOOD[name])
    assert told["told"]
    assert "<eof>" not in json.dumps(told)
    assert server.error(name, **WRONG[name])


def test_what_changes_something_shows_it_first(server: McpClient) -> None:
    """A plan is kept only where that is said."""
    assert server.call("temporal_planner", action="add", task="Paint it")["dry_run"]
    assert server.call("temporal_planner")["tasks"] == []
    server.call("temporal_planner", action="add", task="Paint it", dry_run=False)
    assert len(server.call("temporal_planner")["tasks"]) == 1


def test_changed_code_is_run_anew(rig: Rig, tmp_path: Path) -> None:
    """In a data home of its own, until it is stopped; a folder without code is refused."""
    shutil.copytree(mcp_client.LIB, tmp_path / "lib", ignore=shutil.ignore_patterns("__pycache__"))
    asked = {"cwd": str(tmp_path), "path": "."}
    told = rig.daemon.ask("agent_dev_env", {**asked, "action": "start"})
    try:
        inner = DaemonClient(Home(told["home"]))
        first = rig.until(inner.running, "a daemon of the checkout")["pid"]
        (tmp_path / "lib" / "vector_memory" / "new.py").write_text("")
        rig.until(lambda: rig.daemon.ask("agent_dev_env", {})["reloads"], "a reload")
        assert rig.until(inner.running, "a new daemon")["pid"] != first
    finally:
        assert not rig.daemon.ask("agent_dev_env", {"action": "stop"})["running"]
    assert inner.running() is None
    with pytest.raises(BadInputError, match="no checkout"):
        rig.daemon.ask("agent_dev_env", {**asked, "path": "lib", "action": "start"})


def test_any_tool_is_called_from_a_shell(
    rig: Rig, server: McpClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With words or JSON; a mistyped name brings those that look like it."""
    from vector_memory.cli.main import main

    monkeypatch.setenv("VECTOR_MEMORY_HOME", rig.home.root)
    monkeypatch.chdir(server.folder)
    monkeypatch.delenv("CLAUDECODE", raising=False)

    def say(*words: str) -> tuple[int, str, str]:
        code = main(["tool", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    code, out, _ = say("workflow_author", "text=First lint, then commit")
    assert (code, "    text: Lint" in out, "3 steps" in out) == (0, True, False)
    code, out, _ = say("flow_debug", "--json", '{"session": "s1"}')
    assert json.loads(out)["mermaid"].startswith("flowchart TD")
    code, _, err = say("self_asess")
    assert (code, "self_assess" in err) == (1, True)
    for wrong in (
        ["self_assess", "--json", "[1]"],
        ["self_assess", "--json", "{"],
        ["self_assess", "task"],
    ):
        assert say(*wrong)[0] == 1
    assert "micro_swarm" in say()[1]
    listed = json.loads(say("--json", "{}")[1])["tools"]
    assert "micro_swarm" in [one["name"] for one in listed]
