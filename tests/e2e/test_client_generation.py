"""The real client as a language model for recall: one turn, nothing loaded, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.harness.api import ScriptedApi
from e2e.harness.client import Client

from vector_memory.config import Settings
from vector_memory.generate.client import Headless

pytestmark = pytest.mark.e2e


def test_the_client_writes_and_leaves_nothing(
    api: ScriptedApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers what the model says; no tool is offered, no hook of the user's runs, no session is
    kept."""
    client = Client(api, tmp_path, tmp_path / "data")
    ran = tmp_path / "ran"
    hook = {"type": "command", "command": f"touch {ran}"}
    client.wire({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}})
    for name, value in client.environment().items():
        monkeypatch.setenv(name, value)
    mark = api.mark()
    said = Headless(Settings(), str(client.binary)).complete("Rank these.", 100, 60.0)
    # Without tools it is no session of its own to the scripted model, which answers with a title.
    assert "A session" in said
    asked = api.since(mark)
    assert any("Rank these." in str(one.body) for one in asked)
    assert not any(one.body.get("tools") for one in asked)
    assert not ran.exists()
    assert not list(client.config.glob("projects/*/*.jsonl"))
