"""What starts the MCP server: it finds the runtime, or has it set up, and prints nothing of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from processes import gone, holds, state_of

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A plugin whose set-up only leaves a mark and talks."""
    plugin = tmp_path / "the plugin"
    (plugin / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "bin" / "vector-memory-mcp", plugin / "bin")
    setup = plugin / "lib" / "vector_memory" / "setup"
    setup.mkdir(parents=True)
    for name in ("home.sh", "start.sh"):
        shutil.copy(ROOT / "lib" / "vector_memory" / "setup" / name, setup)
    (plugin / "bootstrap.sh").write_text('echo "{}"; echo started >"$VECTOR_MEMORY_HOME/mark"\n')
    return plugin


def start(plugin: Path, home: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the launcher with a client that says nothing."""
    return subprocess.run(
        ["/bin/sh", str(plugin / "bin" / "vector-memory-mcp")],
        env={"PATH": "/usr/bin:/bin", "VECTOR_MEMORY_HOME": home, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=plugin,
    )


def test_without_a_runtime_the_setup_begins(plugin: Path, tmp_path: Path) -> None:
    """And the server ends at once, with one line on stderr and none on stdout."""
    home = tmp_path / "data home"
    done = start(plugin, str(home))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "set up in the background" in done.stderr
    mark = home / "mark"
    # The shell makes the file before it writes into it.
    assert holds(lambda: mark.is_file() and mark.read_text() == "started\n")


def test_a_home_that_cannot_be_written_is_told_of(plugin: Path) -> None:
    """No set-up is promised that can never be; a session's start says it too."""
    done = start(plugin, "/proc/data")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nothing can be written in /proc/data" in done.stderr
    assert "background" not in done.stderr
    script = plugin / "lib" / "vector_memory" / "setup" / "start.sh"
    hook = ["/bin/sh", str(script), "/proc/data"]
    done = subprocess.run(hook, capture_output=True, text=True, check=True)
    assert "nothing can be written in /proc/data" in json.loads(done.stdout)["systemMessage"]


def test_a_home_that_depends_on_the_folder_is_refused(plugin: Path) -> None:
    """A project could bring its own interpreter in it."""
    done = start(plugin, "data")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no absolute path" in done.stderr
    assert not (plugin / "data").exists()


def test_with_a_runtime_it_is_run(plugin: Path, tmp_path: Path) -> None:
    """By its interpreter, with this plugin's code where no other is installed, readable to its owner
    alone."""
    home = tmp_path / "data"
    folder = home / "runtime" / "venv" / "bin"
    folder.mkdir(parents=True)
    (home / "runtime" / "packages.json").write_text("{}")
    (folder / "python").write_text(
        '#!/bin/sh\numask\nfor one in "$@"; do last=$one; done\necho "$last"\n'
    )
    (folder / "python").chmod(0o700)
    done = start(plugin, str(home))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["0077", str(plugin / "lib")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_home_of_another_user_is_refused(plugin: Path, tmp_path: Path) -> None:
    """Whatever interpreter it holds."""
    home = tmp_path / "data"
    home.mkdir()
    os.chown(home, 12345, 12345)
    done = start(plugin, str(home))
    assert (done.returncode, done.stdout) == (1, "")
    assert "another user" in done.stderr


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def test_it_ends_with_who_started_it(tmp_path: Path) -> None:
    """Also where another process still holds the other end of its stdin."""
    reading, writing = os.pipe()
    code = f"""import sys
sys.path.insert(0, {str(ROOT / "lib")!r})
from vector_memory.mcp import main
main.PARENT_S = 0.05
main.main()"""
    parent = f"""import os, signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-c", {code!r}], stdin={reading},
                         stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
os.kill(os.getpid(), signal.SIGKILL)"""
    os.write(writing, json.dumps(HELLO).encode() + b"\n")
    try:
        with subprocess.Popen(
            [sys.executable, "-c", parent],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            pass_fds=[reading],
            env={"VECTOR_MEMORY_HOME": str(tmp_path / "data"), "HOME": str(tmp_path)},
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            pid = int(process.stdout.readline())
            assert state_of(pid)
            process.stdin.close()
        assert gone(pid)
    finally:
        os.close(reading)
        os.close(writing)
