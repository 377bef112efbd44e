"""`daemon stop` ends the daemon in time, whatever it is at; nothing is lost, and the next one goes on."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemon_rig import Rig
from integration.service.capture.test_backfill_daemon import (
    SESSIONS,
    TURNS,
    exchanges,
    fill,
    sessions,
    stored,
)
from processes import children_of, command_of, gone, holds, state_of, zombies_of

from vector_memory import errors
from vector_memory.client import link
from vector_memory.client.link import DaemonClient
from vector_memory.client.spool import write_spool
from vector_memory.system.paths import PACKAGE_ROOT

__all__ = ["sessions"]

TEXTS = 200
"""So many that a process of their own embeds them, and is at it when the daemon is told to stop."""
HANGING = """
import sys
sys.path.insert(0, {lib!r})
from vector_memory.daemon import app, keeper, main
{patch}
sys.exit(main.main({root!r}))
"""


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A daemon's home; whatever runs there is ended."""
    made = Rig(tmp_path / "d")
    yield made
    with contextlib.suppress(errors.DaemonUnavailableError):
        made.daemon.stop()


def backlog(rig: Rig, folder: Path) -> int:
    """Have many texts wait for their vectors; return the process that embeds them."""
    path = folder / "texts.jsonl"
    lines = [{"text": f"Note {n}: " + f"part {n} of the ledger. " * 3} for n in range(TEXTS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    rig.state("full")
    request = {"path": str(path), "global": True, "wait": False, "verbatim": True}
    assert dict(rig.daemon.stream("import", request, 60))["answer"]["stored"] == TEXTS
    pid = rig.daemon.start()["pid"]
    own = command_of(pid)

    def begun() -> list[int]:
        return [child for child in children_of(pid) if command_of(child) not in ("", own)]

    return int(rig.until(begun, "the embedding process")[0])


@contextlib.contextmanager
def patched(rig: Rig, patch: str) -> Iterator[int]:
    """Run a daemon of which something is replaced; yield its process id."""
    lib = os.path.dirname(PACKAGE_ROOT)
    program = HANGING.format(lib=lib, root=rig.home.root, patch=patch)
    with open(os.path.join(rig.home.logs, "daemon.out"), "wb") as out:
        process = subprocess.Popen([sys.executable, "-I", "-c", program], stderr=out)
    try:
        rig.until(rig.daemon.running, "the daemon")
        yield process.pid
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("child", ["works", "hangs"])
def test_while_a_backlog_is_embedded(rig: Rig, tmp_path: Path, child: str) -> None:
    """It ends with the process that embeds, be that hung or not; the next daemon embeds the rest."""
    rig.daemon.start()
    embedding = backlog(rig, tmp_path)
    if child == "hangs":
        os.kill(embedding, signal.SIGSTOP)
    pid = rig.daemon.start()["pid"]
    assert rig.daemon.stop()
    assert gone(pid)
    assert gone(embedding)
    if child == "works":
        assert dict(rig.daemon.stream("wait", {"timeout_s": 120}, 130))["answer"]["complete"]
        assert rig.daemon.ask("stats", {})["memories"] == TEXTS


def test_while_transcripts_are_read(rig: Rig, sessions: Path) -> None:
    """A backfill that is cut off says so, its process is gone, and the same command brings the rest."""
    pid = rig.daemon.start()["pid"]
    request = {"paths": [str(sessions)], "cwd": "/", "wait": False}
    replies = rig.daemon.stream("backfill", request, 60)
    with pytest.raises(errors.DaemonUnavailableError, match="told to stop") as caught:
        for kind, body in replies:
            if kind == "progress" and body["done"]:
                readers = children_of(pid)
                assert DaemonClient(rig.home).stop()
    assert "what was done so far stays" in caught.value.hint
    assert readers
    assert all(gone(one) for one in (pid, *readers))
    before = stored(rig.daemon)
    assert 0 < len(exchanges(before)) < SESSIONS * TURNS
    fill(rig.daemon, sessions)
    assert len(exchanges(stored(rig.daemon))) == SESSIONS * TURNS


def test_while_turns_wait_to_be_read(rig: Rig, sessions: Path) -> None:
    """Events that were acknowledged stay in the spool, and the next daemon reads them."""
    paths = sorted(sessions.iterdir())[:40]
    for path in paths:
        data = {"session_id": path.stem, "transcript_path": str(path)}
        write_spool(rig.home, "SessionEnd", data, str(sessions))
    rig.daemon.start()
    rig.until(lambda: len(os.listdir(rig.home.spool)) < len(paths), "the first event")
    assert rig.daemon.stop()
    assert len(os.listdir(rig.home.spool)) > 0
    rig.daemon.start()
    rig.until(lambda: not os.listdir(rig.home.spool), "the last event")
    assert len(exchanges(stored(rig.daemon))) == len(paths) * TURNS


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(
            "from vector_memory.service.capture import link_ideas; link_ideas.weave = lambda *_: time.sleep(600)",
            id="weaving",
        ),
        pytest.param("keeper.follow_once = lambda *_: time.sleep(600)", id="following"),
        pytest.param("keeper.Keeper._finish_some = lambda _: time.sleep(600)", id="topics"),
        pytest.param("keeper.Keeper._tidy_one = lambda *_: time.sleep(600)", id="optimising"),
        pytest.param("app.App._begin = lambda _: time.sleep(600)", id="indexing"),
    ],
)
def test_while_a_job_hangs(rig: Rig, job: str) -> None:
    """Whichever job never ends, the daemon does, and what was acknowledged is there."""
    patch = f"import time; {job}\nkeeper.TIDY_AFTER_S = 0.0\nmain.CLOSE_S = 0.5"
    with patched(rig, patch) as pid:
        rig.daemon.ask("remember", {"text": "The ledger uses WAL mode", "global": True})
        assert rig.daemon.stop()
        assert gone(pid)
    assert rig.daemon.ask("stats", {})["memories"] == 1


def test_a_job_over_its_budget_ends_the_daemon(rig: Rig) -> None:
    """A thread cannot be killed, its process can: the next one starts afresh."""
    patch = "import time; app.App._begin = lambda _: time.sleep(600)\n"
    patch += "app.HUNG_S = 0.5\nmain.CLOSE_S = 0.1"
    with patched(rig, patch) as pid:
        assert gone(pid)
    assert "its indexer hangs" in Path(rig.home.logs, "daemon.log").read_text()


def test_a_daemon_that_cannot_move_ends_itself(rig: Rig) -> None:
    """A regular expression that never ends holds the interpreter's lock: the system ends the daemon,
    which says where it was, and the next one answers."""
    spin = 're.match(r"(a+)+$", "a" * 60 + "b")'
    patch = f"import re; app.App._begin = lambda _: {spin}\nmain.HUNG_S = 4.0"
    lib = os.path.dirname(PACKAGE_ROOT)
    program = HANGING.format(lib=lib, root=rig.home.root, patch=patch)
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], stderr=subprocess.PIPE, timeout=60, check=False
    )
    assert done.returncode == 1
    assert b"Timeout" in done.stderr
    assert rig.daemon.start()["pid"]


def test_one_whose_program_is_gone_ends(rig: Rig, tmp_path: Path) -> None:
    """It could import nothing more, and would answer with errors; the next one is of the program that is there."""
    copy = tmp_path / "plugin" / "lib"
    shutil.copytree(Path(PACKAGE_ROOT), copy / "vector_memory")
    program = HANGING.format(lib=str(copy), root=rig.home.root, patch="")
    process = subprocess.Popen([sys.executable, "-I", "-c", program])
    try:
        rig.until(rig.daemon.running, "the daemon")
        shutil.rmtree(tmp_path / "plugin")
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert rig.daemon.start()["pid"] != process.pid
    assert "its program is gone" in Path(rig.home.logs, "daemon.log").read_text()


def test_one_that_does_not_answer_is_killed(rig: Rig) -> None:
    """Stopped by a signal it hears nothing; what it had acknowledged is there."""
    rig.daemon.ask("remember", {"text": "The ledger uses WAL mode", "global": True})
    pid = rig.daemon.start()["pid"]
    os.kill(pid, signal.SIGSTOP)
    assert rig.daemon.stop(0.5)
    assert gone(pid)
    assert not rig.daemon.stop(0.5)
    assert rig.daemon.ask("stats", {})["memories"] == 1


def test_one_that_goes_on_does_what_it_was_asked_once(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who waited no longer is told that it may still be done, and stores nothing twice by asking again; one that is
    killed meanwhile is followed by one that does it."""
    text = {"text": "The ledger is closed on Fridays", "global": True}
    pid = rig.daemon.start()["pid"]
    monkeypatch.setattr(link, "SILENCE_S", 0.2)
    monkeypatch.setattr(link, "SIGN_OF_LIFE_S", 0.2)
    os.kill(pid, signal.SIGSTOP)
    for _ in range(2):
        with pytest.raises(errors.DaemonUnavailableError, match="may still be done"):
            rig.daemon.ask("remember", text)
    monkeypatch.setattr(link, "SILENCE_S", 60.0)
    os.kill(pid, signal.SIGCONT)
    rig.daemon.ask("remember", text)
    assert rig.daemon.ask("stats", {})["memories"] == 1
    os.kill(pid, signal.SIGSTOP)
    killer = threading.Timer(1.0, os.kill, (pid, signal.SIGKILL))
    killer.start()
    rig.daemon.ask("remember", {"text": "The ledger opens on Mondays", "global": True})
    killer.join()
    assert rig.daemon.ask("stats", {})["memories"] == 2


def test_who_asks_while_it_ends_is_answered_by_the_next(rig: Rig) -> None:
    """Clients that come at any moment of a daemon's end never see it."""
    rig.daemon.start()
    problems: list[Exception] = []
    answers: list[str] = []

    def ask(number: int) -> None:
        try:
            request = {"text": f"Note {number} of the ledger", "global": True, "verbatim": True}
            answers.append(DaemonClient(rig.home).ask("remember", request)["id"])
        except errors.VectorMemoryError as error:
            problems.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for number, thread in enumerate(threads):
        thread.start()
        if number in (3, 7):
            rig.daemon.stop()
    for thread in threads:
        thread.join(60)
    assert problems == []
    assert rig.daemon.ask("stats", {})["memories"] == len(set(answers)) == len(threads)


def test_one_that_is_still_opening_its_stores_is_no_missing_one(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large store takes a while to be brought up to date after an update: whoever asks is told to wait."""
    monkeypatch.setattr(link, "START_WAIT_S", 0.2)
    rig.home.make()
    with open(rig.home.lock, "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(errors.DaemonUnavailableError, match="does not answer yet"):
            rig.daemon.ask("status", {})


def test_while_it_starts(rig: Rig) -> None:
    """Stopped again and again before it has loaded anything."""
    for _ in range(3):
        pid = rig.daemon.start()["pid"]
        assert rig.daemon.stop()
        assert gone(pid)


def test_a_terminated_daemon_leaves_no_child(rig: Rig, tmp_path: Path) -> None:
    """SIGTERM and SIGKILL in the middle of embedding: no process is left, no zombie meanwhile."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        pid = rig.daemon.start()["pid"]
        folder = tmp_path / number.name
        folder.mkdir()
        embedding = backlog_again(rig, folder)
        assert zombies_of(pid) == []
        os.kill(pid, number)
        assert gone(pid)
        assert gone(embedding)


def backlog_again(rig: Rig, folder: Path) -> int:
    """A backlog of other texts."""
    path = folder / "texts.jsonl"
    lines = [{"text": f"{folder.name} {n}: " + "entries of books. " * 3} for n in range(TEXTS)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    rig.state("full")
    request = {"path": str(path), "global": True, "wait": False, "verbatim": True}
    dict(rig.daemon.stream("import", request, 60))
    pid = rig.daemon.start()["pid"]
    return int(rig.until(lambda: children_of(pid), "the embedding process")[0])


def test_eight_clients_at_once_in_every_state(rig: Rig) -> None:
    """A stale lock and socket, a daemon that is just ending, one that was killed: eight clients make
    one daemon each time."""

    def start_together() -> set[int]:
        pids: list[Any] = []
        threads = [
            threading.Thread(target=lambda: pids.append(DaemonClient(rig.home).start(25)["pid"]))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(pids) == 8
        return set(pids)

    Path(rig.home.lock).write_text("99999999\n")
    Path(rig.home.socket).touch()
    (first,) = start_together()
    os.kill(first, signal.SIGKILL)
    (second,) = start_together()
    with contextlib.suppress(errors.DaemonUnavailableError):
        rig.daemon.ask("stop", {}, start=False)
    last = start_together()
    # Who asked while it was ending may still have been answered by it.
    (third,) = last - {second}
    assert gone(second)
    assert holds(lambda: daemons(rig) == [third])


def daemons(rig: Rig) -> list[int]:
    """Return the processes that run a daemon of this data home."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
            if rig.home.root.encode() in words and state_of(int(name)):
                found.append(int(name))
    return found
