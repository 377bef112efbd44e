"""Child processes end with their parent and at the end of their budget, whatever they are at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import gone

from vector_memory.index.cursor import Cursor
from vector_memory.index.reader import TurnRead
from vector_memory.service.capture import reading_process
from vector_memory.service.capture.read_session import ReadRequest
from vector_memory.service.capture.reading_process import ReadingProcess
from vector_memory.service.capture.reading_worker import READ_S, reading_s
from vector_memory.system import children
from vector_memory.system.children import Child
from vector_memory.system.paths import PACKAGE_ROOT

WORKER = """
import os, re, sys, time
from vector_memory.system import children
from vector_memory.system.children import read_frame, write_frame

def main():
    requests, answers = children.begin()
    while (request := read_frame(requests)) is not None:
        children.allow(0.2 if request != b"free" else 0)
        if request == b"sleep":
            time.sleep(600)
        if request in (b"spin", b"free"):
            # Never lets go of the interpreter's lock.
            re.match(r"(a+)+$", "a" * 60 + "b")
        write_frame(answers, request)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module whose child does what it is told, good or bad."""
    (tmp_path / "odd_worker.py").write_text(WORKER)
    start = children.START.replace(
        "sys.argv[1])", f"sys.argv[1])\nsys.path.append({str(tmp_path)!r})"
    )
    monkeypatch.setattr(children, "START", start)
    return "odd_worker"


@contextmanager
def running(module: str) -> Iterator[Child]:
    """A child for a block."""
    child = Child(module)
    try:
        yield child
    finally:
        child.end()


def test_frames_of_any_size_go_there_and_back(module: str) -> None:
    """More than a pipe holds is taken piece by piece."""
    with running(module) as child:
        for content in (b"", b"x", b"y" * 3_000_000):
            assert child.send(content, 60)
            assert child.receive(60) == content
    assert child.exit_code is not None


def test_work_over_its_budget_is_ended_by_the_system(module: str) -> None:
    """A regular expression that never ends holds the interpreter's lock: the system ends it."""
    with running(module) as child:
        assert child.send(b"spin", 60)
        assert child.receive(60) is None
        assert gone(child.pid)
        assert child.exit_code == -signal.SIGPROF


def test_who_hangs_is_given_up(module: str) -> None:
    """A child that sleeps costs no processor time; its parent waits no longer than it said, for an
    answer or for room in the pipe."""
    with running(module) as child:
        assert child.send(b"sleep", 60)
        assert child.receive(0.05) is None
        assert child.exit_code is None
        assert not child.send(b"z" * 3_000_000, 0.05)
    assert gone(child.pid)


@pytest.mark.parametrize("work", [b"sleep", b"free", b"done"])
def test_ending_does_not_wait_for_work(module: str, work: bytes) -> None:
    """Whatever it is at, nobody wants it any more."""
    with running(module) as child:
        assert child.send(work, 60)
    assert child.exit_code is not None


@pytest.mark.parametrize("work", ["sleep", "spin", "done"])
def test_a_child_never_outlives_its_parent(module: str, work: str, tmp_path: Path) -> None:
    """kill -9 of the parent: the child goes, too, also in the middle of its work."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from vector_memory.system import children\n"
        f"children.START = {children.START!r}\n"
        f"child = children.Child({module!r})\n"
        f"assert child.send({work.encode()!r}, 60)\n"
        "print(child.pid, flush=True)\n"
        "child.receive(600)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", program, os.path.dirname(PACKAGE_ROOT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.kill()
    assert gone(child)


def test_a_child_looks_for_its_parent_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the pipe does not tell, another parent's id does."""
    ended: list[int] = []
    monkeypatch.setattr(children, "PARENT_S", 0.01)
    monkeypatch.setattr(os, "_exit", ended.append)
    reader, writer = os.pipe()
    with os.fdopen(reader) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        children._end_with_parent(os.getppid() + 1)
    os.close(writer)
    assert ended == [0]


def test_a_reading_that_hangs_is_an_error_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is reported, its process is gone, and another one reads the others."""
    asks = []
    for number in range(3):
        path = tmp_path / f"s{number}.jsonl"
        # The second takes long enough for its process to be stopped in the middle of it.
        path.write_text('{"type": "progress"}\n' * (200_000 if number == 1 else 0))
        asks.append(ReadRequest(str(path)))
    pids, patience = set(), reading_process.PATIENCE
    with ReadingProcess() as process:
        found = []
        for ask, made in process.read_all(asks):
            pids.add(process.pid)
            found.append((ask, made))
            if ask is asks[0]:
                assert process.pid is not None
                os.kill(process.pid, signal.SIGSTOP)
                # It is waited for in vain, the others as long as they need.
                monkeypatch.setattr(reading_process, "PATIENCE", 0.01)
            elif ask is asks[1]:
                monkeypatch.setattr(reading_process, "PATIENCE", patience)
    assert [ask for ask, _ in found] == asks
    assert [isinstance(made, TurnRead) for _, made in found] == [True, False, True]
    assert "too long" in str(found[1][1])
    assert all(gone(pid) for pid in pids if pid is not None)


def test_a_larger_file_may_take_longer(tmp_path: Path) -> None:
    """The budget grows with what is left to read; a file that is gone has the least."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"x" * 1_000_000)
    whole = reading_s(ReadRequest(str(path)))
    rest = reading_s(ReadRequest(str(path), Cursor(offset=900_000)))
    assert whole > rest > READ_S
    assert reading_s(ReadRequest(str(tmp_path / "none"))) == READ_S
