"""The plugin as the client installs it: from a local marketplace, and never written into."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.harness import bundle, story
from e2e.harness.client import Client
from e2e.harness.install import Installation
from e2e.harness.story import QUESTION

pytestmark = pytest.mark.e2e


def test_the_plugin_works_from_a_marketplace(
    client: Client, installed: Installation, tmp_path: Path
) -> None:
    """Added as a local marketplace and installed from it, it remembers and recalls; the client's
    copy and the source stay as they were."""
    source = bundle.contents(installed.plugin)
    for arguments in (
        ("marketplace", "add", str(installed.plugin)),
        ("install", "vector-memory@vector-memory"),
    ):
        done = client.command("plugin", *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    (copy,) = {path.parent.parent for path in client.config.rglob("cache/**/hooks/run")}
    before = bundle.contents(copy)
    project = tmp_path / "ledger"
    first = client.session(story.PROMPT, cwd=project, replies=[story.ANSWER])
    story.assert_unharmed(first)
    installed.settle(1)
    second = client.session(QUESTION, cwd=project)
    story.assert_unharmed(second)
    assert story.mentions(second.main[0]) == 1
    assert bundle.contents(copy) == before
    assert bundle.contents(installed.plugin) == source


def test_the_plugin_is_never_written_into(
    client: Client, installed: Installation, tmp_path: Path
) -> None:
    """Sessions, skills and the command line leave the plugin's folder as it was."""
    before = bundle.contents(installed.plugin)
    decided = story.decide(client, installed, tmp_path / "ledger")
    client.session("/memory-stats", cwd=decided.project, plugin=installed.plugin)
    installed.cli("recall", QUESTION, "--project", str(decided.project))
    installed.cli("daemon", "stop")
    assert bundle.contents(installed.plugin) == before
