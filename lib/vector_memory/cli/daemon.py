"""`daemon`: start, stop and look at the resident process."""

from __future__ import annotations

from typing import Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json

STOPPED = {"pid": None, "rss_mb": None, "state": "stopped"}

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Start, stop and look at the daemon. It starts and ends by itself.",
)


@app.command("status")
def status(as_json: Json = False) -> None:
    """Show whether a daemon runs. Never starts one."""
    _print({**STOPPED, **(asking.daemon().running() or {})}, as_json)


@app.command("start")
def start(as_json: Json = False) -> None:
    """Start a daemon, unless one runs."""
    _print({**STOPPED, **asking.daemon().start()}, as_json)


@app.command("stop")
def stop(as_json: Json = False) -> None:
    """Stop the daemon, if one runs. What it was told is safe."""
    was_running = asking.daemon().stop()
    if as_json:
        output.document({**STOPPED, "was_running": was_running})
    else:
        output.say("Stopped." if was_running else "No daemon was running.")


def _print(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        output.document(answer)
    elif answer["pid"] is None:
        output.say("stopped")
    else:
        output.say(f"{answer['state']}, process {answer['pid']}, {answer['rss_mb']} MB")
