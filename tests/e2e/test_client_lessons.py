"""In the real client: what three sessions went through changes what the fourth starts with, what its prompt
is told, and what comes with its failures."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.harness import story
from e2e.harness.client import Client, Run
from e2e.harness.install import Installation
from e2e.harness.reply import Call, Scripted

pytestmark = pytest.mark.e2e

SCRIPT = """[ "$MODE" = full ] || { echo "error: the MODE of the check is not set" >&2; exit 3; }
test -f greeting.txt || { echo "error: greeting.txt is missing from the folder" >&2; exit 4; }
echo passed
"""
WRONG, RIGHT = "sh check.sh", "MODE=full sh check.sh"
PROMPT = "Fix the broken greeting of the parser."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose check needs to be called in its own way."""
    folder = tmp_path / "greeter"
    folder.mkdir()
    (folder / "check.sh").write_text(SCRIPT)
    return folder


def bash(command: str) -> Call:
    """Return a call of the shell."""
    return Call("Bash", {"command": command, "description": "Go on"})


def run(
    client: Client, product: Installation, project: Path, prompt: str, *replies: Scripted
) -> Run:
    """Run a session and check that no hook disturbed it."""
    told = client.session(prompt, cwd=project, replies=replies, plugin=product.plugin)
    story.assert_unharmed(told)
    return told


def learned(product: Installation, project: Path) -> int:
    """Return how many tasks were learned from in a project."""
    return int(product.ask("lessons", "--project", str(project))["tasks"]["tasks"])


def test_what_was_gone_through_comes_back(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """The start tells the usual trouble, and a known failure its fix; that what was edited is checked then is no
    news."""
    write = Call("Write", {"file_path": str(project / "greeting.txt"), "content": "hello\n"})
    for number in range(3):
        steps = (write, bash(WRONG), bash(RIGHT), bash(f"cd . && {RIGHT}"), "It is fixed.")
        first = run(shared_client, shared_product, project, PROMPT, *steps)
        (project / "greeting.txt").unlink()
        shared_product.wait_until(
            lambda want=number + 1: learned(shared_product, project) == want, "the lesson"
        )
        if number == 0:
            assert story.recalled(first.main[0], "steps worked") == []

    told = run(
        shared_client, shared_product, project, "Fix the greeting of the parser, it is empty now.",
        bash(WRONG), bash(RIGHT),
    )  # fmt: skip
    (start,) = story.recalled(told.main[0], "self-assessment · greeter")
    assert (
        "`sh check.sh` fails: \u27e6tool: the MODE of the check is not set\u27e7 (in 3 of 3 tasks"
        in start
    )
    assert f"→ ran `{RIGHT}` instead" in start
    assert story.recalled(told.main[0], "steps worked") == []
    (fix,) = story.recalled(told.main[1], "ERROR ⟦tool: the MODE of the check is not set")
    assert f"ran `{RIGHT}` instead" in fix

    shown = shared_product.cli("lessons", "--project", str(project)).stdout
    assert "Steps that worked:" in shown
    assert len(shown.splitlines()) <= 24
