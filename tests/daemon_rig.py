"""A data home with a daemon as a process of its own, for tests."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bytecode
import pytest
from fakes_embed import models_folder

from vector_memory.client import link
from vector_memory.client.link import DaemonClient
from vector_memory.system import paths

WAIT_S = 90.0
"""Long enough for a machine that does much else: nothing is waited for longer than it takes."""
link.START_WAIT_S = WAIT_S


class Rig:
    """A data home whose runtime is the Python that runs the tests."""

    def __init__(self, root: Path) -> None:
        self.home = paths.Home(str(root)).make()
        os.symlink(sys.prefix, self.home.path("runtime", "venv"))
        os.rmdir(self.home.models)
        os.symlink(models_folder(), self.home.models)
        bytecode.share(self.home)
        self.daemon = DaemonClient(self.home)

    def configure(self, **settings: Any) -> None:
        """Write settings."""
        Path(self.home.config).write_text(json.dumps(settings))

    def until(self, true: Callable[[], Any], what: str) -> Any:
        """Wait until something is so."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            found = true()
            if found:
                return found
            time.sleep(0.05)
        log = Path(self.home.logs, "daemon.log")
        pytest.fail(f"waited in vain for {what}\n{log.read_text() if log.exists() else ''}")

    def state(self, state: str) -> dict[str, Any]:
        """Wait for a state and return the status."""
        return dict(
            self.until(
                lambda: (s := self.daemon.running()) and s["state"] == state and s, f"state {state}"
            )
        )


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        with contextlib.suppress(OSError):
            os.kill(pid, 0)
            return sys.platform != "linux"
        return False
