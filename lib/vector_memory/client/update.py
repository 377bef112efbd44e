"""Start the set-up of a newer version in the background. Standard library only, Python 3.9."""

import os

from vector_memory.client import spawn


def start(home: str, lib: str) -> None:
    """Run the background set-up of the code in `lib`, detached; it locks and limits itself."""
    script = os.path.join(lib, "vector_memory", "setup", "start.sh")
    spawn.run_apart(["/bin/sh", script], {**os.environ, "VECTOR_MEMORY_HOME": home})
