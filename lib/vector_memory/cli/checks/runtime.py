"""The runtime: Python, its packages, the interpreter of the hooks, the installed code."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Iterator
from importlib.util import find_spec

from vector_memory.cli.checks import Case, CheckResult, fail, ok, warn
from vector_memory.system.paths import Home, version

PACKAGES = ("lancedb", "pyarrow", "numpy", "onnxruntime", "tokenizers", "pydantic", "typer", "rich")
SET_UP = "Run ./bootstrap.sh in the plugin's folder."
SLOW_MS = 60.0


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
            done = subprocess.run(
                [path, "-I", "-S", "-c", "pass"], capture_output=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return fail(f"{path} does not run: {error}.", SET_UP)
        times.append((time.perf_counter() - began) * 1000)
        if done.returncode:
            return fail(f"{path} ended with {done.returncode}.", SET_UP)
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
    return ok(f"Version {installed} is installed")
