"""Wired twice, an event is answered once, with a daemon and without."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.harness import fake_daemon, hook
from e2e.harness.hook import Stdin
from e2e.harness.install import SETTLE_S, Installation

pytestmark = pytest.mark.e2e

FACT = "The ledger's database is SQLite in WAL mode"
TIMES = 5
"""So often both ask a daemon. A busy machine may keep them from their deadline, and then they ask until one is told;
twice told is never excused."""
QUESTION = "Which database does the ledger have: SQLite in WAL mode?"


@pytest.fixture
def left_alone(installed: Installation, tmp_path: Path) -> Iterator[Path]:
    """A data home with a memory whose daemon ended and cannot be started again."""
    project = tmp_path / "project"
    project.mkdir()
    installed.cli("remember", FACT, "--kind", "decision", "--project", str(project))
    # A start leaves the snapshot that later ones without a daemon are served from.
    begun = hook.run(
        "session_start",
        Stdin(start(project)),
        installed.home,
        installed.plugin,
        CLAUDE_PROJECT_DIR=str(project),
    )
    assert FACT in begun.context
    with installed.no_daemon():
        yield project


def start(project: Path) -> bytes:
    """Return stdin of a session's start in the project."""
    return hook.payload("session_start", cwd=str(project), session_id="first")


@pytest.mark.parametrize("state", ["absent", "stale"])
@pytest.mark.parametrize("event", ["session_start", "user_prompt_submit"])
def test_one_of_two_equal_hooks_answers(
    event: str, state: str, left_alone: Path, installed: Installation
) -> None:
    """Of two hooks with the same bytes at the same moment exactly one prints, and what it prints
    is the memory."""
    if state == "stale":
        fake_daemon.leave_stale(installed.home / "run" / "daemon.sock")
    told: list[str] = []
    end = time.monotonic() + SETTLE_S
    while not told and time.monotonic() < end:
        told = both_told(event, left_alone, installed, os.urandom(4).hex())
        assert len(told) <= 1
    assert told and FACT in told[0]


@pytest.mark.parametrize("event", ["session_start", "user_prompt_submit"])
def test_the_daemon_answers_one_of_two_equal_hooks(
    event: str, installed: Installation, tmp_path: Path
) -> None:
    """With a daemon, too, exactly one of two equal hooks prints, each time anew."""
    project = tmp_path / "project"
    project.mkdir()
    installed.cli("remember", FACT, "--kind", "decision", "--project", str(project))
    told: list[str] = []
    times, end = 0, time.monotonic() + SETTLE_S
    while times < TIMES or (not told and time.monotonic() < end):
        now = both_told(event, project, installed, f"session {times}")
        assert len(now) <= 1
        told += now
        times += 1
    assert FACT in "".join(told)


def both_told(event: str, project: Path, installed: Installation, session: str) -> list[str]:
    """Run two equal hooks at once and return what they printed."""
    data = Stdin(hook.payload(event, prompt=QUESTION, cwd=str(project), session_id=session))
    folder = str(project)
    both = [
        hook.start(event, data, installed.home, installed.plugin, CLAUDE_PROJECT_DIR=folder)
        for _ in range(2)
    ]
    outcomes = [one.wait() for one in both]
    for outcome in outcomes:
        outcome.assert_polite()
    return [outcome.context for outcome in outcomes if outcome.out]
