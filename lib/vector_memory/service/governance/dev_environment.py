"""`agent_dev_env`: a data home to try a checkout of this code on, whose daemon is started anew whenever the code changes.
It has an empty memory, and nothing of the everyday one is read or written."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from pathlib import Path

from vector_memory.client import spawn
from vector_memory.client.link import DaemonClient
from vector_memory.errors import BadInputError, DaemonUnavailableError
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.think import ledger, store_copy
from vector_memory.system.paths import Home

FOLDER = "dev"
LOOK_S = 1.0
_running: dict[str, Watch] = {}


class DevRequest(messages.Request):
    """The environment is to be started, emptied, stopped, or told about.

    Attributes:
        path: the checkout whose code runs, the running one by default.
    """

    action: str = messages.one_of(("status", "start", "reset", "stop"), "status")
    path: str = messages.maybe_text(4_096)


class Watch(threading.Thread):
    """Starts a daemon, and starts it anew when a file of its code has changed, until it is stopped."""

    def __init__(self, home: Home, code: str) -> None:
        super().__init__(name="dev-environment", daemon=True)
        self.home, self.code = home, code
        self.reloads = 0
        self._ended = threading.Event()
        self._seen = state_of(code)
        spawn.spawn(home, os.path.join(code, "lib"))

    def run(self) -> None:
        """Look at the code from time to time."""
        while not self._ended.wait(LOOK_S):
            if (state := state_of(self.code)) != self._seen:
                self._seen = state
                with contextlib.suppress(DaemonUnavailableError):
                    DaemonClient(self.home).stop()
                spawn.spawn(self.home, os.path.join(self.code, "lib"))
                self.reloads += 1

    def end(self) -> None:
        """Stop looking, and end the daemon."""
        self._ended.set()
        self.join()
        DaemonClient(self.home).stop()


def state_of(code: str) -> tuple[int, int]:
    """Return a stamp of a checkout's code: it changes when a file is written, added or removed."""
    times = []
    for path in Path(code, "lib").rglob("*"):
        # While another branch is checked out, listed files may be gone.
        with contextlib.suppress(FileNotFoundError):
            if path.suffix in (".py", ".txt", ".toml"):
                times.append(path.stat().st_mtime_ns)
    return max(times, default=0), len(times)


def environment(ctx: Context, request: DevRequest) -> ledger.Answer:
    """Start, empty, stop or describe the environment.

    Raises:
        BadInputError: the action is unknown, there is no checkout, or an agent would start its code.

    Returns:
        The environment as it is then: its data `home`, whose `code` runs, whether it is `running`, how often it was
        started anew (`reloads`), and how to `use` it.
    """
    home = Home(ctx.home.path(FOLDER))
    watch = _running.get(home.root)
    if request.action != "status":
        request.require_user("starts and stops programs")
        code = _checkout(request, watch)
        if request.action != "start" or watch is None or watch.code != code:
            _end(home)
        if request.action == "reset":
            shutil.rmtree(home.root, ignore_errors=True)
        if request.action != "stop" and home.root not in _running:
            store_copy.make_home(home, ctx.home, ctx.settings)
            _running[home.root] = Watch(home, code)
            _running[home.root].start()
        ctx.audit("dev_environment", request.actor, [], do=request.action)
    watch = _running.get(home.root)
    code, reloads = (watch.code, watch.reloads) if watch else ("", 0)
    summary = f"It runs the code of {code}, started anew {reloads} times since it changed."
    return ledger.answer(
        ctx,
        summary if watch else "It does not run: action=start begins.",
        home=home.root,
        code=code,
        running=watch is not None,
        reloads=reloads,
        use=f"VECTOR_MEMORY_HOME={home.root} {code}/bin/vector-memory stats" if watch else "",
    )


def _checkout(request: DevRequest, watch: Watch | None) -> str:
    """Return the folder of the code that is meant: the one named, else the one that runs."""
    if not request.path:
        return watch.code if watch else store_copy.ROOT
    code = os.path.realpath(os.path.join(request.base, os.path.expanduser(request.path)))
    if not os.path.isfile(os.path.join(code, "lib", "vector_memory", "daemon", "__main__.py")):
        raise BadInputError(f"{code} is no checkout of this code.", "Give its folder as path.")
    return code


def _end(home: Home) -> None:
    """End the environment's daemon, also one without a watch, which an earlier process of ours has left."""
    if watch := _running.pop(home.root, None):
        watch.end()
    elif os.path.isdir(home.root):
        DaemonClient(home).stop()
