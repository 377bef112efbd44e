"""Taking a data home away: what a set-up makes again, the memories where the user says so, and nothing of others."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vector_memory.setup.app import SHIM
from vector_memory.system.durable_files import write_durably
from vector_memory.system.paths import HOME_VARIABLE, PACKAGE_ROOT, Home

MADE_AGAIN = frozenset(
    ("runtime", "models", "app", "run", "logs", "reserve", "settings.snippet.json", "jobs.cron")
)
"""What of the data home a set-up makes again. All else that the layout names is the user's own: memories, and
what belongs to them."""
ASIDE = r"(?:\.(?:damaged|replaced)-[\w.-]+|\.incoming(?:\.part)?|-(?:wal|shm|journal))*"
"""What stands behind the names of files that were set aside, that are being made, and that SQLite puts beside its
own."""


@dataclass
class Entries:
    """The names in a data home: what is made again, what is the user's own, and what is not ours."""

    made_again: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)


def entries(home: Home) -> Entries:
    """Return what is in a data home; nothing where there is none."""
    places = {os.path.relpath(path, home.root).split(os.sep)[0] for path in vars(home).values()}
    names_pattern = "|".join(map(re.escape, places))
    own_names = re.compile(rf"({names_pattern}){ASIDE}|\.({names_pattern})-[0-9a-f]+")
    contents = Entries()
    for name in sorted(os.listdir(home.root)) if os.path.isdir(home.root) else ():
        match = own_names.fullmatch(name)
        if match is None:
            contents.foreign.append(name)
        elif (match[1] or match[2]) in MADE_AGAIN:
            contents.made_again.append(name)
        else:
            contents.memories.append(name)
    return contents


def remove(home: Home, memories: bool) -> None:
    """Remove what is made again, and the memories where somebody says so; what cannot be removed stays.

    The shim stays in any case: hooks that settings or open sessions still have go on by it, and by it alone in its
    folder `setup/home.sh` knows that nothing is to be set up by them again.
    """
    contents = entries(home)
    for name in [*contents.made_again, *(contents.memories if memories else ())]:
        if home.path(name) != home.app:
            _delete(home.path(name))
    if home.app in map(home.path, contents.made_again):
        mark = f"# Plugin: {_plugin_mark(home)}\n"
        if os.path.islink(home.app):
            os.unlink(home.app)
            os.mkdir(home.app, 0o700)
        write_durably(home.shim, (SHIM + mark).encode(), 0o700)
        for name in os.listdir(home.app):
            if home.path("app", name) != home.shim:
                _delete(home.path("app", name))
    if memories:
        with contextlib.suppress(OSError):
            os.rmdir(home.root)


def _plugin_mark(home: Home) -> str:
    """Return what `setup/home.sh` says of the plugin in the client's list, which stays where the client did not take
    it out, or where another project has it."""
    home_sh = os.path.join(PACKAGE_ROOT, "setup", "home.sh")
    result = subprocess.run(
        ["/bin/sh", "-c", '. "$1"; plugin_mark', "sh", home_sh],
        env={**os.environ, HOME_VARIABLE: home.root, "PATH": f"{os.environ.get('PATH', '')}:/usr/bin:/bin"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return result.stdout.strip()


def memories_of(home: Home) -> str:
    """Return in words which memories would go with the rest."""
    return f"your memories there, for good: {', '.join(entries(home).memories) or 'none'}"


def leftovers(home: Home, memories: bool, dry_run: bool) -> dict[str, object]:
    """Return what stays of a data home, as programs are told.

    Args:
        memories: they were to be removed, too.
        dry_run: nothing was removed.
    """
    contents = entries(home)
    remaining = [] if memories and dry_run else [home.path(name) for name in contents.memories]
    return {
        "removed": not dry_run,
        "memories_deleted": memories and not dry_run and not remaining,
        "home": home.root,
        "memories": [] if memories else remaining,
        "foreign": [home.path(name) for name in contents.foreign],
        "stuck": []
        if dry_run
        else [*_stuck_paths(home, contents), *(remaining if memories else ())],
    }


def _stuck_paths(home: Home, contents: Entries) -> list[str]:
    """Return what is there of what a set-up makes again, but for the shim."""
    inside = os.listdir(home.app) if "app" in contents.made_again else []
    paths = [home.path("app", name) for name in inside] + [
        home.path(name) for name in contents.made_again if name != "app"
    ]
    return [path for path in paths if path != home.shim]


def report_lines(home: Home, report: Mapping[str, Any]) -> list[str]:
    """Return what `leftovers` reports, in sentences."""
    lines = []
    if not report["removed"]:
        lines.append("Nothing was removed.")
    if report["memories"]:
        lines.append(f"Your memories stay in {home.root}: the next set-up finds them.")
    elif report["memories_deleted"]:
        lines.append("Removed, with all memories in the data home.")
    elif report["removed"] and not report["stuck"]:
        lines.append("Removed; no memories were in the data home.")
    if report["stuck"]:
        lines.append(f"This could not be removed: {', '.join(report['stuck'])}")
    if report["foreign"]:
        lines.append(f"This is not ours, and stays: {', '.join(report['foreign'])}")
    if report["removed"] and os.path.lexists(home.shim):
        lines.append(
            f"One small file stays, {home.shim}: hooks that open sessions and other projects' settings still have end "
            "quietly by it, and set nothing up again. Delete it when there are none."
        )
    return lines


def _delete(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    # What cannot be removed is told with what is left.
    with contextlib.suppress(OSError):
        os.unlink(path)
