"""The runtime: Python, its packages, the interpreter of the hooks, the installed code."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec

from vector_memory.cli.checks import Case, CheckResult, fail, ok, warn
from vector_memory.setup.app import digest
from vector_memory.system.paths import Home, version

PACKAGES = ("lancedb", "pyarrow", "numpy", "onnxruntime", "tokenizers", "pydantic", "typer", "rich")
SET_UP = "Run ./bootstrap.sh in the plugin's folder."
SLOW_MS = 60.0
ROOT_OPTION = "vector_memory_root"
"""By this option of the interpreter `bin/vector-memory` tells which folder it stands in."""


def check(case: Case) -> Iterator[CheckResult]:
    """Yield what is found of the runtime."""
    yield ok(f"Python {platform.python_version()}")
    yield _packages()
    yield _hook_interpreter(case.home)
    yield _installed(case.home)


def _packages() -> CheckResult:
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        return fail(f"Packages are missing: {', '.join(missing)}.", SET_UP)
    return ok(f"{len(PACKAGES)} packages")


def _hook_interpreter(home: Home) -> CheckResult:
    path = home.hook_python
    if not os.access(path, os.X_OK):
        return fail(f"The hooks have no interpreter: {path}.", SET_UP)
    times = []
    for _ in range(3):
        began = time.perf_counter()
        try:
            result = subprocess.run(
                [path, "-I", "-S", "-c", "pass"], capture_output=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return fail(f"{path} does not run: {error}.", SET_UP)
        times.append((time.perf_counter() - began) * 1000)
        if result.returncode:
            return fail(f"{path} ended with {result.returncode}.", SET_UP)
    message = f"The hooks' interpreter starts in {min(times):.0f} ms"
    if min(times) > SLOW_MS:
        return warn(message, "A wrapper script slows it down: set up anew.")
    return ok(message)


def _installed(home: Home) -> CheckResult:
    path = os.path.join(home.app_current, "lib", "vector_memory", "VERSION")
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            installed = file.read().strip()
    except OSError:
        return warn("No version is installed in the data home.", SET_UP)
    if installed != version():
        return warn(f"Installed is {installed}, this is {version()}.", SET_UP)
    if (root := other_code(home)) is not None:
        fix = f"Install it: {shlex.quote(os.path.join(root, 'bootstrap.sh'))}"
        return warn(f"The code in {root} is not what is installed.", fix)
    return ok(f"Version {installed} is installed")


def other_code(home: Home) -> str | None:
    """Return the folder that this was started from, where its code differs from what is installed: a plugin or a
    clone that moved on under the same version."""
    root = str(sys._xoptions.get(ROOT_OPTION, ""))
    installed = os.path.basename(os.path.realpath(home.app_current)).rpartition("-")[2]
    return root if root and digest(root) != installed else None
