"""A data home for tests: runtime and models are links to ones that exist, the code is this one's."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bytecode
import pytest

from vector_memory.client.link import DaemonClient
from vector_memory.setup import app
from vector_memory.setup.site import SetupSite
from vector_memory.system.paths import Home

RUNTIME_VARIABLE = "VECTOR_MEMORY_TEST_RUNTIME"
LATE = ("answers_unread", "answers_too_late", "hooks_late", "hooks_without_daemon")
SETTLE_S = 120.0
COMMAND_S = 120.0


def ready_home() -> Path:
    """Return a data home that `./bootstrap.sh` made; without one, fail in CI and skip elsewhere."""
    home = Path(os.environ.get(RUNTIME_VARIABLE) or "/nonexistent")
    if (home / "runtime" / "hook-python").exists():
        return home
    reason = f"{RUNTIME_VARIABLE} names no data home: `./bootstrap.sh test` makes one"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


class Installation:
    """An installed product. `home` is its data home, `plugin` the folder that the client loads."""

    def __init__(self, root: Path, plugin: Path, **environment: str) -> None:
        self.root = root
        self.home = root / "data home"
        self.plugin = plugin
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(root / "home"),
            "VECTOR_MEMORY_HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(root / "home" / ".claude"),
            "LANG": "C.UTF-8",
            **environment,
        }
        self._install()

    def _install(self) -> None:
        (self.root / "home").mkdir(parents=True, exist_ok=True)
        self.home.mkdir(mode=0o700)
        for shared in ("runtime", "models"):
            (self.home / shared).symlink_to(ready_home() / shared)
        home = Home(str(self.home)).make()
        app.install(SetupSite(str(self.plugin), home))
        bytecode.share(home)
        self.daemon = DaemonClient(home)

    def cli(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run the command line; with `check`, fail unless it exits with 0."""
        done = subprocess.run(
            ["/bin/sh", str(self.plugin / "bin" / "vector-memory"), *arguments],
            env=self.environment,
            cwd=self.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=False,
        )
        if check and done.returncode != 0:
            pytest.fail(
                f"vector-memory {' '.join(arguments)}: {done.stderr}{done.stdout}{self.log()}"
            )
        return done

    def ask(self, *arguments: str) -> Any:
        """Return what the command line answers with `--json`."""
        return json.loads(self.cli(*arguments, "--json").stdout)

    def exported(self) -> list[dict[str, Any]]:
        """Return all memories."""
        return [json.loads(line) for line in self.cli("export", "--all").stdout.splitlines()]

    def look(self, verb: str = "stats", **request: Any) -> dict[str, Any]:
        """Return what the daemon answers without a process of the command line, which takes a quarter of a second
        of the processor: for what is looked at again and again."""
        if self.daemon.running() is None:
            # By the command line, so that it knows nothing of this process.
            self.cli("daemon", "start")
        return self.daemon.ask(verb, request)

    def records(self, collection: str) -> list[dict[str, Any]]:
        """Return what observers keep in a collection, of all projects."""
        found = self.look("list", collection=[collection], all_projects=True, k=1_000)
        return list(found["memories"])

    def late_hooks(self) -> int:
        """Return how many hooks so far did not wait for what they would have been told."""
        told = self.look("doctor")
        return sum(told["counters"].get(name, 0) for name in LATE)

    def settle(self, memories: int) -> None:
        """Wait until at least so many memories are stored, each with its vector."""
        self.wait_until(lambda: self._has(memories), f"{memories} memories with vectors")

    def rest(self) -> None:
        """Wait until the daemon has everything ready, as it has a moment after it began: on a busy machine
        the first search would find it importing what looks at searches."""

        def ready() -> bool:
            told = self.look("status")
            return told["state"] == "full" and not told.get("busy", True)

        self.wait_until(ready, "a daemon at rest")

    def wait_until(self, true: Callable[[], bool], what: str) -> None:
        """Wait until something is so, or fail after `SETTLE_S`."""
        until = time.monotonic() + SETTLE_S
        while not true():
            if time.monotonic() > until:
                pytest.fail(f"waited in vain for {what}: {self.look()}\n{self.log()}")
            time.sleep(0.1)

    def _has(self, memories: int) -> bool:
        stats = self.look()
        pending = sum(store.get("pending_vectors", 0) for store in stats.get("stores", ()))
        return bool(stats["memories"] >= memories and not pending)

    def pid(self) -> int | None:
        """Return the daemon's process, None when it is stopped. Starts none."""
        found = self.daemon.running()
        return None if found is None else int(found["pid"])

    def kill_daemon(self) -> int:
        """Kill the daemon as a crash would, and return which process it was."""
        self.cli("daemon", "start")
        pid = self.pid()
        assert pid
        os.kill(pid, signal.SIGKILL)
        self.wait_until(lambda: self.pid() is None, "the killed daemon's end")
        return pid

    @contextlib.contextmanager
    def no_daemon(self) -> Iterator[None]:
        """Stop the daemon, and keep the runtime's hooks able to run but no daemon to start."""
        self.cli("daemon", "stop")
        runtime = self.home / "runtime"
        shared = runtime.readlink()
        runtime.unlink()
        runtime.mkdir()
        (runtime / "hook-python").symlink_to(shared / "hook-python")
        # It is there, so that nobody sets it up anew, and it does nothing.
        (runtime / "packages.json").write_text("{}")
        python = runtime / "venv" / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text("#!/bin/sh\nexit 1\n")
        python.chmod(0o755)
        try:
            yield
        finally:
            shutil.rmtree(runtime)
            runtime.symlink_to(shared)

    def log(self) -> str:
        """Return the end of what the daemon logged."""
        logs = sorted((self.home / "logs").glob("daemon*"))
        return "\n".join(path.read_text(errors="replace")[-3000:] for path in logs)

    def close(self) -> None:
        """Stop the daemon and fail if any process of this data home stays."""
        self.daemon.stop()
        until = time.monotonic() + 10.0
        while (left := self._processes()) and time.monotonic() < until:
            time.sleep(0.05)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert not left, f"{list(left.values())} outlived the stop of their daemon"

    def _processes(self) -> dict[int, str]:
        """Return the command lines of the processes that have this data home in theirs."""
        listing = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,command="], capture_output=True, text=True, check=True
        )
        rows = [line.split(maxsplit=1) for line in listing.stdout.splitlines()]
        return {int(row[0]): row[1] for row in rows if len(row) == 2 and str(self.home) in row[1]}
