"""Importing a package without parts of it, or of what it needs, that are never used here: stand-ins take
their places. What would use one of them raises an error that says so."""

from __future__ import annotations

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_standing = threading.RLock()
"""Held while imports find stand-ins."""


@contextlib.contextmanager
def standing_in(packages: tuple[str, ...], why: str, hidden: str = "__") -> Iterator[None]:
    """Let imports in this block find stand-ins for these packages and their modules.

    Args:
        packages: their dotted names.
        why: what is said after the name of a class that somebody wants to use.
        hidden: how the names begin that a stand-in does not have.
    """
    finder = _Finder(packages, why, hidden)
    with _standing:
        sys.meta_path.insert(0, finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)


def forget(*packages: str) -> None:
    """Drop half-imported packages with their modules, so that they can be imported anew."""
    for name in list(sys.modules):
        if _belongs(name, packages):
            del sys.modules[name]


def real(name: str) -> Any:
    """Return a module itself where a stand-in may have taken its place: what seldom is used, is used after all."""
    # While another thread's imports find stand-ins, this one would find one again.
    with _standing:
        if isinstance(sys.modules.get(name), _StandIn):
            forget(name)
        return importlib.import_module(name)


class _Absent(type):
    """The type of the stand-ins: classes that can be named but not used."""

    why: str

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{cls.__name__} {cls.why}")


class _StandIn(ModuleType):
    """A module in which every public name is a class that cannot be used."""

    def __init__(self, name: str, why: str, hidden: str) -> None:
        super().__init__(name)
        self.__why, self.__hidden = why, hidden

    def __getattr__(self, name: str) -> Any:
        if name.startswith((self.__hidden, "_StandIn__")):
            raise AttributeError(name)
        stand_in = _Absent(name, (), {"__module__": self.__name__, "why": self.__why})
        setattr(self, name, stand_in)
        return stand_in


class _Finder(MetaPathFinder, Loader):
    """Finds stand-ins for what is left out."""

    def __init__(self, packages: tuple[str, ...], why: str, hidden: str) -> None:
        self._packages, self._why, self._hidden = packages, why, hidden

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if not _belongs(fullname, self._packages):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name, self._why, self._hidden)

    def exec_module(self, module: ModuleType) -> None:
        """A stand-in has nothing to execute."""


def _belongs(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)
