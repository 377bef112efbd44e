"""A store through the MCP server while the daemon dies or stands still: nothing is lost, nothing is doubled,
and nobody waits for long."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import mcp_client
import pytest
from daemon_rig import Rig
from mcp_client import McpClient
from processes import gone

from vector_memory import errors
from vector_memory.system.paths import PACKAGE_ROOT

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

DYING = """
import os, signal, sys
sys.path.insert(0, {lib!r})
from vector_memory.daemon import main, server
answered = server.Reply.json
def dying(reply, status, data):
    if isinstance(data, dict) and {told!r} in data:
        os.kill(os.getpid(), signal.SIGKILL)
    answered(reply, status, data)
server.Reply.json = dying
sys.exit(main.main({root!r}))
"""


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A data home; whatever daemon runs there is ended."""
    made = Rig(tmp_path / "d")
    yield made
    with contextlib.suppress(errors.DaemonUnavailableError):
        made.daemon.stop()


@pytest.fixture
def server(rig: Rig, tmp_path: Path) -> Iterator[McpClient]:
    """A server of one session."""
    folder = tmp_path / "ledger"
    folder.mkdir()
    with mcp_client.connected(rig.home.root, folder, "s1") as client:
        yield client


@contextlib.contextmanager
def dying(rig: Rig, told: str) -> Iterator[None]:
    """Run a daemon that is killed when it has done all, and is about to send an answer that has a field of
    this name; the next one is the ordinary one."""
    program = DYING.format(lib=os.path.dirname(PACKAGE_ROOT), root=rig.home.root, told=told)
    process = subprocess.Popen([sys.executable, "-I", "-c", program])
    try:
        rig.until(rig.daemon.running, "the daemon")
        yield
        assert process.wait(10) == -signal.SIGKILL
    finally:
        process.kill()
        process.wait()


def texts(server: McpClient) -> list[str]:
    """Return the words of all memories of the session's project."""
    return [one["text"] for one in server.call("list_memories", limit=100)["memories"]]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("memory_store", {"text": "Herons fish at dawn."}),
        ("memory_store", {"text": "Herons fish at dawn.", "priority": "CORE"}),
        ("learning", {"action": "store", "text": "Herons fish at dawn."}),
    ],
    ids=["plain", "proposed", "learning"],
)
def test_killed_between_storing_and_answering(
    rig: Rig, server: McpClient, tool: str, arguments: dict[str, Any]
) -> None:
    """The next daemon is asked for the same memory: it is there once, and told as stored."""
    with dying(rig, "redactions"):
        told = server.call(tool, **arguments)
    assert told["status"] == ("proposed" if "priority" in arguments else "stored")
    there = rig.daemon.ask("list", {"all_projects": True})["memories"]
    assert [one["text"] for one in there] == ["Herons fish at dawn."]


def test_killed_while_one_takes_the_place_of_another(rig: Rig, server: McpClient) -> None:
    """The older one has given way once."""
    old = server.call("memory_store", text="Herons fish at dawn.")["memory"]["id"]
    rig.daemon.stop()
    with dying(rig, "redactions"):
        told = server.call("memory_store", text="Herons fish at dusk.", supersedes=old)
    assert told["status"] == "replaced"
    assert texts(server) == ["Herons fish at dusk."]
    chain = server.call("memory_provenance", id=told["memory"]["id"])["history"]
    assert [one["id"] for one in chain] == [old, told["memory"]["id"]]


def test_killed_while_one_gets_other_words(rig: Rig, server: McpClient) -> None:
    """They take the place of the old ones once, and other tags are put on."""
    old = server.call("memory_store", text="Herons fish at dawn.")["memory"]["id"]
    rig.daemon.stop()
    with dying(rig, "was"):
        told = server.call("update_memory", id=old, text="Herons fish at dusk.")
    assert told["status"] == "updated" and told["memory"]["text"] == "Herons fish at dusk."
    chain = server.call("memory_provenance", id=told["memory"]["id"])["history"]
    assert [one["id"] for one in chain] == [old, told["memory"]["id"]]
    rig.daemon.stop()
    with dying(rig, "was"):
        told = server.call("update_memory", id=told["memory"]["id"], tags="herons")
    assert told["memory"]["tags"] == ["herons"]
    assert texts(server) == ["Herons fish at dusk."]


def test_killed_while_a_note_is_written(rig: Rig, server: McpClient) -> None:
    """A key has one note."""
    with dying(rig, "notes"):
        server.call("memory_scratch", action="set", key="heron", text="At dawn.")
    (note,) = server.call("memory_scratch", action="list")["notes"]
    assert note["text"] == "At dawn."


def test_killed_again_and_again(rig: Rig, server: McpClient) -> None:
    """At any moment of a store: each is acknowledged, and there once."""
    chance, stored = random.Random(5), {}
    for number in range(12):
        text = f"Heron number {number} nests in tree {number * 7}, branch {number * 11}."
        status = rig.daemon.running()
        killer = threading.Timer(
            chance.uniform(0, 0.06), kill, [status["pid"] if status else rig.daemon.start()["pid"]]
        )
        killer.start()
        stored[text] = server.call("memory_store", text=text, kind="decision")["memory"]["id"]
        killer.join()
    there = {one["text"]: one["id"] for one in server.call("list_memories", limit=100)["memories"]}
    assert there == stored
    assert len(texts(server)) == len(stored)


def kill(pid: int) -> None:
    """Kill a daemon that may have ended by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_a_stopped_daemon_is_told_of(rig: Rig, server: McpClient) -> None:
    """With what to do; and where it goes on, all goes on."""
    pid = rig.daemon.start()["pid"]
    server.call("memory_store", text="Herons fish at dawn.")
    os.kill(pid, signal.SIGSTOP)
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("memory_recall", {"query": "herons"}),
        ("memory_store", {"text": "Herons sleep at noon."}),
        ("memory_consolidate", {}),
    )
    try:
        # Each takes as long as one is patient: all at once.
        with ThreadPoolExecutor() as pool:
            for told in pool.map(lambda call: server.error(call[0], **call[1]), calls):
                assert "answers nobody" in told and "vector-memory daemon stop" in told
    finally:
        os.kill(pid, signal.SIGCONT)
    assert "Herons fish at dawn." in texts(server)
    # What it was told while it stood still it may do now: saying it again stores nothing twice.
    server.call("memory_store", text="Herons sleep at noon.")
    assert sorted(texts(server)) == ["Herons fish at dawn.", "Herons sleep at noon."]


def test_a_stopped_daemon_is_ended_as_the_error_says(rig: Rig, server: McpClient) -> None:
    """And the next call has another one."""
    server.call("memory_store", text="Herons fish at dawn.")
    pid = rig.daemon.start()["pid"]
    os.kill(pid, signal.SIGSTOP)
    assert rig.daemon.stop(1.0)
    assert gone(pid)
    assert texts(server) == ["Herons fish at dawn."]


def test_a_memory_that_is_asked_for_twice_is_one(rig: Rig) -> None:
    """By the id that the client chose, whatever came between; an id is nothing else than one."""
    asked = {"text": "Herons fish at dawn.", "id": "ab" * 16, "global": True}
    for action in ("stored", "unchanged"):
        told = rig.daemon.ask("remember", asked)
        assert (told["action"], told["id"]) == (action, asked["id"])
    for id in ("ab", "AB" * 16, "../" * 11, 5):
        with pytest.raises(errors.BadInputError, match="32 hexadecimal digits"):
            rig.daemon.ask("remember", {**asked, "id": id})
