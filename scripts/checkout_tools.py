"""What only tests need: the test tools, the reference embedder, the real client."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import shutil

from vector_memory.setup import runtime
from vector_memory.setup.commands import CommandError, run, works
from vector_memory.setup.site import ALREADY, SetupSite, base_python
from vector_memory.setup.uv import NETWORK_HINT, Uv
from vector_memory.system import pip_config

CLIENT = "@anthropic-ai/claude-code@2.1.329"
_HAS_REFERENCE = """
from importlib.metadata import version
version("sentence-transformers"), version("torch")
"""


class Kit:
    """The test environment below one build folder."""

    def __init__(self, site: SetupSite, build: str) -> None:
        self.site = site
        self.build = build

    @property
    def python(self) -> str:
        return os.path.join(self.build, "venv", "bin", "python")

    def install(self, uv: Uv) -> str:
        """Make an environment with the runtime's packages and the test tools."""
        files = [self.site.requirements(name) for name in ("runtime", "convert", "dev")]
        stamp = os.path.join(self.build, "venv", ".complete")
        wanted = _digest(files)
        if _read(stamp) == wanted and works([self.python, "-I", "-c", "pass"]):
            return ALREADY
        venv = os.path.join(self.build, "venv")
        shutil.rmtree(venv, ignore_errors=True)
        uv(
            *("venv", "--no-python-downloads", "--no-project", "--python", base_python(), venv),
            doing="make the test environment",
        )
        runtime.install_packages(uv, self.python, *files)
        with open(stamp, "w", encoding="ascii") as file:
            file.write(wanted)
        return "pytest, mypy, ruff and more"

    def install_reference(self, uv: Uv) -> str:
        """Add sentence-transformers on the CPU build of torch, which no lock can name."""
        if works([self.python, "-I", "-c", _HAS_REFERENCE]):
            return ALREADY
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "add_reference.py")
        run(
            [self.python, "-B", script, uv.program],
            self.site.log,
            doing="install sentence-transformers",
            hint=NETWORK_HINT,
            environ={**uv.environ, "PYTHONPATH": self.site.lib},
        )
        return "on the CPU"

    def install_client(self) -> str:
        """Install the real client from npm; without npm its tests are left out."""
        if self.client():
            return ALREADY
        if not shutil.which("npm"):
            return "npm is missing, so the tests with the real client are left out"
        folder = os.path.join(self.build, "client")
        run(
            ["npm", "install", "--prefix", folder, "--ignore-scripts", "--no-save", CLIENT],
            self.site.log,
            doing="install the client",
            hint=NETWORK_HINT,
        )
        return CLIENT.rpartition("@")[2]

    def install_browser(self) -> str:
        """Install the browser in which the dashboard is tested, the system's own; where that cannot be, its tests
        are left out."""
        if browser():
            return ALREADY
        if not shutil.which("apt-get") or os.geteuid() != 0:
            return "chromium is missing, so the tests in a browser are left out"
        with contextlib.suppress(CommandError):
            # One source of many may be out of reach; the browser's counts.
            self._apt("update", "-q")
        self._apt("install", "-y", "-q", "--no-install-recommends", "chromium")
        return "chromium, by apt"

    def _apt(self, *words: str) -> None:
        environ = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run(
            ["apt-get", *words],
            self.site.log,
            doing="install chromium",
            hint=NETWORK_HINT,
            environ=environ,
        )

    def client(self) -> str:
        """Return the path of the client's binary, or ""."""
        scope = os.path.join(self.build, "client", "node_modules", "@anthropic-ai")
        paths = glob.glob(os.path.join(glob.escape(scope), "claude-code-*", "claude"))
        return next((path for path in sorted(paths) if works([path, "--version"])), "")

    def environ(self, uv: Uv, scratch: str) -> dict[str, str]:
        """Return the checks' environment: scratch homes, the tools on PATH, and where the runtime,
        the models and the client are."""
        home = os.path.join(scratch, "home")
        os.makedirs(home)
        folders = [os.path.dirname(self.python), os.path.dirname(uv.program)]
        environ = {
            **os.environ,
            **pip_config.uv_environ(os.environ),
            "UV_CACHE_DIR": uv("cache", "dir", doing="find uv's cache").strip(),
            "PATH": os.pathsep.join([*folders, os.environ.get("PATH", os.defpath)]),
            "HOME": home,
            "CLAUDE_CONFIG_DIR": os.path.join(home, ".claude"),
            "VECTOR_MEMORY_HOME": os.path.join(scratch, "data"),
            "VECTOR_MEMORY_TEST_RUNTIME": self.site.home.root,
            "VECTOR_MEMORY_TEST_MODELS": self.site.home.models,
            "VECTOR_MEMORY_TEST_CLIENT": self.client(),
            "VECTOR_MEMORY_TEST_BROWSER": browser(),
        }
        environ.pop("XDG_DATA_HOME", None)
        # Each worker would compile all tests, and all that they import, anew.
        environ.pop("PYTHONDONTWRITEBYTECODE", None)
        return environ


def browser() -> str:
    """Return the path of a Chromium of this system, or ""."""
    named = os.environ.get("VECTOR_MEMORY_TEST_BROWSER") or ""
    known = ("chromium", "chromium-browser", "google-chrome")
    return named or next((path for path in map(shutil.which, known) if path), "")


def _digest(files: list[str]) -> str:
    whole = hashlib.sha256()
    for path in files:
        with open(path, "rb") as file:
            whole.update(file.read())
    return whole.hexdigest()


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""
