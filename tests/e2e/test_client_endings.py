"""In the real client, a session that is compacted is told what it was at, and one that ends leaves a
summary, an archive and a section in the daily note."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.harness import story
from e2e.harness.client import Client
from e2e.harness.install import Installation
from e2e.harness.request import injections

pytestmark = pytest.mark.e2e

PROMPT = "Please make the queue of the ledger survive a crash of its worker"
DECIDED = "We will keep each job in a spool file"
ANSWER = (
    f"{DECIDED}, because a file outlives the worker that reads it. The root cause of the lost jobs was "
    "that they lived in memory alone, from the moment they came until they were done. A worker that dies "
    "leaves the file where it is, so that the next worker finds it and does the job again from its "
    "beginning. Each job is tried five times before it is set aside, with a pause that doubles each "
    "time, and what is set aside is listed every morning for somebody to look at. The files are named by "
    "the time they came, so that the oldest job is always the next one. Should files that were set aside "
    "be kept for a week?"
)


def test_a_compacted_session_is_told_of_itself(
    shared_client: Client, shared_product: Installation, tmp_path: Path
) -> None:
    """The request after the compaction has the topic that the session was at: what was decided and
    what was left open."""
    cwd, plugin = tmp_path / "ledger", shared_product.plugin
    first = shared_client.session(PROMPT, cwd=cwd, replies=[ANSWER], plugin=plugin)
    compacted = shared_client.session("/compact", cwd=cwd, plugin=plugin, resume=first.session)
    assert [one for one in compacted.requests if one.is_compaction]
    story.assert_unharmed(compacted)
    started = [one for one in compacted.hooks("SessionStart") if "compact" in one["hook_name"]]
    assert DECIDED in started[0]["stdout"]
    after = shared_client.session("Go on", cwd=cwd, plugin=plugin, resume=first.session)
    told = "\n".join(injections(after.main[0]))
    assert f"Decided: {DECIDED}" in told
    assert "Should files that were set aside be kept for a week?" in told


def test_an_ended_session_leaves_its_summary(
    shared_client: Client, shared_product: Installation, tmp_path: Path
) -> None:
    """As a memory, in the archive, and in the daily note of the folder that the user named."""
    vault = tmp_path / "vault"
    vault.mkdir()
    shared_product.cli("config", "set", "daily_notes", str(vault))
    try:
        run = shared_client.session(
            PROMPT, cwd=tmp_path / "queue", replies=[ANSWER], plugin=shared_product.plugin
        )
        story.assert_unharmed(run)
        shared_product.wait_until(lambda: bool(list(vault.glob("*.md"))), "a daily note")
    finally:
        shared_product.cli("config", "unset", "daily_notes")
    (note,) = vault.glob("*.md")
    assert DECIDED in note.read_text()
    (archive,) = shared_product.home.glob(f"archives/*/*-{run.session}.md")
    assert DECIDED in archive.read_text()
    kinds = [one["kind"] for one in shared_product.exported() if DECIDED in one["text"]]
    assert {"exchange", "topic", "summary"} <= set(kinds)
    tree = shared_product.cli("topics", run.session).stdout
    assert "Make the queue of the ledger survive" in tree and DECIDED in tree
