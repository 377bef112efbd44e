"""Tools about who may do what, called by the SDK's client: with what is right, and with what is missing or wrong. What
only the user does is refused to a model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import mcp_client
import pytest
from daemon_rig import Rig
from mcp_client import McpClient

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A data home with a key, a contract, a pack, and a project that is shared."""
    root = tmp_path_factory.mktemp("governing")
    rig = Rig(root / "data")
    rig.daemon.start()
    yield rig
    rig.daemon.stop()


@pytest.fixture(scope="module")
def server(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpClient]:
    """A server in a shared project."""
    folder = tmp_path_factory.mktemp("heronry")
    here = {"cwd": str(folder)}
    (folder / "team").mkdir()
    rig.daemon.ask(
        "remember", {**here, "text": "Run the linter first.", "collection": "procedures"}
    )
    rig.daemon.ask(
        "contract", {**here, "action": "create", "name": "no pushes", "ceiling": "confidential"}
    )
    rig.daemon.ask(
        "pack", {**here, "action": "publish", "path": str(folder / "pack"), "name": "linting"}
    )
    rig.daemon.ask("share_init", {**here, "to": f"file://{folder}/team", "name": "ann"})
    with mcp_client.connected(rig.home.root, folder) as client:
        yield client


@pytest.mark.parametrize(
    ("tool", "given", "there"),
    [
        ("constitutional_contract", {}, "contracts"),
        ("constitutional_contract", {"action": "check", "act": "share"}, "allowed"),
        ("governance_report", {"framework": "owasp"}, "markdown"),
        ("governance_gap_analysis", {"framework": "aiact"}, "gaps"),
        ("compliance_dashboard", {}, "frameworks"),
        ("agent_identity", {}, "keys"),
        ("agent_identity", {"action": "cbom"}, "cbom"),
        ("agent_identity", {"action": "check", "token": "a.b"}, "problem"),
        ("nhi_lifecycle", {"action": "review"}, "actors"),
        ("parl_coordinator", {"action": "acquire", "name": "src/x", "session": "s1"}, "granted"),
        ("parl_coordinator", {}, "leases"),
        ("bft_consensus", {}, "votes"),
        ("bft_consensus", {
            "action": "propose", "question": "Ship it?", "options": ["yes", "no"], "voters": "a,b,c,d",
        }, "votes"),
        ("agent_marketplace", {"path": "pack"}, "texts"),
        ("federation", {}, "members"),
        ("federation", {"action": "preview"}, "preview"),
        ("federation", {"action": "pull"}, "refused"),
        ("data_sovereignty", {}, "kept"),
        ("guardrail_proof", {}, "root"),
    ],
)  # fmt: skip
def test_what_is_right(server: McpClient, tool: str, given: dict[str, Any], there: str) -> None:
    """The answer has what was asked for."""
    assert server.call(tool, **given)[there] is not None


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("constitutional_contract", {"action": "create", "name": "mine"}, "Only the user"),
        ("constitutional_contract", {"ceiling": "secret"}, "ceiling must be"),
        ("governance_report", {"framework": "iso9001"}, "framework must be"),
        ("governance_report", {"since": "the day of the heron"}, "no date"),
        ("governance_gap_analysis", {"framework": 5}, "framework must be"),
        ("compliance_dashboard", {"since": "the day of the heron"}, "no date"),
        ("agent_identity", {"action": "rotate"}, "Only the user"),
        ("agent_identity", {"action": "create"}, "Only the user"),
        ("agent_identity", {"action": "sign", "text": "Herons."}, "Only the user"),
        ("agent_identity", {"action": "delegate", "subject": "x"}, "Only the user"),
        ("agent_identity", {"action": "check"}, "token is empty"),
        ("agent_identity", {"action": "verify", "key": "vmk1-x", "text": "y"}, "no public key"),
        ("nhi_lifecycle", {"action": "terminate", "id": "x"}, "Only the user"),
        ("parl_coordinator", {"action": "acquire"}, "name is missing"),
        ("a2a_protocol", {"action": "create", "name": "me"}, "Only the user"),
        ("a2a_protocol", {"action": "verify"}, "card"),
        ("bft_consensus", {"action": "propose", "question": "Ship it?", "options": "yes,no", "voters": "a,b,c"}, "4 to 50"),
        ("bft_consensus", {"action": "vote", "id": "none", "voter": "a", "choice": "yes"}, "There is no"),
        ("agent_marketplace", {}, "path is missing"),
        ("agent_marketplace", {"path": "nowhere"}, "holds no pack: No such file or directory."),
        ("agent_marketplace", {"action": "install", "path": "pack"}, "Only the user"),
        ("federation", {"action": "publish"}, "action must be"),
        ("federation", {"project": "/nowhere/at/all"}, "There is no folder"),
        ("data_sovereignty", {"ids": ["0123456789ab"], "sensitivity": "public"}, "There is no memory"),
        ("data_sovereignty", {"sensitivity": "secret"}, "sensitivity must be"),
        ("guardrail_proof", {"entry": 0}, "entry must be"),
        ("guardrail_proof", {"entry": 99999}, "entry"),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong(
    server: McpClient, tool: str, given: dict[str, Any], why: str
) -> None:
    """It is said what, and what to do."""
    assert why in server.error(tool, **given)


def test_every_tool_names_what_does_not_fit(server: McpClient) -> None:
    """Of all tools: an argument that it has not, one of another sort, and one that must be there and is not."""
    for name, tool in server.tools().items():
        assert "no argument 'heron'" in server.error(name, heron=1), name
        fields = tool.input_schema["properties"]
        field = next(iter(fields), None)
        if field is not None:
            assert field in server.error(name, **{field: {"a": 1}}), name
        for needed in tool.input_schema.get("required", ()):
            assert "missing" in server.error(name), (name, needed)


def test_a_card_is_checked(rig: Rig, server: McpClient) -> None:
    """One that the user made holds; changed in one field it does not."""
    asked = {
        "action": "create",
        "name": "Heronry",
        "url": "https://heron.invalid",
        "skill": ["lint"],
    }
    card = rig.daemon.ask("card", asked)["card"]
    told = server.call("a2a_protocol", action="verify", card=json.dumps(card))
    assert told["valid"]
    for name in card:
        if isinstance(card[name], str):
            changed = json.dumps({**card, name: card[name] + "x"})
            assert not server.call("a2a_protocol", action="verify", card=changed)["valid"]


def test_what_others_wrote_is_told_as_theirs(server: McpClient) -> None:
    """A pack's words can do nothing but be read."""
    told = server.call("agent_marketplace", path="pack")
    assert told["signed"] and "linter" in json.dumps(told["texts"])
