"""Start the set-up of a newer version in the background. Standard library only, Python 3.9."""

import os

from vector_memory.client import spawn


def start(home: str, lib: str) -> None:
    """Run the background set-up of the code in `lib`, detached; it locks and limits itself."""
    script = os.path.join(lib, "vector_memory", "setup", "start.sh")
    environ = {**os.environ, "VECTOR_MEMORY_HOME": home}
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    os.posix_spawn(
        "/bin/sh",
        ["sh", script],
        environ,
        file_actions=actions,
        setsid=True,
        setsigdef=spawn.PLAIN_SIGNALS,
    )
