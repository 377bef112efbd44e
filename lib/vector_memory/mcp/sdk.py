"""The MCP SDK without what a server on stdio never uses.

There is one such server for each session, so what it takes counts. `import mcp` loads the client, the
high-level server and HTTP with all its libraries; a third of the memory and of the start goes into that.
Here the packages are entered without their `__init__`, and a stand-in takes the place of HTTP and of
authorisation. Where that does not work with another version of the SDK, the whole is imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from vector_memory.system.standins import forget, standing_in

STAND_IN_FOR = (
    "starlette",
    "sse_starlette",
    "httpx2",
    "mcp.server.auth",
    "mcp.server.streamable_http",
    "mcp.server.streamable_http_manager",
)
BARE = ("mcp", "mcp.server")
WANTED = ("mcp.server.lowlevel.server", "mcp.server.stdio")


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
    with standing_in(STAND_IN_FOR, "belongs to HTTP, which is left out here."):
        for name in BARE:
            sys.modules[name] = _bare(name)
        for name in WANTED:
            importlib.import_module(name)


def _bare(name: str) -> ModuleType:
    """Return a package whose modules can be imported and whose own code was not run."""
    above, _, last = name.rpartition(".")
    if above:
        folders = [os.path.join(folder, last) for folder in sys.modules[above].__path__]
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
