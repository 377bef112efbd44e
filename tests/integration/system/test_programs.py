"""A program that is asked once ends in time, with all that it started, also when its daemon is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from processes import gone

from vector_memory.system import programs
from vector_memory.system.paths import PACKAGE_ROOT
from vector_memory.system.programs import run


def _run(program: str, timeout_s: float = 60.0) -> subprocess.CompletedProcess[bytes]:
    return run(["/bin/sh", "-c", program], b"given", timeout_s, "/", {"PATH": "/usr/bin:/bin"})


def _pids(path: Path, count: int) -> list[int]:
    """Wait until a program has written its processes' ids."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if path.exists() and len(found := path.read_text().split()) == count:
            return [int(one) for one in found]
        time.sleep(0.02)
    raise AssertionError("the program did not start")


def _hanging(pids: Path) -> str:
    """A program that hangs, with another of its own that holds its stdout."""
    return f"sleep 600 & echo $! $$ >{pids}.new; mv {pids}.new {pids}; sleep 600"


def test_what_it_prints_and_its_code_come_back() -> None:
    """stdin goes in, both outputs and the exit code come out, also that of a signal."""
    done = _run("cat; echo oops >&2; exit 3")
    assert (done.stdout, done.stderr, done.returncode) == (b"given", b"oops\n", 3)
    assert _run("kill -9 $$").returncode == 128 + 9


def test_a_program_that_hangs_ends_with_all_that_it_started(tmp_path: Path) -> None:
    """Late, it is killed, and so is a child of it that keeps its output open."""
    pids = tmp_path / "pids"
    with pytest.raises(subprocess.TimeoutExpired):
        _run(_hanging(pids), 2.0)
    assert all(gone(pid) for pid in _pids(pids, 2))


def test_what_it_leaves_in_the_background_goes(tmp_path: Path) -> None:
    """A program that ends leaves nothing running."""
    pids = tmp_path / "pids"
    done = _run(f"sleep 600 >/dev/null 2>&1 & echo $! >{pids}; exit 0")
    assert done.returncode == 0
    assert gone(_pids(pids, 1)[0])


def test_all_are_ended_at_once(tmp_path: Path) -> None:
    """A daemon that ends does not wait for them."""
    pids = tmp_path / "pids"
    errors: list[BaseException] = []

    def ask() -> None:
        with pytest.raises(subprocess.TimeoutExpired) as caught:
            _run(_hanging(pids))
        errors.append(caught.value)

    thread = threading.Thread(target=ask)
    thread.start()
    found = _pids(pids, 2)
    programs.end_all()
    thread.join(30)
    assert len(errors) == 1
    assert all(gone(pid) for pid in found)


def test_it_ends_with_a_killed_parent(tmp_path: Path) -> None:
    """kill -9 of who asked: nothing is left."""
    pids = tmp_path / "pids"
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from vector_memory.system.programs import run\n"
        f"run(['/bin/sh', '-c', {_hanging(pids)!r}], b'', 600, '/', {{'PATH': '/usr/bin:/bin'}})\n"
    )
    command = [sys.executable, "-I", "-c", program, os.path.dirname(PACKAGE_ROOT)]
    with subprocess.Popen(command) as parent:
        found = _pids(pids, 2)
        parent.kill()
    assert all(gone(pid) for pid in found)


def test_a_program_that_cannot_start_is_no_answer() -> None:
    """What is not there has an exit code of its own, and leaves no descriptor open."""
    before = len(os.listdir("/dev/fd"))
    assert run(["/nonexistent"], b"", 5, "/", {}).returncode != 0
    with pytest.raises(OSError, match="nonexistent"):
        run(["/bin/true"], b"", 5, "/nonexistent", {})
    assert len(os.listdir("/dev/fd")) == before
