"""`./bootstrap.sh test`: installs what tests need into `.build/`, and runs every check.

Nothing of it touches the user's own data home or settings: runtime and model go into a data home
below `.build/`, and the checks run with a scratch HOME.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence

from checkout_tools import Kit

from vector_memory.errors import VectorMemoryError
from vector_memory.setup import locking, runtime, steps
from vector_memory.setup.site import SetupSite
from vector_memory.setup.steps import SetupPlan, SetupStep
from vector_memory.system.paths import Home

CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("lint-imports",),
)

TYPES = ("mypy",)
"""A check that runs beside the tests: in a fresh clone it keeps one processor busy for half a minute."""

WHOLE = (
    # Much of it waits for processes. A file's tests share what is slow to make, so they stay together.
    "--numprocesses=auto", "--maxprocesses=4", "--dist=loadfile",
    "--durations=25",
)  # fmt: skip
"""How pytest runs everything."""

ALONE = ("--last-failed", "--last-failed-no-failures=none", "--numprocesses=0", "-v")
"""How what failed beside other tests is run once more, by itself: much of it waits for processes
on a machine that others use too. What is wrong fails alone as well."""

MOST_ALONE = 20
"""With more failures than this the machine is not to blame."""

SOME_FAILED = 1
"""Pytest's exit code where tests ran and some failed."""


def main(root: str, arguments: Sequence[str]) -> int:
    """Install what tests need, run the checks and the tests, and return the exit code.

    Args:
        arguments: for pytest. With any, only pytest runs.
    """
    build = os.environ.get("VECTOR_MEMORY_BUILD") or os.path.join(root, ".build")
    site = SetupSite(root, Home(os.path.join(build, "home")))
    site.home.make()
    plan = SetupPlan(site, keep_cache=True)
    kit = Kit(site, build)
    try:
        waiting = "Another run prepares the same folder; waiting for it …"
        with locking.hold_lock(os.path.join(build, ".lock"), waiting):
            steps.run([*plan.base(), *_more(plan, kit)], sys.stdout)
    except VectorMemoryError as error:
        steps.report(error, site.log, sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return _check(kit, plan, arguments)


def _more(plan: SetupPlan, kit: Kit) -> list[SetupStep]:
    return [
        SetupStep("Linking the hooks' interpreter", lambda: runtime.link_hook_python(plan.site)),
        SetupStep("Installing the test tools", lambda: kit.install(plan.uv)),
        SetupStep("Installing sentence-transformers", lambda: kit.install_reference(plan.uv)),
        SetupStep("Installing the client", kit.install_client),
        SetupStep("Installing a browser", kit.install_browser),
    ]


def _check(kit: Kit, plan: SetupPlan, arguments: Sequence[str]) -> int:
    scratch = tempfile.mkdtemp(prefix="vm-")
    environ = kit.environ(plan.uv, scratch)
    try:
        if arguments:
            return _run(kit, ("pytest", *arguments), environ)
        failed: list[tuple[str, ...]] = [one for one in CHECKS if _run(kit, one, environ)]
        with _beside(kit, TYPES, environ, failed):
            code = _run_whole(kit, environ, os.path.join(scratch, "cache"))
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for check in failed:
        sys.stderr.write(f"failed: {' '.join(check)}\n")
    return code or int(bool(failed))


def _run_whole(kit: Kit, environ: dict[str, str], cache: str) -> int:
    """Run all tests, then what failed once more, alone. Returns pytest's exit code."""
    remember = ("-o", f"cache_dir={cache}")
    code = _run(kit, ("pytest", *WHOLE, *remember), environ)
    if code != SOME_FAILED or not 0 < _count_failed(cache) <= MOST_ALONE:
        return code
    sys.stdout.write("What failed beside other tests is run once more, alone:\n")
    return _run(kit, ("pytest", *ALONE, *remember), environ)


def _count_failed(cache: str) -> int:
    """Return how many tests the last run left as failed in pytest's cache; 0 where it left none."""
    try:
        with open(os.path.join(cache, "v", "cache", "lastfailed"), encoding="utf-8") as file:
            return len(json.load(file))
    except (OSError, ValueError):
        return 0


@contextlib.contextmanager
def _beside(
    kit: Kit, check: tuple[str, ...], environ: dict[str, str], failed: list[tuple[str, ...]]
) -> Iterator[None]:
    """Run a check while the block runs, and tell what it said after that; one that fails is added to those that did."""
    with (
        tempfile.TemporaryFile() as told,
        subprocess.Popen(
            [_program(kit, check), *check[1:]],
            cwd=kit.site.root,
            env=environ,
            stdout=told,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            yield
        except BaseException:
            process.kill()
            raise
        if process.wait():
            failed.append(check)
        told.seek(0)
        sys.stdout.write(f"$ {' '.join(check)}\n{told.read().decode(errors='replace')}")


def _program(kit: Kit, command: Sequence[str]) -> str:
    """Return the path of a tool of the test environment."""
    return os.path.join(os.path.dirname(kit.python), command[0])


def _run(kit: Kit, command: Sequence[str], environ: dict[str, str]) -> int:
    """Run one check of the test environment in the checkout and return its exit code."""
    sys.stdout.write(f"$ {' '.join(command)}\n")
    sys.stdout.flush()
    program = _program(kit, command)
    return subprocess.run(
        [program, *command[1:]],
        cwd=kit.site.root,
        # lint-imports imports nothing, but finds the package on Python's path alone.
        env={**environ, "PYTHONPATH": kit.site.lib}
        if program.endswith("lint-imports")
        else environ,
        check=False,
    ).returncode
