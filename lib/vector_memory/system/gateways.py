"""The marks that gateways and dashboards leave beside the data home while they run."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator

from vector_memory.system.files import delete_file


def is_dashboard(folder: str, pid: int) -> bool:
    """Whether a process is a dashboard's: a gateway has no page to begin with."""
    return os.path.exists(os.path.join(folder, f"{pid}.html"))


def running(folder: str, sweeps: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the process and the address of each that runs, by the names of their marks.

    Args:
        folder: where the marks lie; it may be missing.
        sweeps: the marks of those that were killed are removed.
    """
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        pid, ending = os.path.splitext(name)
        if ending != ".json" or not pid.isdecimal():
            continue
        path = os.path.join(folder, name)
        try:
            os.kill(int(pid), 0)
        except OSError:
            # It is gone, or its number is somebody else's by now.
            if sweeps:
                delete_file(path, OSError)
            continue
        with (
            contextlib.suppress(OSError, ValueError, KeyError, TypeError),
            open(path, "rb") as file,
        ):
            yield int(pid), str(json.load(file)["url"])
