"""The MCP SDK without what a server on stdio never uses.

There is one such server for each session, so what it takes counts. `import mcp` loads the client, the
high-level server and HTTP with all its libraries; a third of the memory and of the start goes into that.
Here the packages are entered without their `__init__`, a stand-in takes the place of HTTP, of TLS and of
authorisation, and validators are built when they are used. Where that does not work with another version of the SDK, the whole is imported.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Generic, TypeVar

from vector_memory.system.standins import forget, standing_in

T = TypeVar("T")
STAND_IN_FOR = (
    "starlette",
    "sse_starlette",
    "httpx2",
    "ssl",
    "mcp.server.auth",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
)
BARE = ("mcp", "mcp.server")
WANTED = ("mcp.server.lowlevel.server", "mcp.server.stdio")
LOOP = "anyio._backends._asyncio"
"""What anyio imports when it begins to run, which wants `ssl`."""


def load(light: bool = True) -> None:
    """Import the parts of the SDK that the server needs; a second call does nothing.

    Args:
        light: leave out what is not used. Where that fails, the whole is imported after all.
    """
    if all(name in sys.modules for name in WANTED):
        return
    # The runtime's libraries were compiled when it was made, and Python's own long before. Looked for
    # under the prefix of ours, the first server would compile them all again, and its client not wait.
    prefix, sys.pycache_prefix = sys.pycache_prefix, None
    try:
        _load(light)
    finally:
        sys.pycache_prefix = prefix


def _load(light: bool) -> None:
    if light and "mcp" not in sys.modules:
        try:
            _load_light()
        except Exception:
            # Another version of the SDK may use what is left out while it is imported.
            forget(*(name.partition(".")[0] for name in (*BARE, *STAND_IN_FOR)))
        else:
            return
    for name in WANTED:
        importlib.import_module(name)


def _load_light() -> None:
    why = "belongs to HTTP, which is left out here."
    with standing_in(STAND_IN_FOR, why), _without_openssl(), _built_when_used():
        for name in BARE:
            sys.modules[name] = _bare_package(name)
        for name in (*WANTED, LOOP):
            importlib.import_module(name)


@contextlib.contextmanager
def _without_openssl() -> Iterator[None]:
    """Let `hashlib` be imported in this block without OpenSSL, which takes 4 MB, where Python has hashes of its
    own."""
    if "hashlib" in sys.modules or importlib.util.find_spec("_md5") is None:
        yield
        return
    # This is how an import is made to fail, which `hashlib` is prepared for.
    sys.modules["_hashlib"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["_hashlib"]


@contextlib.contextmanager
def _built_when_used() -> Iterator[None]:
    """Let pydantic build the validators of what is defined in this block when each is used first: a session
    uses a dozen of five hundred, and building them all takes a third of the start."""
    import pydantic

    eager, settings = pydantic.TypeAdapter, pydantic.BaseModel.model_config

    class LateAdapter(eager[T], Generic[T]):  # type: ignore[valid-type, misc]
        """A `TypeAdapter` of the same kind."""

        def __init__(self, type: Any, *, _parent_depth: int = 2) -> None:
            # A model has settings of its own.
            late = None if inspect.isclass(type) else pydantic.ConfigDict(defer_build=True)
            super().__init__(type, config=late, _parent_depth=_parent_depth + 1)

    pydantic.BaseModel.model_config = pydantic.ConfigDict(**settings, defer_build=True)
    pydantic.TypeAdapter = LateAdapter  # type: ignore[misc, assignment]
    try:
        yield
    finally:
        pydantic.BaseModel.model_config = settings
        pydantic.TypeAdapter = eager  # type: ignore[misc]


def _bare_package(name: str) -> ModuleType:
    """Return a package whose modules can be imported and whose own code was not run."""
    parent, _, own_name = name.rpartition(".")
    if parent:
        folders = [os.path.join(folder, own_name) for folder in sys.modules[parent].__path__]
    else:
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise ImportError(f"There is no package {name}.")
        folders = list(spec.submodule_search_locations)
    package = ModuleType(name)
    package.__path__ = folders
    package.__spec__ = ModuleSpec(name, None, is_package=True)
    package.__spec__.submodule_search_locations = folders
    return package
