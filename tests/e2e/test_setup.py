"""./bootstrap.sh as a newcomer runs it: from a fresh copy in a folder with a space in its name."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from e2e.harness import bundle

from vector_memory.client.link import DaemonClient
from vector_memory.errors import VectorMemoryError
from vector_memory.setup import locking
from vector_memory.setup import main as setup_main
from vector_memory.setup.site import SetupSite
from vector_memory.system import private
from vector_memory.system.paths import Home

pytestmark = pytest.mark.e2e
SET_UP_S = 240.0
NOWHERE = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_HTTP_RETRIES": "0"}
INSTALL_SOURCES = re.compile(r"^(UV_|PIP_|SSL_|HTTPS?_PROXY|NO_PROXY)")


class Newcomer:
    """A user with a fresh copy of the plugin and empty homes."""

    def __init__(self, plugin: Path, root: Path) -> None:
        self.plugin = plugin
        self.root = root
        self.home = Home(str(root / "data home"))
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(root / "home"),
            "VECTOR_MEMORY_HOME": self.home.root,
            "LANG": "C.UTF-8",
            # Packages come from where this machine gets them.
            **{name: value for name, value in os.environ.items() if INSTALL_SOURCES.match(name)},
        }
        (root / "home").mkdir(parents=True)

    def start(self, *arguments: str, **environ: str) -> subprocess.Popen[str]:
        """Start ./bootstrap.sh in a session of its own."""
        return subprocess.Popen(
            [str(self.plugin / "bootstrap.sh"), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**self.environ, **environ},
            cwd=self.root,
            start_new_session=True,
        )

    def bootstrap(self, *arguments: str, **environ: str) -> tuple[int, str]:
        """Run ./bootstrap.sh to its end; return its exit code and what it said."""
        process = self.start(*arguments, **environ)
        said, _ = process.communicate(timeout=SET_UP_S)
        return process.returncode, said

    def hook(self, stem: str, **environ: str) -> str:
        """Run a hook of the plugin and return its stdout."""
        done = subprocess.run(
            ["sh", str(self.plugin / "hooks" / "run"), stem],
            input=json.dumps({"session_id": "s", "cwd": str(self.root), "source": "startup"}),
            capture_output=True,
            text=True,
            env={**self.environ, **environ},
            check=False,
            timeout=20,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the plugin's command line."""
        return subprocess.run(
            [str(self.plugin / "bin" / "vector-memory"), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self.environ,
            check=False,
            timeout=SET_UP_S,
        )


@pytest.fixture
def newcomer(plugin: Path, tmp_path: Path) -> Iterator[Newcomer]:
    """A newcomer, whose daemon is ended and whose disk is given back afterwards."""
    user = Newcomer(plugin, tmp_path / "some one")
    yield user
    with contextlib.suppress(VectorMemoryError):
        DaemonClient(user.home).stop()
    if os.path.isdir(user.home.run):
        wait_for(lambda: not is_held(user.home.lock))
    shutil.rmtree(user.root)


def is_held(path: str) -> bool:
    """Whether a process has locked a file."""
    try:
        with locking.hold_lock(path):
            return False
    except locking.BusyError:
        return True


def wait_for(what: Callable[[], bool], seconds: float = SET_UP_S) -> None:
    """Wait until something is so; fail when that takes far too long."""
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


def test_one_command_sets_it_up_and_shows_that_it_works(newcomer: Newcomer) -> None:
    """It installs, stores a memory through the hooks and recalls it; a second run finds the work
    done; the user's home stays as it was (no settings, no traces of anybody's telemetry), nothing
    stays in the plugin's folder, the disk stays within 700 MB, and others have no right to any of it."""
    before = bundle.contents(newcomer.plugin)
    code, said = newcomer.bootstrap()
    assert code == 0, said
    assert re.search(r"recalled: .*PostgreSQL", said)
    assert "claude plugin install" in said
    code, again = newcomer.bootstrap()
    assert code == 0, again
    assert again.count("already there") == 3
    assert re.search(r"recalled: .*PostgreSQL", again)
    status = json.loads(newcomer.cli("daemon", "status", "--json").stdout)
    assert status["pid"]
    left = sorted(map(str, (newcomer.root / "home").rglob("*")))
    assert left == []
    assert bundle.contents(newcomer.plugin) == before
    assert setup_main.size_mb(SetupSite(str(newcomer.plugin), newcomer.home)) <= 700
    assert newcomer.cli("remember", "The ledger uses WAL mode", "--global").returncode == 0
    newcomer.cli("backup")
    assert list(private.open_below(newcomer.home.root)) == []


def test_the_command_line_sets_up_what_is_missing(newcomer: Newcomer, tmp_path: Path) -> None:
    """bin/vector-memory, called by a link, installs the runtime first and then does what it was
    asked."""
    link = tmp_path / "vm"
    link.symlink_to(newcomer.plugin / "bin" / "vector-memory")
    os.mkdir(newcomer.home.root)
    done = subprocess.run(
        [str(link), "stats", "--json"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=newcomer.environ,
        check=False,
        timeout=SET_UP_S,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["memories"] == 0
    assert "Installing packages" in done.stderr


def test_an_interrupted_set_up_is_gone_on_with(newcomer: Newcomer) -> None:
    """Killed while packages are being installed, it leaves nothing that a second run trips over."""
    process = newcomer.start("--no-proof")
    venv = Path(newcomer.home.runtime_python)
    wait_for(lambda: venv.exists() or process.poll() is not None)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not os.path.exists(SetupSite("", newcomer.home).stamp)
    assert newcomer.hook("user_prompt_submit") == ""
    code, said = newcomer.bootstrap("--no-proof")
    assert code == 0, said
    assert newcomer.cli("stats", "--json").returncode == 0


def test_two_at_once_do_the_work_once(newcomer: Newcomer) -> None:
    """The second waits, says so, and finds everything there."""
    processes = [newcomer.start("--no-proof") for _ in range(2)]
    said = [process.communicate(timeout=SET_UP_S)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    waited = [text for text in said if "Another set-up is running" in text]
    assert len(waited) == 1
    assert waited[0].count("already there") == 3
    assert sum("already there" in text for text in said) == 1


def test_the_first_session_starts_the_set_up(newcomer: Newcomer) -> None:
    """Without a runtime a session's start says one line and goes on; the set-up runs by itself, and
    then the hooks work."""
    answer = json.loads(newcomer.hook("session_start"))
    assert "is being set up" in answer["systemMessage"]
    assert answer["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert newcomer.hook("user_prompt_submit") == ""
    wait_for(lambda: os.access(newcomer.home.hook_python, os.X_OK))
    log = Path(newcomer.home.path("logs", "setup.log"))
    wait_for(lambda: "Storing and recalling a memory … it works" in log.read_text("utf-8"))
    assert newcomer.hook("session_start") == ""


def test_a_registry_out_of_reach_is_said_plainly(newcomer: Newcomer, tmp_path: Path) -> None:
    """Without packages it ends with what failed and what to do, and no traceback. In the background
    it leaves word for the next session, and does not try again at once."""
    environ = {**NOWHERE, "UV_CACHE_DIR": str(tmp_path / "empty cache")}
    code, said = newcomer.bootstrap(**environ)
    assert code == 1
    assert "Could not install the packages" in said
    assert "What to do: " in said
    assert "Traceback" not in said
    newcomer.hook("session_start", **environ)
    failed = Path(SetupSite("", newcomer.home).failed)
    wait_for(failed.exists)
    answer = json.loads(newcomer.hook("session_start", **environ))
    assert "could not be set up" in answer["systemMessage"]
    assert "Could not install the packages" in answer["systemMessage"]
    wait_for(lambda: not is_held(newcomer.home.path("runtime", ".setup.lock")))
    log = Path(newcomer.home.path("logs", "setup.log"))
    assert log.read_text(encoding="utf-8").count("=== ") == 2


def test_a_data_home_that_cannot_be_made_is_said_plainly(newcomer: Newcomer) -> None:
    """A file in the way is named, with what to do."""
    in_the_way = newcomer.root / "file"
    in_the_way.write_text("", encoding="utf-8")
    code, said = newcomer.bootstrap(VECTOR_MEMORY_HOME=str(in_the_way / "data"))
    assert code == 1
    assert "cannot be made" in said
    assert "What to do: " in said


def test_a_model_source_without_a_model_is_said_plainly(newcomer: Newcomer) -> None:
    """A folder that holds no model is refused before anything is installed."""
    code, said = newcomer.bootstrap("--model-source", str(newcomer.root))
    assert code == 1
    assert "holds no model.safetensors" in said
    assert not os.path.exists(newcomer.home.runtime_python)


@pytest.mark.parametrize("broken", ["exit 127", "echo no; exit 1", "sleep 0; exit 3"])
def test_a_shim_that_leads_nowhere_is_passed_over(
    newcomer: Newcomer, tmp_path: Path, broken: str
) -> None:
    """A python3 on PATH that does not run is skipped for one that does."""
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "python3").write_text(f"#!/bin/sh\n{broken}\n", encoding="utf-8")
    (shims / "python3").chmod(0o755)
    (shims / "python3.13").symlink_to(sys.executable)
    code, said = newcomer.bootstrap("--help", PATH=f"{shims}:/usr/bin:/bin")
    assert code == 0, said
    assert "--model-source" in said
