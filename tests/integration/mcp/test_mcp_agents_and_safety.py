"""Tools that compare agents and check the memory, called by the SDK's client: with what is right, what is missing
and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mcp_client
import pytest
from daemon_rig import Rig
from mcp_client import McpClient

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
GRAPH = "graph TD\nA[Importer] -->|invoices| B[Ledger]\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpClient]:
    """A server with a daemon of its own, in a folder with a diagram."""
    root = tmp_path_factory.mktemp("safety")
    rig = Rig(root / "data")
    folder = root / "ledger"
    folder.mkdir()
    (folder / "flow.mmd").write_text(GRAPH)
    (folder / "board.png").write_bytes(b"\x89PNG")
    with mcp_client.connected(rig.home.root, folder) as client:
        client.call(
            "memory_store", text="We keep the ledger in SQLite, since readers must not wait."
        )
        yield client
    rig.daemon.stop()


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("task_specialization", {"kind": "fix"}, {"tasks": 0}),
        ("meta_agent", {}, {"judged": 0, "compared": 0}),
        ("formal_verify", {}, {"holds": True}),
        ("formal_verify", {"properties": "supersession-ends"}, {"holds": True}),
        ("digital_twin", {}, {"told": "Nothing was tried: name a scenario."}),
        ("digital_twin", {"settings": "threshold=0.5"}, {"scenario": "settings", "differ": 0}),
        ("red_team", {"action": "trend"}, {"probes": 0, "runs": []}),
        ("multimodal_input", {"path": "flow.mmd"}, {"kind": "diagram", "dry_run": True}),
        ("multimodal_input", {"path": "flow.mmd", "dry_run": False}, {"action": "stored"}),
        ("multimodal_input", {"path": "board.png", "text": "A plan."}, {"kind": "image"}),
    ],
)  # fmt: skip
def test_what_is_right(
    server: McpClient, tool: str, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    """The answer has the shape that its schema says."""
    told = server.call(tool, **given)
    assert expected.items() <= told.items()


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("task_specialization", {"kind": "baking"}, "kind cannot be"),
        ("task_specialization", {"kind": ["x"]}, "kind must be"),
        ("meta_agent", {"least": 1}, "least must be"),
        ("meta_agent", {"since": "the day of the heron"}, "no date"),
        ("formal_verify", {"properties": ["all-is-well"]}, "supersession-ends"),
        ("digital_twin", {"scenario": "baking"}, "scenario must be"),
        ("digital_twin", {"settings": ["capture=false"]}, "NAME=VALUE"),
        ("red_team", {"action": "burn"}, "action must be"),
        ("red_team", {"categories": ["rudeness"]}, "categories must be"),
        ("red_team", {"severity": "mild"}, "severity must be"),
        ("multimodal_input", {}, "path is missing"),
        ("multimodal_input", {"path": "gone.mmd"}, "no file"),
        ("multimodal_input", {"path": "board.png"}, "Give a text"),
        ("multimodal_input", {"path": "flow.mmd", "kind": "smell"}, "kind must be"),
        ("multimodal_input", {"path": "flow.mmd", "colour": "red"}, "no argument"),
    ],
)
def test_what_is_missing_or_wrong(
    server: McpClient, tool: str, given: dict[str, Any], why: str
) -> None:
    """It is said what, and what to do."""
    assert why in server.error(tool, **given)


def test_an_attack_by_deeds(server: McpClient) -> None:
    """A scratch installation is attacked, nothing gets through, and it is told again and in the trend."""
    told = server.call("red_team", action="run", categories=["privilege_escalation"])
    assert not told["findings"] and told["probes"] >= 10
    (one,) = told["categories"].values()
    assert one["held"] == one["probes"]
    again = server.call("red_team", action="report")
    assert again["told"] == told["told"] and len(again["runs"]) == 1
