"""`daemon`: start, stop and look at the resident process."""

from __future__ import annotations

from collections.abc import Mapping

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.client.link import STOPPED, is_locked


def status(call: Invocation) -> None:
    """Print whether a daemon runs, and whether it answers."""
    daemon = asking.daemon()
    running = daemon.running()
    if running is None and is_locked(daemon.home.lock):
        running = {"state": "silent"}
        output.note("It answers nobody: it is starting, it was stopped, or it hangs.")
        output.note("`vector-memory daemon stop` ends it, also where it hangs.")
    _print(call, running or {})


def start(call: Invocation) -> int:
    """Start a daemon, unless one runs; return 1 where it can open no store."""
    running = asking.daemon().start()
    _print(call, running)
    return 1 if running.get("error") else 0


def stop(call: Invocation) -> None:
    """Stop the daemon, if one runs."""
    was_running = asking.daemon().stop()
    words = "Stopped." if was_running else "No daemon was running."
    call.say(Row({**STOPPED, "was_running": was_running}), words)


def _print(call: Invocation, status: Mapping[str, object]) -> None:
    call.show(Row({**STOPPED, **status}), _show)


def _show(status: Row) -> None:
    pid, memory = status.text("pid"), status.text("rss_mb")
    state = status.text("state")
    output.say(f"{state}, process {pid}, {memory} MB" if pid else state)
    if error := status.text("error"):
        output.say(f"No store can be opened: {output.plain(error)}")
