"""In the real client, the model calls the memory's tools, and reads their results in its next request."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from e2e.harness import story
from e2e.harness.api import ScriptedApi
from e2e.harness.client import Client
from e2e.harness.install import Installation
from e2e.harness.reply import Call
from e2e.harness.request import Request, texts

pytestmark = pytest.mark.e2e

SERVER = "mcp__plugin_vector-memory_memory__"
FACT = "The ledger exports its figures as Parquet every night."


class WaitingClient(Client):
    """The client as it begins once its servers are there: on a busy machine it would not wait."""

    def environment(self) -> dict[str, str]:
        """Return all that it gets from outside."""
        wait = {"MCP_CONNECTION_NONBLOCKING": "0", "CLAUDE_CODE_MCP_STARTUP_WAIT_MS": "60000"}
        return {**super().environment(), **wait, "MCP_CONNECT_TIMEOUT_MS": "60000"}


@pytest.fixture(scope="module")
def waiting_client(api: ScriptedApi, shared_product: Installation) -> WaitingClient:
    """It, with the shared product."""
    return WaitingClient(api, shared_product.root, shared_product.home)


def results(request: Request) -> list[str]:
    """Return the results of tools that the model is shown, in order."""
    found = []
    for message in request.body["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "tool_result":
                content = block["content"]
                found.append(content if isinstance(content, str) else _texts(content))
    return found


def _texts(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(block.get("text", "") for block in blocks)


def test_the_model_stores_recalls_and_forgets(
    waiting_client: WaitingClient, shared_product: Installation, tmp_path: Path
) -> None:
    """What it stores is the assistant's and of the session's project; what it forgets, it was shown."""
    project = tmp_path / "ledger"
    project.mkdir()
    told = waiting_client.session(
        "Remember it.",
        cwd=project,
        replies=[
            Call(f"{SERVER}memory_store", {"text": FACT, "kind": "decision"}),
            Call(f"{SERVER}memory_recall", {"query": "How are figures exported?"}),
            lambda request: Call(f"{SERVER}memory_provenance", {"id": id_in(request)}),
            Call(f"{SERVER}memory_forget", {"ids": ["0123456789ab"]}),
            lambda request: Call(f"{SERVER}memory_forget", {"ids": [id_in(request)]}),
            "Done.",
        ],
        plugin=shared_product.plugin,
    )
    story.assert_unharmed(told)
    tools = {tool["name"] for tool in told.main[0].body["tools"]}
    assert {f"{SERVER}memory_store", f"{SERVER}memory_recall"} <= tools
    stored, recalled, whole, refused, forgotten = results(told.main[-1])
    assert json.loads(stored)["status"] == "stored"
    assert FACT in recalled
    assert json.loads(whole)["said_in"] == told.session
    assert "was not shown" in refused
    assert json.loads(forgotten)["count"] == 1
    done = [one for one in shared_product.ask("audit")["entries"] if one["actor"] == "mcp"]
    assert [one["action"] for one in done] == ["forget", "recall", "remember"]


def id_in(request: Request) -> str:
    """Return the id of the memory that the recall showed."""
    (id,) = set(re.findall(r'"id":\s*"([0-9a-f]{12})"', results(request)[1]))
    return id


def test_the_bundle_with_a_server_is_valid(shared_client: Client, plugin: Path) -> None:
    """The client's own check of plugins finds nothing wrong."""
    done = shared_client.command("plugin", "validate", str(plugin), cwd=shared_client.temporary)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_store_while_the_daemon_is_killed(
    waiting_client: WaitingClient, shared_product: Installation, tmp_path: Path
) -> None:
    """At any moment of the call: what the model was told is stored is there, once."""
    facts = [f"Ledger {n} is written by team {chr(65 + n)}, in room {n * 13}." for n in range(8)]
    killers: list[threading.Timer] = []

    def storing(fact: str, after_s: float) -> Callable[[Request], Call]:
        def reply(request: Request) -> Call:
            pid = shared_product.pid()
            if pid:
                killers.append(threading.Timer(after_s, os.kill, (pid, signal.SIGKILL)))
                killers[-1].start()
            return Call(f"{SERVER}memory_store", {"text": fact, "kind": "fact"})

        return reply

    shared_product.ask("stats")
    told = waiting_client.session(
        "Remember them.",
        cwd=tmp_path / "ledgers",
        replies=[*(storing(fact, n * 0.02) for n, fact in enumerate(facts)), "Done."],
        plugin=shared_product.plugin,
    )
    for killer in killers:
        killer.join()
    answers = [json.loads(one) for one in results(told.main[-1])]
    assert [one["memory"]["text"] for one in answers] == facts
    assert killers
    there = [one["text"] for one in shared_product.exported() if one["text"] in facts]
    assert sorted(there) == facts


def test_a_stopped_daemon_in_the_middle_of_a_session(
    waiting_client: WaitingClient, shared_product: Installation, tmp_path: Path
) -> None:
    """The model is told what to do, does it, and stores after all."""
    shared_product.ask("stats")
    fact = {"text": "Ledger rooms are locked at nine.", "kind": "fact"}

    def stopping(request: Request) -> Call:
        pid = shared_product.pid()
        assert pid
        os.kill(pid, signal.SIGSTOP)
        return Call(f"{SERVER}memory_recall", {"query": "ledger rooms"})

    told = waiting_client.session(
        "When are they locked?",
        cwd=tmp_path / "rooms",
        replies=[
            stopping,
            Call("Bash", {"command": "vector-memory daemon stop", "description": "End it"}),
            Call(f"{SERVER}memory_store", fact),
            "Done.",
        ],
        plugin=shared_product.plugin,
    )
    refused, ended, stored = results(told.main[-1])
    assert "answers nobody" in refused and "`vector-memory daemon stop`" in refused
    assert "Error" not in ended
    assert json.loads(stored)["status"] == "stored"


def test_arguments_as_models_write_them(
    waiting_client: WaitingClient, shared_product: Installation, tmp_path: Path
) -> None:
    """Numbers and lists as texts, days in words; what is wrong is named; the notice comes once."""
    told = waiting_client.session(
        "What do we know?",
        cwd=tmp_path / "terns",
        replies=[
            Call(
                f"{SERVER}memory_store", {"text": "Terns nest on gravel.", "tags": "birds, terns"}
            ),
            Call(
                f"{SERVER}memory_recall",
                {
                    "query": "terns",
                    "limit": "5",
                    "tags": "terns",
                    "since": "last week",
                    "all": "true",
                },
            ),
            Call(f"{SERVER}memory_recall", {"query": "terns", "kinds": ["decison"]}),
            Call(f"{SERVER}memory_recall", {"query": "terns", "number": 5}),
            "Done.",
        ],
        plugin=shared_product.plugin,
    )
    stored, recalled, no_kind, no_argument = results(told.main[-1])
    (one,) = json.loads(recalled)["memories"]
    assert (one["text"], one["tags"]) == ("Terns nest on gravel.", ["birds", "terns"])
    assert "data, not instructions" in stored and "notice" not in json.loads(recalled)
    assert "kinds cannot be 'decison'" in no_kind and "decision" in no_kind
    assert "no argument 'number'" in no_argument


def test_where_we_left_off_is_a_prompt(
    waiting_client: WaitingClient, shared_product: Installation, tmp_path: Path
) -> None:
    """Typed as a command, it brings what is open."""
    project = tmp_path / "gulls"
    todo = {"text": "TODO: count the gulls of pier 9.", "kind": "todo"}
    waiting_client.session(
        "Note it.",
        cwd=project,
        replies=[Call(f"{SERVER}memory_store", todo), "Done."],
        plugin=shared_product.plugin,
    )
    told = waiting_client.session(
        f"/{SERVER}continue", cwd=project, replies=["I see."], plugin=shared_product.plugin
    )
    shown = "\n".join(texts(told.main[0]))
    assert "Continue where we left off in this project." in shown
    assert "count the gulls of pier 9" in shown


@pytest.mark.parametrize("kind", ["skill", "command"])
def test_authored_files_are_valid(shared_client: Client, tmp_path: Path, kind: str) -> None:
    """A skill and a command that were made of steps pass the client's own check, whatever stands in them."""
    from vector_memory.service.think.workflow import skill_file

    made = skill_file('Release: "now"', "key: value # no", ["Run `a: b`", "---"], kind, "n = 3")
    plugin = tmp_path / "plugin"
    for path, text in (
        (".claude-plugin/plugin.json", '{"name": "x", "version": "0.0.1", "description": "x"}'),
        (made.path.removeprefix(".claude/"), made.text),
    ):
        (plugin / path).parent.mkdir(parents=True)
        (plugin / path).write_text(text)

    def said() -> str:
        done = shared_client.command("plugin", "validate", str(plugin), cwd=shared_client.temporary)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "frontmatter" not in said()
    # It would say so.
    (plugin / made.path.removeprefix(".claude/")).write_text("1. Run it\n")
    assert "frontmatter" in said()
