"""`daemon`: start, stop and look at the resident process."""

from __future__ import annotations

from collections.abc import Mapping

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.call import Call

STOPPED = {"pid": None, "rss_mb": None, "state": "stopped"}


def status(call: Call) -> None:
    """Print whether a daemon runs."""
    _print(call, asking.daemon().running() or {})


def start(call: Call) -> None:
    """Start a daemon, unless one runs."""
    _print(call, asking.daemon().start())


def stop(call: Call) -> None:
    """Stop the daemon, if one runs."""
    was_running = asking.daemon().stop()
    words = "Stopped." if was_running else "No daemon was running."
    call.say(Row({**STOPPED, "was_running": was_running}), words)


def _print(call: Call, status: Mapping[str, object]) -> None:
    call.show(Row({**STOPPED, **status}), _show)


def _show(status: Row) -> None:
    pid, memory = status.text("pid"), status.text("rss_mb")
    state = status.text("state")
    output.say(f"{state}, process {pid}, {memory} MB" if pid else state)
