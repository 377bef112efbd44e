"""The installed code: `app/<version>-<digest>`, with `app/current` switched at once.

The client sweeps old versions of a plugin under running sessions; what is installed here stays, so
the daemon and the settings' hooks run from it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator

from vector_memory.setup import snippet
from vector_memory.setup.site import ALREADY, SetupSite, point
from vector_memory.system import paths
from vector_memory.system.durable_files import write_durably

PARTS = ("bin", "bootstrap.sh", "hooks", "lib", "requirements")
_SKIPPED = ("__pycache__", ".mypy_cache", ".ruff_cache")

# $0 is <home>/app/hook. Whatever is gone, the session goes on.
SHIM = """#!/bin/sh
# Runs one hook of the installed version: what the settings name, since it stays where it is.
run=${0%/*}/current/hooks/run
[ -f "$run" ] && [ -O "$run" ] || exit 0
VECTOR_MEMORY_HOME=${0%/app/*}
export VECTOR_MEMORY_HOME
exec /bin/sh "$run" "$@"
"""


def install(site: SetupSite) -> str:
    """Install this version's code, make it the current one, and return what was done."""
    name = f"{paths.version()}-{digest(site.root)}"
    folder = site.home.path("app", name)
    if not os.path.isdir(folder):
        _copy(site.root, folder)
    previous = current(site)
    if previous != name:
        point(site.home.app_current, name)
    _sweep(site, keep={name, previous})
    write_durably(site.home.shim, SHIM.encode(), 0o700)
    # With the shim's whole path it is ready to be pasted.
    settings = snippet.render(snippet.load(site.root), site.home.shim)
    write_durably(site.home.snippet, settings.encode())
    return ALREADY if previous == name else name


def current(site: SetupSite) -> str:
    """Return the name of the folder that `app/current` leads to, or ""."""
    try:
        return os.path.basename(os.readlink(site.home.app_current))
    except OSError:
        return ""


def digest(root: str) -> str:
    """Return eight hexadecimal digits that change whenever the installed code would."""
    total = hashlib.sha256()
    for path in files(root):
        with open(os.path.join(root, path), "rb") as file:
            total.update(path.encode() + b"\0" + hashlib.sha256(file.read()).digest())
    return total.hexdigest()[:8]


def files(root: str) -> Iterator[str]:
    """Yield the files to install, relative to `root`, in a fixed order."""
    for part in PARTS:
        if os.path.isfile(os.path.join(root, part)):
            yield part
            continue
        for folder, folder_names, file_names in os.walk(os.path.join(root, part)):
            folder_names[:] = sorted(name for name in folder_names if name not in _SKIPPED)
            for name in sorted(file_names):
                if not name.endswith(".pyc"):
                    yield os.path.relpath(os.path.join(folder, name), root)


def _copy(root: str, folder: str) -> None:
    aside = f"{folder}.{os.getpid()}.part"
    try:
        os.mkdir(aside, 0o700)
        for path in files(root):
            target = os.path.join(aside, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            source = os.path.join(root, path)
            shutil.copyfile(source, target)
            os.chmod(target, 0o700 if os.access(source, os.X_OK) else 0o600)
        os.rename(aside, folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _sweep(site: SetupSite, keep: set[str]) -> None:
    """Remove older versions; `keep` holds the current one and the one before, which a daemon or a
    hook that is just running may still read."""
    for name in os.listdir(site.home.app):
        folder = site.home.path("app", name)
        if name not in keep and os.path.isdir(folder) and not os.path.islink(folder):
            shutil.rmtree(folder, ignore_errors=True)
