"""What hooks count when no daemon answers them: a word each in a file, taken by the next daemon."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from service_house import ServiceHouse, door

from vector_memory.client import exchange
from vector_memory.service.upkeep import stats

ROOT = Path(__file__).resolve().parents[3]


def run(home: str, event: str, stdin: bytes) -> bytes:
    """Run a hook in a process of its own, without a daemon; return what it prints."""
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'lib')!r})\n"
    code += "from vector_memory.client import hook, fallback\n"
    code += f"hook.main({event!r}, {home!r})"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], input=stdin, capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def counted(house: ServiceHouse) -> dict[str, int]:
    """Return the counters of hooks, as `stats` shows them."""
    found = door(house.ctx, "stats", {})["counters"]
    return {name: n for name, n in found.items() if name in stats.HOOKS_COUNTED}


def test_hooks_without_a_daemon_are_counted(house: ServiceHouse, tmp_path: Path) -> None:
    """Which helped themselves from files, too; nothing is counted twice."""
    home = house.ctx.home.root
    event = json.dumps({"session_id": "s1", "cwd": str(tmp_path), "transcript_path": "/t"})
    for _ in range(2):
        run(home, "Stop", event.encode())
    assert counted(house) == {"hooks_without_daemon": 2}
    assert counted(house) == {"hooks_without_daemon": 2}
    assert not os.path.exists(os.path.join(house.ctx.home.run, stats.HOOKS_FILE))


def test_a_first_start_is_no_failure(house: ServiceHouse, tmp_path: Path) -> None:
    """Where no daemon came in time and none has left anything yet, there is nothing to say, and nothing is wrong."""
    event = json.dumps({"session_id": "s1", "cwd": str(tmp_path), "source": "startup"})
    assert run(house.ctx.home.root, "SessionStart", event.encode()) == b""
    assert counted(house) == {"hooks_without_daemon": 1}


def _no_file_grows() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize(("limit", "counts"), [(None, {"hooks_late": 1}), (_no_file_grows, {})])
def test_a_missed_deadline_is_counted(
    house: ServiceHouse, limit: Callable[[], None] | None, counts: dict[str, int]
) -> None:
    """The hook ends in silence, and the next daemon knows, unless it may not be written down."""
    home = house.ctx.home
    interpreter = Path(home.root, "runtime", "hook-python")
    interpreter.parent.mkdir(exist_ok=True)
    # What the system does to a hook whose alarm rings.
    interpreter.write_text("#!/bin/sh\nkill -s ALRM $$\n")
    interpreter.chmod(0o700)
    done = subprocess.run(
        ["sh", str(ROOT / "hooks" / "run"), "user_prompt_submit"],
        env={**os.environ, "VECTOR_MEMORY_HOME": home.root},
        input=b"{}", capture_output=True, timeout=60, preexec_fn=limit,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert counted(house) == counts


def test_a_failure_is_counted(house: ServiceHouse) -> None:
    """Input that is no JSON, where no daemon is there to read it."""
    assert run(house.ctx.home.root, "Stop", b"nonsense") == b""
    assert counted(house) == {"hooks_without_daemon": 1, "hooks_failed": 1}


def test_what_a_daemon_left_is_taken_up(house: ServiceHouse) -> None:
    """One that was killed between taking the file and counting; strange words are not counted."""
    taken = Path(house.ctx.home.run, stats.HOOKS_FILE + ".taken")
    taken.write_text("hooks_late\nhooks_late\nwhatever\n\xff\n")
    exchange.note(house.ctx.home.root, b"hooks_failed")
    assert counted(house) == {"hooks_late": 2}
    assert counted(house) == {"hooks_late": 2, "hooks_failed": 1}


def test_the_file_does_not_grow_for_ever(house: ServiceHouse) -> None:
    """Where no daemon ever takes it."""
    path = Path(house.ctx.home.run, stats.HOOKS_FILE)
    path.write_bytes(b"hooks_late\n" * (exchange.COUNTS_BYTES // 11 + 1))
    size = path.stat().st_size
    exchange.note(house.ctx.home.root, b"hooks_late")
    assert path.stat().st_size == size


def test_without_a_home_nothing_is_made(tmp_path: Path) -> None:
    """Counting never fails a hook."""
    exchange.note(str(tmp_path / "nowhere"), b"hooks_late")
    assert not (tmp_path / "nowhere").exists()
