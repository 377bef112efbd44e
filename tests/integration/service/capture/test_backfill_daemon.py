"""A backfill by a real daemon: killed, left and asked for twice, it ends with everything once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from daemon_rig import Rig
from transcript_samples import Talk

from vector_memory import errors, wire
from vector_memory.client.link import DaemonClient
from vector_memory.system.paths import PACKAGE_ROOT

SESSIONS = 80
"""Of which sixteen are stored at once: it is cut off after the first of five such steps."""
TURNS = 4


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A daemon's home; whatever runs there is ended."""
    made = Rig(tmp_path / "d")
    yield made
    with contextlib.suppress(errors.DaemonUnavailableError):
        made.daemon.stop()


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """A folder of transcripts."""
    folder = tmp_path / "projects"
    folder.mkdir()
    for number in range(SESSIONS):
        talk = Talk(f"s{number}")
        for turn in range(TURNS):
            talk.user(f"What does part {turn} of module {number} hold?")
            talk.say(f"Part {turn} of module {number} holds entry {number * turn}. " * 20)
        path = talk.write(folder / f"s{number}.jsonl")
        os.utime(path, (1_700_000_000 + number,) * 2)
    return folder


def fill(daemon: DaemonClient, folder: Path, **more: Any) -> dict[str, Any]:
    """Backfill a folder and return the answer."""
    request = {"paths": [str(folder)], "cwd": "/", "wait": False, **more}
    return dict(daemon.stream("backfill", request, 120))["answer"]


def hook(rig: Rig, event: str, message: dict[str, Any]) -> None:
    """Send what a hook sends, and wait for the answer."""
    body = b"\0" + json.dumps(message).encode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect(rig.home.socket)
        sock.sendall(wire.encode_request(wire.HOOK_VERB + event, body, rig.daemon.version))
        while sock.recv(65_536):
            pass


def stored(daemon: DaemonClient) -> dict[str, str]:
    """Return the texts by external id of what was read, each of which is there once."""
    everything = [one for kind, one in daemon.stream("export", {"all": True}) if kind == "item"]
    found = [one for one in everything if one["external_id"]]
    assert len({one["external_id"] for one in found}) == len(found)
    return {one["external_id"]: one["text"] for one in found}


def exchanges(found: dict[str, str]) -> set[str]:
    """Return the names of the exchanges that have passages."""
    return {name.rpartition(":")[0] for name in found if not name.startswith("idea:")}


def test_killed_in_the_middle(rig: Rig, sessions: Path) -> None:
    """kill -9 while files are read and stored: the next backfill completes it, nothing is double, and
    the process that read has gone with its parent."""
    pid = rig.daemon.start()["pid"]
    request = {"paths": [str(sessions)], "cwd": "/"}
    with pytest.raises(errors.DaemonUnavailableError):
        for kind, body in rig.daemon.stream("backfill", request, 60):
            if kind == "progress" and 0 < body["done"] < SESSIONS:
                os.kill(pid, signal.SIGKILL)
    rig.until(lambda: rig.daemon.running() is None, "the killed daemon's end")
    before = stored(rig.daemon)
    assert 0 < len(exchanges(before)) < SESSIONS * TURNS
    fill(rig.daemon, sessions)
    after = stored(rig.daemon)
    assert len(exchanges(after)) == SESSIONS * TURNS
    assert before.items() <= after.items()
    assert fill(rig.daemon, sessions)["stored"] == 0
    assert rig.daemon.ask("check", {"read_data": True})["ok"]


def test_two_at_once_with_hooks(rig: Rig, sessions: Path) -> None:
    """Two backfills and the hooks of the same sessions at the same moment: each exchange once."""
    rig.daemon.start()
    answers: list[dict[str, Any]] = []
    threads = [
        threading.Thread(target=lambda: answers.append(fill(DaemonClient(rig.home), sessions)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for number in range(0, SESSIONS, 10):
        for event in ("PreCompact", "Stop", "SessionEnd"):
            message = {
                "session_id": f"s{number}",
                "hook_event_name": event,
                "transcript_path": str(sessions / f"s{number}.jsonl"),
                "cwd": "/home/dev/app",
            }
            hook(rig, event, message)
    for thread in threads:
        thread.join(120)
    assert [one["errors"] for one in answers] == [[], []]
    rig.until(lambda: not os.listdir(rig.home.spool), "the hooks' events")
    found = stored(rig.daemon)
    assert len(exchanges(found)) == SESSIONS * TURNS
    assert fill(rig.daemon, sessions)["stored"] == 0
    assert stored(rig.daemon) == found


def test_who_asked_is_interrupted(rig: Rig, sessions: Path, tmp_path: Path) -> None:
    """^C in the command line: it says what holds, the daemon stops reading soon, and the same command
    brings the rest."""
    rig.daemon.start()
    environment = {**os.environ, "VECTOR_MEMORY_HOME": rig.home.root}
    lib = os.path.dirname(PACKAGE_ROOT)
    script = (
        f"import signal, sys; sys.path.insert(0, {lib!r}); "
        # Who runs the tests in the background may have switched ^C off.
        "signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from vector_memory.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "backfill", str(sessions), "--json", "--no-wait"]
    client = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    rig.until(lambda: rig.daemon.ask("stats", {})["memories"], "the first memories")
    client.send_signal(signal.SIGINT)
    _, told = client.communicate(timeout=30)
    assert client.returncode == 130
    assert b"goes on where it was" in told
    done = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=120)
    assert json.loads(done.stdout)["errors"] == []
    assert len(exchanges(stored(rig.daemon))) == SESSIONS * TURNS
    assert fill(rig.daemon, sessions)["stored"] == 0


def test_words_are_found_before_vectors(rig: Rig, sessions: Path) -> None:
    """Without waiting, everything is found by its words as soon as the answer is there."""
    done = fill(rig.daemon, sessions)
    assert done["files"] == SESSIONS
    answer = rig.daemon.ask(
        "recall", {"query": f"part 3 of module {SESSIONS - 1}", "all_projects": True, "k": 3}
    )
    assert f"module {SESSIONS - 1}" in answer["hits"][0]["text"]


def test_ideas_are_found_before_it_ends(rig: Rig, tmp_path: Path) -> None:
    """Who waits for it may begin a session at once: its rules are known."""
    talk = Talk("s")
    talk.user("From now on we always use pnpm here, never npm.")
    talk.say("Noted: pnpm it is, in the scripts and in the pipeline as well.")
    talk.write(tmp_path / "s.jsonl")
    fill(rig.daemon, tmp_path / "s.jsonl", wait=True)
    assert [name for name in stored(rig.daemon) if name.startswith("idea:")]
