"""`daemon`: start, stop and look at the resident process."""

from __future__ import annotations

from collections.abc import Mapping

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row

STOPPED = {"pid": None, "rss_mb": None, "state": "stopped"}

app = options.group(
    "Start, stop and look at the daemon. It starts and ends by itself.", no_args_is_help=True
)


@app.command("status")
def status(as_json: options.Json = False) -> None:
    """Show whether a daemon runs. Never starts one."""
    _print(asking.daemon().running() or {}, as_json)


@app.command("start")
def start(as_json: options.Json = False) -> None:
    """Start a daemon, unless one runs."""
    _print(asking.daemon().start(), as_json)


@app.command("stop")
def stop(as_json: options.Json = False) -> None:
    """Stop the daemon, if one runs. What it was told is safe."""
    was_running = asking.daemon().stop()
    words = "Stopped." if was_running else "No daemon was running."
    answer = Row({**STOPPED, "was_running": was_running})
    output.answer(answer, as_json, lambda _: output.say(words))


def _print(status: Mapping[str, object], as_json: bool) -> None:
    output.answer(Row({**STOPPED, **status}), as_json, _show)


def _show(status: Row) -> None:
    pid, memory = status.text("pid"), status.text("rss_mb")
    state = status.text("state")
    output.say(f"{state}, process {pid}, {memory} MB" if pid else state)
