"""The runtime: a virtual environment with the pinned packages, and the hooks' interpreter."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from vector_memory.errors import SetupError
from vector_memory.setup.commands import works
from vector_memory.setup.site import ALREADY, SetupSite, base_python, describe_python, point
from vector_memory.setup.uv import Uv
from vector_memory.system.durable_files import write_durably

UNUSED = ("numpy/**/tests", "pyarrow/tests", "pyarrow/include")
"""Folders of packages that nothing needs at run time: 30 MB."""
_ASK_BASE = "import sys; print(sys._base_executable)"


def install(site: SetupSite, uv: Uv) -> str:
    """Make the environment hold the pinned packages; return what was done.

    A virtual environment has its own path written into it, so it is built in place, and the stamp
    tells a whole one from one that was interrupted.

    Raises:
        SetupError: uv could not make or fill it.
    """
    wanted_key = key(site)
    python = site.home.runtime_python
    is_usable = works([python, "-I", "-c", "pass"])
    stamped_key = _read_stamp(site)
    if is_usable and stamped_key == wanted_key:
        return ALREADY
    if stamped_key:
        os.unlink(site.stamp)
    if not (is_usable and stamped_key):
        # Half a package would count as installed for uv.
        _make_venv(site, uv)
    install_packages(uv, python, site.requirements("runtime"))
    _prune(site.home.path("runtime", "venv"))
    stamp = {"requirements": wanted_key, "python": describe_python()}
    write_durably(site.stamp, json.dumps(stamp).encode())
    return describe_python()


def install_packages(uv: Uv, python: str, *requirements: str) -> None:
    """Install pinned requirements files into the environment of `python`.

    The files name every package that is needed, and leave out some that packages only ask for.
    """
    files = [part for path in requirements for part in ("-r", path)]
    uv(
        *("pip", "install", "--no-deps", "--require-hashes", "--python", python, *files),
        doing="install the packages",
    )


def _prune(venv: str) -> None:
    for packages in Path(venv).glob("lib/python*/site-packages"):
        for pattern in UNUSED:
            for folder in list(packages.glob(pattern)):
                shutil.rmtree(folder, ignore_errors=True)


def _make_venv(site: SetupSite, uv: Uv) -> None:
    folder = site.home.path("runtime", "venv")
    shutil.rmtree(folder, ignore_errors=True)
    uv(
        *("venv", "--no-python-downloads", "--no-project", "--python", base_python(), folder),
        doing="make the Python environment",
    )


def key(site: SetupSite) -> str:
    """Return what the stamp says when nothing is to be done: a digest of the requirements."""
    with open(site.requirements("runtime"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def link_hook_python(site: SetupSite) -> str:
    """Point `runtime/hook-python` at the real interpreter, and see that it runs.

    The venv's own python would look for its `pyvenv.cfg` first, and a shim costs 100 ms.

    Raises:
        SetupError: no interpreter can run a hook.
    """
    link = site.home.hook_python
    for python in _hook_candidates(site):
        if works([python, "-I", "-S", "-c", "import _socket, posix, sqlite3"]):
            point(link, python)
            if works([link, "-I", "-S", "-c", "import _socket, posix, sqlite3"]):
                return python
    raise SetupError(
        "No interpreter was found that can run a hook.",
        "Install Python 3.10 or newer from your system's packages and run ./bootstrap.sh again.",
    )


def _hook_candidates(site: SetupSite) -> list[str]:
    venv = site.home.runtime_python
    result = subprocess.run(
        [venv, "-I", "-c", _ASK_BASE], capture_output=True, text=True, check=False
    )
    base = result.stdout.strip()
    # The path as the environment knows it survives a system's minor upgrades, unlike its real
    # path; a wrapper script would be a shim again.
    paths = [path for path in (base, os.path.realpath(base), base_python()) if _is_binary(path)]
    return [*paths, os.path.realpath(venv)]


def _is_binary(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) != b"#!"
    except OSError:
        return False


def _read_stamp(site: SetupSite) -> str:
    try:
        with open(site.stamp, encoding="utf-8") as file:
            return str(json.load(file)["requirements"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
