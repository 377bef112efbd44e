"""Bytecode that the data homes of tests share. Each home keeps its own, and compiling all that a daemon
loads takes longer than most tests."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path

from vector_memory.system import paths
from vector_memory.system.paths import Home

STAMP_S = 1_700_000_000
"""When all files of an installed product count as written: bytecode is told to be stale by this time, and
the folder's name changes with what is in it."""


@functools.cache
def _shared() -> Path:
    folder = tempfile.mkdtemp(prefix="vm-bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def share(home: Home, python: str = sys.executable) -> None:
    """Let a new data home's processes take the bytecode that those of others have made.

    Args:
        python: the interpreter of its hooks or of its runtime.
    """
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(python))), "lib")
    sources = {
        library: library.strip(os.sep),
        os.path.dirname(paths.PACKAGE_ROOT): "checkout",
        home.path("runtime"): "runtime",
        home.path("app"): "app",
    }
    for source, name in sources.items():
        link = Path(home.pycache, source.lstrip(os.sep))
        link.parent.mkdir(parents=True, exist_ok=True)
        (_shared() / name).mkdir(parents=True, exist_ok=True)
        link.symlink_to(_shared() / name)
    for folder, _, files in os.walk(home.path("app")):
        for file in files:
            os.utime(os.path.join(folder, file), (STAMP_S, STAMP_S))
