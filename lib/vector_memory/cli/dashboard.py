"""`dashboard`: the memory in the user's browser."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import Annotated, Literal

import typer

from vector_memory.cli import asking, job_files, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.serve import start
from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.system import browsers
from vector_memory.system.paths import Home

PORT = 8952
"""Of the service, whose address is to stay the same."""
app = options.group("Look at the memory in a browser, and correct it.")


@app.callback(invoke_without_command=True)
def dashboard(
    ctx: typer.Context,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, metavar="N", help="The port; 0: any.")
    ] = 0,
    no_open: Annotated[bool, options.switch("Open no browser.", "--no-open")] = False,
    detach: Annotated[
        bool, options.switch("Return when it can be looked at; it goes on.", "--detach")
    ] = False,
    idle_minutes: Annotated[
        float,
        typer.Option(
            "--idle-minutes", min=0.01, max=525_600, metavar="N", help="Ends after so long idle."
        ),
    ] = 15.0,
    as_json: options.Json = False,
) -> None:
    """Look at the memory in a browser: search, correct, review, see why something came.

    It listens on this machine alone, lets in the browser that it opens, and ends by itself
    when no page of it is open for a while. One that runs already is opened again.
    """
    if ctx.invoked_subcommand is not None:
        return
    if not port and not no_open and _opened_again(as_json):
        return
    if detach:
        words = ["--port", str(port), "--idle-minutes", str(idle_minutes)]
        _detach([*words, "--no-open"] if no_open else words, as_json)
        return
    start({"port": port, "idle_s": idle_minutes * 60.0, "opens": not no_open, "json": as_json})


def _opened_again(as_json: bool) -> bool:
    """Open a dashboard that runs, for the user; return whether there is one. An agent is given no way into
    what the user started: one of its own says less."""
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
    output.answer(running, as_json, lambda one: output.say(f"It runs at {one.text('url')}"))
    return True


def _running(home: Home) -> Row | None:
    """Return a dashboard that runs, as it told where it is."""
    names = os.listdir(home.gateways) if os.path.isdir(home.gateways) else []
    for name in names:
        pid, ending = os.path.splitext(name)
        if ending == ".html" and pid.isdecimal():
            with contextlib.suppress(OSError, ValueError, KeyError):
                os.kill(int(pid), 0)
                with open(os.path.join(home.gateways, f"{pid}.json"), encoding="ascii") as file:
                    return Row({"url": json.load(file)["url"], "pid": int(pid)})
    return None


def _detach(words: list[str], as_json: bool) -> None:
    """Start one that goes on when this command has ended, and tell where it is.

    Raises:
        BadInputError: it did not start.
    """
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.argv[0] = 'vector-memory'\n"
        "from vector_memory.cli.main import main\nsys.exit(main())"
    )
    lib = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    made = subprocess.Popen(
        [sys.executable, "-I", "-X", "utf8", "-c", code, lib, "dashboard", "--json", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert made.stdout
    with made.stdout as lines:
        told = json.loads(lines.readline() or b"{}")
    if "url" not in told:
        raise BadInputError(
            str(told.get("error") or "It did not start."), str(told.get("hint", ""))
        )
    output.answer(Row(told), as_json, lambda one: output.say(f"It runs at {one.text('url')}"))


@app.command("install")
def install(
    kind: Annotated[
        Literal["systemd", "launchd"] | None,
        options.switch("For what; what this machine has, by default.", "--for"),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=1, max=65_535, metavar="N", help="The port.")
    ] = PORT,
    remove: Annotated[bool, options.switch("Take away what it wrote.", "--remove")] = False,
    as_json: options.Json = False,
) -> None:
    """Write a service of your own that keeps the dashboard running.

    It writes a file and starts nothing: it tells the command that does.
    """
    if asking.everywhere().get("actor"):
        raise BadInputError("Only the user installs services.", "Ask the user to run it.")
    service = job_files.dashboard(kind or job_files.usual_kind(), port)
    job_files.settle(service, remove, as_json)
