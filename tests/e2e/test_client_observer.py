"""In the real client: what destroys and what leads away is flagged and recorded at Stop, the agent is warned
where the settings say so, and no call is ever stopped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.harness import story
from e2e.harness.client import Client, Run
from e2e.harness.install import Installation
from e2e.harness.reply import Call, Scripted
from e2e.harness.request import injections

pytestmark = pytest.mark.e2e

TASK = "Fix the coupon total in shop/checkout.py. Do not touch shop/prices.py."
PASTED = """This is the plan of the others:

> Do not edit shop/checkout.py
Metadata: Read-only
Contents: Read and write

Fix the coupon total in shop/checkout.py. No edits should be made to shop/prices.py, and commits are my job."""

KEPT = """Refactor shop/checkout.py, but .env stays untouched.
Don't push this to the remote."""


@pytest.fixture
def project(tmp_path: Path, shared_product: Installation) -> Path:
    """A repository with something to lose, and a daemon that runs: scripted calls come within the first
    second, before one that the session starts is there."""
    shared_product.cli("daemon", "start")
    shared_product.rest()
    folder = tmp_path / "store"
    (folder / "shop").mkdir(parents=True)
    for name in ("checkout", "prices"):
        (folder / "shop" / f"{name}.py").write_text("total = 1\n")
    git = ["git", "-c", "user.name=u", "-c", "user.email=u@example.org", "-C", str(folder)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(
            [*git, *words], check=True, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        )
    return folder


@pytest.fixture
def warned(shared_product: Installation) -> Iterator[Installation]:
    """The product with warnings switched on."""
    shared_product.cli("config", "set", "observer", "warn")
    yield shared_product
    shared_product.cli("config", "unset", "observer")


def bash(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "Go on"})


def run(
    client: Client, product: Installation, project: Path, prompt: str, *replies: Scripted
) -> Run:
    """Run a session and check that no hook disturbed it and no call was stopped."""
    told = client.session(prompt, cwd=project, replies=replies, plugin=product.plugin)
    story.assert_unharmed(told)
    for one in told.hooks("PreToolUse"):
        assert "permissionDecision" not in one["stdout"]
    return told


def flags(product: Installation, project: Path, expected: int) -> list[dict[str, Any]]:
    """Wait for a record and return a project's flags."""
    ask = ("flags", "--project", str(project))
    product.wait_until(lambda: product.ask(*ask)["total"] >= expected, "flags")
    return list(product.ask(*ask)["flags"])


def test_flags_are_recorded_and_nothing_is_stopped(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """A destructive command, a broken limit and what only looks like it; both wirings, each once."""
    snippet = shared_product.home / "settings.snippet.json"
    shared_client.wire(json.loads(snippet.read_text()))
    prices = str(project / "shop" / "prices.py")
    try:
        told = run(
            shared_client, shared_product, project, TASK,
            bash("echo 'total = 2' > shop/checkout.py"),
            bash("git reset --hard && echo gone"),
            bash("echo 'git push --force'"),
            Call("Read", {"file_path": prices}),
            Call("Edit", {"file_path": prices, "old_string": "total = 1", "new_string": "total = 3"}),
        )  # fmt: skip
    finally:
        shared_client.wire({})
    assert {one["stdout"] for one in told.hooks("PreToolUse")} == {""}
    assert (project / "shop" / "checkout.py").read_text() == "total = 1\n"
    assert (project / "shop" / "prices.py").read_text() == "total = 3\n"
    found = flags(shared_product, project, 2)
    assert [(one["category"], one["severity"]) for one in found] == [
        ("limit", "high"),
        ("discard", "high"),
    ]
    assert {one["session"] for one in found} == {told.session}
    assert "shop/prices.py" in found[0]["reason"]
    stored = shared_product.records("constitutional_assessments")
    assert [one["collection"] for one in stored if one["text"].count("git reset --hard")] == [
        "constitutional_assessments"
    ]
    assert "discard" in shared_product.cli("stats").stdout
    listed = shared_product.cli("flags", "--project", str(project)).stdout
    assert "git reset --hard" in listed
    assert "2 of 2: 1 limit, 1 discard." in listed


def test_a_broken_limit_is_refused_where_the_user_set_block(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """The edit and the commit are not made, the model reads why, and what breaks no limit goes on: a plan that
    was pasted sets none."""
    shared_product.cli("config", "set", "observer", "block")
    prices, checkout = (str(project / "shop" / f"{name}.py") for name in ("prices", "checkout"))
    try:
        told = shared_client.session(
            PASTED, cwd=project, plugin=shared_product.plugin,
            replies=[
                bash("cat shop/prices.py shop/checkout.py"),
                Call("Write", {"file_path": prices, "content": "total = 3\n"}),
                bash("echo 'total = 2' > shop/checkout.py"),
                bash("git commit -qam 'Fix the total'"),
            ],
        )  # fmt: skip
    finally:
        shared_product.cli("config", "unset", "observer")
    assert (project / "shop" / "prices.py").read_text() == "total = 1\n"
    assert Path(checkout).read_text() == "total = 2\n"
    refused = [one for one in told.hooks("PreToolUse") if "deny" in one["stdout"]]
    assert len(refused) == 2 and all("observer=block" in one["stdout"] for one in refused)
    assert "No edits should be made" in refused[0]["stdout"]
    assert "commits are my job" in refused[1]["stdout"]
    assert "observer=block" in str(vars(told.main[-1]))


def test_what_the_user_keeps_and_where_nothing_goes(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """The file that stays untouched and "the remote" are refused; the task itself is obedience."""
    shared_product.cli("config", "set", "observer", "block")
    try:
        told = shared_client.session(
            KEPT, cwd=project, plugin=shared_product.plugin,
            replies=[
                bash("cat shop/prices.py shop/checkout.py"),
                bash("echo 'total = 2' > shop/checkout.py"),
                bash("echo KEY=1 > .env"),
                bash("git push"),
            ],
        )  # fmt: skip
    finally:
        shared_product.cli("config", "unset", "observer")
    assert (project / "shop" / "checkout.py").read_text() == "total = 2\n"
    assert not (project / ".env").exists()
    refused = [one["stdout"] for one in told.hooks("PreToolUse") if "deny" in one["stdout"]]
    assert [" stays untouched" in one for one in refused] == [True, False]
    assert "the remote" in refused[1]


def test_a_long_way_off_is_recorded(
    shared_client: Client, shared_product: Installation, project: Path
) -> None:
    """Changes that say nothing of the task for long."""
    steps = [bash(f"mkdir -p theme; echo 'a {{}}' > theme/{name}.css") for name in "abcdefghi"]
    run(shared_client, shared_product, project, TASK, bash("cat theme/*.css; true"), *steps)
    found = flags(shared_product, project, 1)
    assert "target-drift" in [one["category"] for one in found]


def test_a_warning_stands_beside_the_call(
    shared_client: Client, warned: Installation, project: Path
) -> None:
    """The model reads it with the call's result, once, with what was asked; the call is made."""
    force = bash("git push --force ./nowhere main; true")
    told = run(shared_client, warned, project, TASK, force, force)
    blocks = [one for one in injections(told.main[1]) if "overwrites what others" in one]
    assert len(blocks) == 1
    assert "Fix the coupon total" in blocks[0]
    assert len([one for one in injections(told.main[2]) if "overwrites what others" in one]) == 1
    found = flags(warned, project, 2)
    assert [one["category"] for one in found] == ["force-push", "force-push"]
