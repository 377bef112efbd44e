"""In the real client, an error that one session mended brings its fix to the next session that meets
it: with the failure itself, once, in its own project."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from e2e.harness import story
from e2e.harness.client import Client, Run
from e2e.harness.install import Installation
from e2e.harness.reply import Call, Scripted

pytestmark = pytest.mark.e2e

SCRIPT = """test -f app.conf || { echo "error: the setting 'listen_port' is missing in app.conf" >&2; exit 3; }
echo started
"""
FIX = "echo listen_port=8080 > app.conf"
CAUSE = "The problem is that the configuration was never generated."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose script fails until it is configured."""
    folder = tmp_path / "server"
    folder.mkdir()
    (folder / "start.sh").write_text(SCRIPT)
    return folder


def run(client: Client, product: Installation, project: Path, *replies: Scripted) -> Run:
    """Run a session and check that no hook disturbed it."""
    told = client.session("Begin.", cwd=project, replies=replies, plugin=product.plugin)
    story.assert_unharmed(told)
    return told


def bash(command: str) -> Call:
    """Return a call of the shell."""
    return Call("Bash", {"command": command, "description": "Go on"})


def learn(client: Client, product: Installation, project: Path) -> None:
    """Let a session fail, mend it and succeed; wait until that is remembered."""
    steps = (bash("sh start.sh"), bash(FIX), bash("sh start.sh"), CAUSE)
    told = run(client, product, project, *steps)
    assert [one["stdout"] for one in told.hooks("PostToolUseFailure")] == [""]
    product.wait_until(lambda: bool(fixes(product, project)), "the fix")
    (project / "app.conf").unlink()


def fixes(product: Installation, project: Path) -> list[dict[str, object]]:
    """Return what is stored of errors in a project."""
    found = product.ask("list", "--project", str(project))["memories"]
    return [one for one in found if one["collection"] == "episodes"]


def test_the_next_failure_brings_the_fix(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """The model reads the fix right after the failure, dated and sourced, and only once."""
    learn(shared_client, shared_product, project)
    steps = (bash("cd . && sh start.sh 2>&1"), bash("sh start.sh"))
    told = run(shared_client, shared_product, project, *steps)
    first, second = told.hooks("PostToolUseFailure")
    assert (bool(first["stdout"]), second["stdout"]) == (True, "")
    assert FIX not in "\n".join(story.recalled(told.main[0]))
    (block,) = story.recalled(told.main[1], FIX)
    assert "the setting 'listen_port' is missing in app.conf" in block
    assert re.search(r"20\d\d-\d\d-\d\d · solution · server", block)
    assert len(story.recalled(told.main[2], FIX)) == 1


def test_a_fix_that_worked_is_believed_more(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """The transcript of the session that was told says that it helped."""
    learn(shared_client, shared_product, project)
    steps = (bash("sh start.sh"), bash(FIX), bash("sh start.sh"))
    run(shared_client, shared_product, project, *steps)
    shared_product.wait_until(
        lambda: 0.6 in [one["confidence"] for one in fixes(shared_product, project)],
        "the confidence",
    )


def test_both_wirings_bring_it_once(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """With plugin and settings wired, one of the two answers."""
    learn(shared_client, shared_product, project)
    snippet = shared_product.home / "settings.snippet.json"
    shared_client.wire(json.loads(snippet.read_text()))
    try:
        told = run(shared_client, shared_product, project, bash("sh start.sh"))
    finally:
        shared_client.wire({})
    printed = [one["stdout"] for one in told.hooks("PostToolUseFailure")]
    assert len(printed) == 2
    assert len([one for one in printed if one]) == 1
    assert len(story.recalled(told.main[1], FIX)) == 1


def test_another_error_brings_nothing(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """A failure that was never met gets silence."""
    learn(shared_client, shared_product, project)
    told = run(shared_client, shared_product, project, bash("sh nowhere.sh"))
    assert [one["stdout"] for one in told.hooks("PostToolUseFailure")] == [""]


def test_an_error_behind_a_pipe_brings_the_fix(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """The shell's line ends well, so that the client tells of no failure."""
    learn(shared_client, shared_product, project)
    steps = (bash("sh start.sh 2>&1 | tail -1"), bash("ls | tail -1"))
    told = run(shared_client, shared_product, project, *steps)
    assert told.hooks("PostToolUseFailure") == []
    first, second = told.hooks("PostToolUse")
    assert (bool(first["stdout"]), second["stdout"]) == (True, "")
    assert len(story.recalled(told.main[1], FIX)) == 1
