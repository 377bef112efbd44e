"""Importing LanceDB without the client of its cloud catalogue, and without Arrow's datasets.

`import lancedb` loads hundreds of generated pydantic models of a remote catalogue's client, which
take two thirds of the import's time and 20 MB, and Arrow's datasets and file systems with the clients
of four clouds, which take 9 MB. A local database never uses either. Stand-ins take their places. What
would use one of them raises an error that says so.

Of what is left a third of the time went to checks that LanceDB's methods override one: they read the
bytecode around each. From Python 3.12 on LanceDB does without them itself.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Iterator
from types import ModuleType

from vector_memory.system.standins import forget, standing_in

CATALOGUE = "lance_namespace_urllib3_client"
STAND_IN_FOR = (CATALOGUE, "pyarrow.dataset", "pyarrow.fs")
WHY = (
    "belongs to LanceDB's remote catalogue or to Arrow's datasets, which are left out here. "
    "Import it with load_lancedb(light=False) in a new process."
)

_lock = threading.Lock()


def load_lancedb(light: bool = True) -> ModuleType:
    """Import LanceDB and return it; later calls return the same module.

    Args:
        light: leave out what `STAND_IN_FOR` names. When LanceDB cannot be imported without
            it, the whole is imported after all.
    """
    # Two threads that import it at once would meet a half-made stand-in.
    with _lock:
        if "lancedb" in sys.modules:
            return sys.modules["lancedb"]
        # Its log lines would go to the daemon's stderr, which nobody reads.
        os.environ.setdefault("LANCEDB_LOG", "error")
        # Arrow's own allocator keeps some 70 MB after bulk writes; the system's gives them back.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
        if light and CATALOGUE not in sys.modules:
            try:
                with standing_in(STAND_IN_FOR, WHY, hidden="_"), _overriding_unchecked():
                    return importlib.import_module("lancedb")
            except Exception:
                # Another version of LanceDB may use the client while it is imported.
                forget("lancedb", "lance_namespace", *STAND_IN_FOR)
        return importlib.import_module("lancedb")


@contextlib.contextmanager
def _overriding_unchecked() -> Iterator[None]:
    """Let imports in this block find decorators of `overrides` that check nothing."""
    unchecked = ModuleType("overrides")
    vars(unchecked).update(override=lambda method: method, EnforceOverrides=object)
    if sys.modules.setdefault("overrides", unchecked) is not unchecked:
        yield
        return
    try:
        yield
    finally:
        del sys.modules["overrides"]
