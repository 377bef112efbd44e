"""The last words of a set-up: what is where, and how to switch the plugin on."""

from __future__ import annotations

import os
import shlex

from vector_memory.setup.site import SetupSite
from vector_memory.system import paths


def text(site: SetupSite) -> str:
    """Return what the user can do next."""
    root = shlex.quote(site.root)
    program = shlex.quote(os.path.join(site.root, "bin", "vector-memory"))
    return f"""
Vector Memory {paths.version()} is set up in {site.home.root} ({size_mb(site):.0f} MB).

Switch it on in Claude Code, for good:
  claude plugin marketplace add {root}
  claude plugin install vector-memory@vector-memory
or for one session:
  claude --plugin-dir {root}
or by hand: copy the hooks of {site.home.path("settings.snippet.json")} into your settings.

The command line: {program} --help
"""


def size_mb(site: SetupSite) -> float:
    """Return the disk that runtime and models take, each file counted once, in MB."""
    seen: dict[tuple[int, int], int] = {}
    for top in (site.home.runtime, site.home.models):
        for folder, _, names in os.walk(os.path.realpath(top)):
            for name in names:
                about = os.lstat(os.path.join(folder, name))
                seen[(about.st_dev, about.st_ino)] = about.st_blocks * 512
    return sum(seen.values()) / 1e6
