"""What a set-up shows while it runs and when it fails."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from vector_memory.errors import SetupError
from vector_memory.setup import steps
from vector_memory.setup.commands import CommandError, tail
from vector_memory.setup.steps import SetupStep


def fail() -> str:
    """Fail as a program does."""
    raise CommandError("Could not fly (exit 2).", "Grow wings.", "no wings\nfell")


def test_each_step_is_one_numbered_line() -> None:
    """Steps are numbered, say what they did, and how long it took."""
    out = io.StringIO()
    said = steps.run([SetupStep("One", lambda: "a"), SetupStep("Two", lambda: "b\nmore")], out)
    assert said == ["a", "b\nmore"]
    shown = re.sub(r"\d+\.\d s", "N s", out.getvalue())
    assert shown == "[1/2] One … a, N s\n[2/2] Two … b, N s\n      more\n"


def test_a_failed_step_ends_it() -> None:
    """What comes after a failed step does not run, and the error reaches the caller."""
    ran: list[str] = []
    out = io.StringIO()

    def run_later() -> str:
        ran.append("later")
        return "later"

    later = SetupStep("Later", run_later)
    with pytest.raises(SetupError, match="Could not fly"):
        steps.run([SetupStep("Flying", fail), later], out)
    assert "[1/2] Flying … failed after" in out.getvalue()
    assert not ran


def test_a_report_says_what_to_do(tmp_path: Path) -> None:
    """The report has the program's last words, what failed, what to do, and where the log is, if there is one."""
    log = tmp_path / "setup.log"
    out = io.StringIO()
    with pytest.raises(CommandError) as caught:
        fail()
    steps.report(caught.value, str(log), out)
    told = ["    no wings", "    fell", "Could not fly (exit 2).", "What to do: Grow wings."]
    assert out.getvalue().splitlines() == told
    log.touch()
    steps.report(caught.value, str(log), out)
    assert out.getvalue().splitlines() == [*told, *told, f"Log: {log}"]


def test_a_tail_leaves_empty_lines_out() -> None:
    """Only the last lines that say something are shown."""
    assert tail("a\n\nb\n \nc\n", lines=2) == "b\nc"
