"""`dashboard` and `serve`: the memory in the user's browser, and over HTTP, for programs of this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial

from vector_memory.cli import asking, job_files, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.system import browsers, gateways
from vector_memory.system.paths import COMMAND_LINE, PACKAGE_ROOT, Home


def dashboard(
    call: Invocation, port: int, no_open: bool, detach: bool, idle_minutes: float
) -> None:
    """Look at the memory in a browser. A dashboard that runs already is opened again."""
    if not port and not no_open and _opened_again(call):
        return
    if detach:
        words = ["--port", str(port), "--idle-minutes", str(idle_minutes)]
        _detach(call, [*words, "--no-open"] if no_open else words)
        return
    idle_s = idle_minutes * 60.0
    start({"port": port, "idle_s": idle_s, "opens": not no_open, "json": call.as_json})


def _opened_again(call: Invocation) -> bool:
    """Open a dashboard that runs, for the user; return whether there is one. An agent gets no way into the user's
    dashboard: its own shows less."""
    home = Home()
    running = _running(home)
    if running is None:
        return False
    try:
        code = asking.ask("token", asking.target(), action="code").text("token")
    except VectorMemoryError:
        return False
    door = os.path.join(home.gateways, "open.html")
    browsers.write_door(door, running.text("url"), code)
    if not browsers.open_door(door):
        output.note(f"No browser was found: open {door} in one within a minute.")
    call.say(running, f"It runs at {running.text('url')}")
    return True


def _running(home: Home) -> Row | None:
    """Return where a dashboard runs, and its process."""
    for pid, url in gateways.running(home.gateways):
        if gateways.is_dashboard(home.gateways, pid):
            return Row({"url": url, "pid": pid})
    return None


def _detach(call: Invocation, words: list[str]) -> None:
    """Start one that goes on when this command has ended, and tell where it is.

    Raises:
        BadInputError: it did not start.
    """
    process = subprocess.Popen(
        [sys.executable, *COMMAND_LINE, "dashboard", "--json", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout
    with process.stdout as lines:
        started = Row(json.loads(lines.readline() or b"{}"))
    if "url" not in started:
        raise BadInputError(started.text("error", "It did not start."), started.text("hint"))
    call.say(started, f"It runs at {started.text('url')}")


def install(call: Invocation, kind: str | None, port: int, remove: bool) -> None:
    """Write a service of the user's that keeps the dashboard running, or take it away.

    Raises:
        BadInputError: an agent asks.
    """
    asking.require_user("installs services")
    service = partial(job_files.dashboard, port=port)
    job_files.settle(service, ("systemd", "launchd"), kind, remove, call)


def serve(
    call: Invocation, port: int, socket: str | None, idle_minutes: float, card: str | None
) -> None:
    """Answer programs of this machine over HTTP."""
    idle_s = idle_minutes * 60.0
    where = {"port": port, "socket": socket or "", "idle_s": idle_s}
    start({**where, "json": call.as_json, "card": card or ""})


def start(given: dict[str, object]) -> None:
    """Become the web's process, for this data home and in this folder. It does not return."""
    home = Home()
    options = {"home": home.root, "folder": os.getcwd(), **given}
    script = os.path.join(PACKAGE_ROOT, "web", "__main__.py")
    python = [sys.executable, "-I", "-X", "utf8", "-X", f"pycache_prefix={home.pycache}"]
    # It takes this process's place: what the command line needs would lie in its memory for hours.
    # Threads with an arena each would keep far more than they use.
    environ = {**os.environ, "MALLOC_ARENA_MAX": "2"}
    os.execve(python[0], [*python, script, json.dumps(options)], environ)
