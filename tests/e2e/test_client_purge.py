"""What the real client's session said is purged by the real command: no byte of it stays, no later
session is told, and the client's own transcript does not bring it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from e2e.harness import story
from e2e.harness.client import Client
from e2e.harness.install import Installation
from e2e.harness.story import FACT, QUESTION

pytestmark = pytest.mark.e2e


def holding(folder: Path, words: str) -> list[str]:
    """Return the files of a data home that hold words; programs and models are links or code."""
    wanted = [words.encode(), words.lower().encode(), words.encode("utf-16-le")]
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file()
        and not {"app", "runtime", "models", "pycache"} & set(path.relative_to(folder).parts)
        and any(one in path.read_bytes() for one in wanted)
    ]


def test_a_purged_fact_is_gone_and_stays_gone(
    client: Client, installed: Installation, tmp_path: Path
) -> None:
    """It is found in files before; afterwards in none, neither after a backfill nor after a restart."""
    decided = story.decide(client, installed, tmp_path / "ledger")
    client.session("Thank you, that is all.", cwd=decided.project, plugin=installed.plugin)
    assert holding(installed.home, FACT)
    refused = installed.cli("purge", "--text", FACT, check=False)
    assert refused.returncode == 1
    assert "--yes" in refused.stderr
    assert holding(installed.home, FACT)
    done = installed.ask("purge", "--text", FACT.lower(), "--yes")
    assert done["purged"] > 0
    assert (done["left"], done["errors"]) == ([], [])
    (transcript,) = done["sources"]
    assert FACT in Path(transcript).read_text()
    assert holding(installed.home, FACT) == []
    installed.cli("backfill", str(Path(transcript).parent))
    run = client.session(QUESTION, cwd=decided.project, plugin=installed.plugin)
    story.assert_unharmed(run)
    assert story.mentions(run.main[0]) == 0
    installed.cli("daemon", "stop")
    assert holding(installed.home, FACT) == []
    log = installed.ask("audit", "--verify")
    assert log["intact"]
    assert "purge" in {entry["action"] for entry in log["entries"]}
    assert {"user", "hook"} <= {entry["actor"] for entry in log["entries"]}
    assert FACT.lower() not in json.dumps(log).lower()
    assert "hooks were answered" in installed.cli("stats").stdout
