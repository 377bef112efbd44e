"""uv: the one on PATH, else one of our own from the package registry."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping

from vector_memory.setup.commands import run, works
from vector_memory.setup.site import SetupSite, base_python
from vector_memory.system import pip_config

OLDEST = (0, 5)
"""The first that knows the variables for indexes that `pip_config` sets."""
NETWORK_HINT = (
    "Check that the package registry can be reached (a proxy or a mirror goes into pip's or uv's"
    " configuration), then run ./bootstrap.sh again: what is there already is kept."
)
PIP_HINT = (
    "Install uv, or Python's pip and venv (Debian and Ubuntu: apt install python3-pip"
    " python3-venv), then run ./bootstrap.sh again."
)


class Uv:
    """A uv that works, with the environment it is to run in."""

    def __init__(self, program: str, site: SetupSite, environ: Mapping[str, str]) -> None:
        self.program = program
        self.site = site
        self.environ = environment(environ, site, own=program.startswith(site.home.runtime))

    def __call__(self, *arguments: str, doing: str) -> str:
        """Run uv and return what it printed.

        Raises:
            CommandError: it failed.
        """
        return run(
            [self.program, *arguments],
            self.site.log,
            doing=doing,
            hint=NETWORK_HINT,
            environ=self.environ,
            cwd=self.site.home.runtime,
        )

    @contextlib.contextmanager
    def packages(self, requirements: str) -> Iterator[str]:
        """Yield a temporary folder with the pinned packages of a requirements file in it."""
        with _temporary_folder(self.site, ".packages-") as folder:
            self(
                *("pip", "install", "--no-deps", "--require-hashes", "--target", folder),
                *("--python", self.site.home.runtime_python, "-r", requirements),
                doing=f"install {os.path.basename(requirements)}",
            )
            yield folder


def _temporary_folder(site: SetupSite, prefix: str) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(
        prefix=prefix, dir=site.home.runtime, ignore_cleanup_errors=True
    )


def environment(environ: Mapping[str, str], site: SetupSite, own: bool) -> dict[str, str]:
    """Return uv's environment: the user's, and pip's sources. Nothing is compiled: all that runs here keeps its
    bytecode in `run/pycache`, and looks nowhere else for any.

    Args:
        own: it is our uv, whose cache is of no use to anybody once all is installed.
    """
    variables = {
        name: value
        for name, value in environ.items()
        if name not in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONDONTWRITEBYTECODE", "UV_PYTHON")
    }
    if own and "UV_CACHE_DIR" not in environ:
        variables["UV_CACHE_DIR"] = cache(site)
    plain = {"UV_NO_PROGRESS": "1", "NO_COLOR": "1"}
    return {**variables, **pip_config.uv_environ(environ), **plain}


def cache(site: SetupSite) -> str:
    """Return the folder of our own uv's cache: it outlives an interruption, not the set-up."""
    return site.home.path("runtime", ".cache")


def get(site: SetupSite, environ: Mapping[str, str]) -> Uv:
    """Return uv: PATH's if it is new enough, else our own, installed first if need be.

    Raises:
        SetupError: there is none and it could not be installed.
    """
    program = find(site, environ) or install(site, environ)
    return Uv(program, site, environ)


def find(site: SetupSite, environ: Mapping[str, str]) -> str | None:
    """Return the path of a uv that works and is new enough, or None."""
    own_uv = site.home.path("runtime", "uv", "bin", "uv")
    for program in (shutil.which("uv", path=environ.get("PATH")), own_uv):
        if program and version(program) >= OLDEST:
            return program
    return None


def version(program: str) -> tuple[int, ...]:
    """Return uv's version, or () for what is no working uv."""
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ()
    match = re.match(r"uv (\d+)\.(\d+)", answer.stdout)
    return tuple(int(part) for part in match.groups()) if match else ()


def install(site: SetupSite, environ: Mapping[str, str]) -> str:
    """Install our own uv with pip and return its path.

    Raises:
        SetupError: Python has no pip, or pip could not get uv.
    """
    folder = site.home.path("runtime", "uv")
    with _temporary_folder(site, ".uv-") as aside:
        with _pip(site) as pip:
            run(
                [
                    *(*pip, "install", "--quiet", "--disable-pip-version-check", "--no-deps"),
                    *("--require-hashes", "--target", aside, "-r", site.requirements("uv")),
                ],
                site.log,
                doing="install uv",
                hint=NETWORK_HINT,
                environ=environ,
            )
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(aside, folder)
    return os.path.join(folder, "bin", "uv")


@contextlib.contextmanager
def _pip(site: SetupSite) -> Iterator[list[str]]:
    """Yield a command that runs pip: the Python's own, else that of a passing venv."""
    for python in dict.fromkeys((sys.executable, base_python())):
        if works([python, "-I", "-m", "pip", "--version"]):
            yield [python, "-m", "pip"]
            return
    with _temporary_folder(site, ".pip-") as folder:
        run(
            [base_python(), "-I", "-m", "venv", folder],
            site.log,
            doing="make an environment with pip in it",
            hint=PIP_HINT,
        )
        yield [os.path.join(folder, "bin", "python"), "-m", "pip"]
