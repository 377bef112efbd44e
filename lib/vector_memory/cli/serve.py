"""`serve`: the memory over HTTP, for programs of this machine."""

from __future__ import annotations

import json
import os
import sys

from vector_memory.cli.invocation import Invocation
from vector_memory.system.paths import PACKAGE_ROOT, Home


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
    whole = {"home": home.root, "folder": os.getcwd(), **given}
    script = os.path.join(PACKAGE_ROOT, "web", "__main__.py")
    python = [sys.executable, "-I", "-X", "utf8", "-X", f"pycache_prefix={home.pycache}"]
    # It takes this process's place: what the command line needs would lie in its memory for hours.
    # Threads with an arena each would keep far more than they use.
    environ = {**os.environ, "MALLOC_ARENA_MAX": "2"}
    os.execve(python[0], [*python, script, json.dumps(whole)], environ)
