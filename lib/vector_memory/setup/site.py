"""What the steps share: where the code is, where it goes, and with which Python and log."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass

from vector_memory.system.files import delete_file
from vector_memory.system.paths import Home

ALREADY = "already there"
"""What a step says that had nothing to do."""


@dataclass(frozen=True)
class SetupSite:
    """One set-up. `root` is the folder with `bootstrap.sh`; `model_source` is a folder that holds
    the model ("" means that it comes from the package registry)."""

    root: str
    home: Home
    model_source: str = ""

    @property
    def lib(self) -> str:
        return os.path.join(self.root, "lib")

    @property
    def log(self) -> str:
        return self.home.path("logs", "setup.log")

    @property
    def failed(self) -> str:
        """Exists while the last set-up failed: one line of hook output that says so."""
        return self.home.path("run", "setup.failed")

    @property
    def stamp(self) -> str:
        """Written last when the packages are in, so that a half-made runtime has none."""
        return self.home.path("runtime", "packages.json")

    def requirements(self, name: str) -> str:
        """Return the path of a pinned requirements file, such as `runtime`."""
        return os.path.join(self.root, "requirements", f"{name}.txt")


def point(link: str, target: str) -> None:
    """Make a link lead somewhere else, at once."""
    aside = f"{link}.{os.getpid()}"
    delete_file(aside)
    os.symlink(target, aside)
    os.replace(aside, link)


def base_python() -> str:
    """Return the real interpreter behind this process: neither a shim nor a venv's link."""
    base: str = getattr(sys, "_base_executable", "") or sys.executable
    return os.path.abspath(base)


def describe_python() -> str:
    """Return this interpreter in a few words."""
    return f"Python {platform.python_version()}"
