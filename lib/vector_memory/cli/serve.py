"""`serve`: the memory over HTTP, for programs of this machine."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

import typer

from vector_memory.cli import asking, options
from vector_memory.system.paths import PACKAGE_ROOT, Home


def serve(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, metavar="N", help="The port; 0: any.")
    ] = 0,
    socket: Annotated[
        str | None, options.value("PATH", "A unix socket's file, instead of a port.", "--socket")
    ] = None,
    idle_minutes: Annotated[
        float,
        typer.Option(
            "--idle-minutes", min=0.01, max=10_080, metavar="N", help="Ends after so long idle."
        ),
    ] = 15.0,
    card: Annotated[
        str, options.value("NAME", "Serve a signed agent card (A2A) of that name, too.", "--card")
    ] = "",
    as_json: options.Json = False,
) -> None:
    """Answer programs of this machine over HTTP, until told to end or nobody came for a while.

    `token new` lets a program in. GET /v1/openapi.json describes all addresses.
    """
    start(
        {
            "port": port,
            "socket": asking.path_of(socket) if socket else "",
            "idle_s": idle_minutes * 60.0,
            "json": as_json,
            "card": card,
        }
    )


def start(given: dict[str, object]) -> None:
    """Become the web's process, for this data home and in this folder. It does not return."""
    home = Home()
    whole = {"home": home.root, "folder": os.getcwd(), **given}
    script = os.path.join(PACKAGE_ROOT, "web", "__main__.py")
    python = [sys.executable, "-I", "-X", "utf8", "-X", f"pycache_prefix={home.pycache}"]
    # It takes this process's place: what the command line needs would lie in its memory for hours.
    # Threads with an arena each would keep far more than they use.
    environ = {**os.environ, "MALLOC_ARENA_MAX": "2"}
    os.execve(python[0], [*python, script, json.dumps(whole)], environ)
