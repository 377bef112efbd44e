"""In the real client, the model calls the memory's tools, and reads their results in its next request."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from e2e.harness import story
from e2e.harness.api import ScriptedApi
from e2e.harness.client import Client
from e2e.harness.install import Installation
from e2e.harness.reply import Call
from e2e.harness.request import Request

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
