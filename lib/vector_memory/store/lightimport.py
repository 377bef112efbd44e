"""Importing LanceDB without the client of its cloud catalogue.

`import lancedb` loads hundreds of generated pydantic models of a remote catalogue's client, which
take two thirds of the import's time and 20 MB, and which a local database never uses. A stand-in
takes their place. What would use one of them raises an error that says so.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

STAND_IN_FOR = "lance_namespace_urllib3_client"

_lock = threading.Lock()


def load_lancedb(light: bool = True) -> ModuleType:
    """Import LanceDB and return it; later calls return the same module.

    Args:
        light: leave out the remote catalogue's client. When LanceDB cannot be imported without
            it, the whole is imported after all.
    """
    with _lock:
        if "lancedb" in sys.modules:
            return sys.modules["lancedb"]
        # Its log lines would go to the daemon's stderr, which nobody reads.
        os.environ.setdefault("LANCEDB_LOG", "error")
        # Arrow's own allocator keeps some 70 MB after bulk writes; the system's gives them back.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        if light and STAND_IN_FOR not in sys.modules:
            try:
                return _import_light()
            except Exception:
                # Another version of LanceDB may use the client while it is imported.
                _forget("lancedb", "lance_namespace", STAND_IN_FOR)
        return importlib.import_module("lancedb")


def _import_light() -> ModuleType:
    finder = _StandInFinder()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lancedb")
    finally:
        sys.meta_path.remove(finder)


def _forget(*packages: str) -> None:
    """Drop half-imported packages, so that they can be imported anew."""
    for name in list(sys.modules):
        if name.split(".")[0] in packages:
            del sys.modules[name]


class _Absent(type):
    """The type of the stand-ins: classes that can be named but not used."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{cls.__name__} belongs to LanceDB's remote catalogue, which is left out here. "
            "Import it with load_lancedb(light=False) in a new process."
        )


class _StandIn(ModuleType):
    """A module in which every public name is a class that cannot be used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        stand_in = _Absent(name, (), {"__module__": self.__name__})
        setattr(self, name, stand_in)
        return stand_in


class _StandInFinder(MetaPathFinder, Loader):
    """Finds stand-ins for the package that is left out and for its submodules."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname.split(".")[0] != STAND_IN_FOR:
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """A stand-in has nothing to execute."""
