"""`dashboard`: the memory in the user's browser."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import options
from vector_memory.cli.serve import start

app = options.group("Look at the memory in a browser, and correct it.")


@app.callback(invoke_without_command=True)
def dashboard(
    ctx: typer.Context,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, metavar="N", help="The port; 0: any.")
    ] = 0,
    no_open: Annotated[bool, options.switch("Open no browser.", "--no-open")] = False,
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
    when no page of it is open for a while.
    """
    if ctx.invoked_subcommand is None:
        start({"port": port, "idle_s": idle_minutes * 60.0, "opens": not no_open, "json": as_json})
