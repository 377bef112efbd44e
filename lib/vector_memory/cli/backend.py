"""`backend`: the embedding backends."""

from __future__ import annotations

import os
import sys

from vector_memory import config
from vector_memory.cli import output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError
from vector_memory.system.paths import PACKAGE_ROOT, Home

PACKAGES = {
    "minilm": "onnxruntime",
    "sentence-transformers": "sentence_transformers",
    "ollama": "ollama",
}


def list_backends(call: Invocation) -> None:
    """Print the backends, which are installed and which one is used."""
    from importlib.util import find_spec

    chosen = config.load(Home().config).embedding_backend
    rows = [
        {"name": name, "installed": find_spec(package) is not None, "used": name == chosen}
        for name, package in PACKAGES.items()
    ]
    call.show(Row({"backends": rows}), _show)


def _show(answer: Row) -> None:
    words = [
        (row.text("name"), *(mark if row.flag(mark) else "" for mark in ("installed", "used")))
        for row in answer.rows("backends")
    ]
    output.table(("backend", "", ""), words)


def install(call: Invocation, name: str) -> None:
    """Install what a backend needs into the runtime.

    Raises:
        BadInputError: there is no such backend.
    """
    if name not in PACKAGES:
        raise BadInputError(f"There is no backend {name!r}.", f"Backends: {', '.join(PACKAGES)}.")
    from vector_memory.embed.install import install_backend
    from vector_memory.setup import uv
    from vector_memory.setup.site import SetupSite
    from vector_memory.system.private import close_below

    home = Home()
    root = os.path.dirname(os.path.dirname(PACKAGE_ROOT))
    program = uv.get(SetupSite(root, home), os.environ).program
    packages = install_backend(name, home.runtime_python, program, _progress)
    close_below(home.runtime)
    call.say(
        Row({"name": name, "installed": True, "packages": list(packages)}),
        f"{name} is installed: {', '.join(packages) or 'it was already'}.",
        f"Use it: vector-memory config set embedding_backend {name}",
    )


def _progress(done: int, total: int, doing: str) -> None:
    if sys.stderr.isatty():
        output.note(doing)
