"""Start the daemon, detached, without waiting for it. Standard library only, Python 3.9."""

import os
import signal

from vector_memory.paths import Home

_DROPPED = ("CLAUDE", "ANTHROPIC_", "PYTHON", "LD_", "DYLD_")
PLAIN_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
"""Signals that `hooks/run` ignores, and that what a hook starts has to hear."""
_KEPT = ("CLAUDE_CONFIG_DIR",)


def spawn(home: "Home | str", lib: str) -> bool:
    """Start a daemon for a data home and return at once; False where there is no runtime.

    A second daemon ends by itself: the first one holds the lock.

    Args:
        home: the data home.
        lib: the folder that holds this package, used while none is installed in `app/current`.
    """
    home = home if isinstance(home, Home) else Home(home)
    python = home.runtime_python
    if not os.access(python, os.X_OK):
        return False
    home.make()
    script = os.path.join(daemon_lib(home, lib), "vector_memory", "daemon", "__main__.py")
    command = [python, "-I", "-X", "pycache_prefix=" + home.pycache, script, home.root]
    log = os.path.join(home.logs, "daemon.out")
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    # What it writes before its own first line, its bytecode, is nobody else's either.
    before = os.umask(0o077)
    try:
        os.posix_spawn(
            python,
            command,
            _environment(home),
            file_actions=actions,
            setsid=True,
            setsigdef=PLAIN_SIGNALS,
        )
    finally:
        os.umask(before)
    return True


def daemon_lib(home: Home, lib: str) -> str:
    """Return the folder of the code that a daemon runs from: the installed one if there is one.

    Its real path, since `app/current` may be switched while the daemon runs.
    """
    installed = os.path.join(os.path.realpath(home.app_current), "lib")
    found = os.path.exists(os.path.join(installed, "vector_memory", "daemon", "__main__.py"))
    return installed if found else lib


def _environment(home: Home) -> "dict[str, str]":
    """Return what the daemon may know: nothing of the session that happened to start it."""
    environ = {
        key: value
        for key, value in os.environ.items()
        if key in _KEPT or not key.startswith(_DROPPED)
    }
    environ["VECTOR_MEMORY_HOME"] = home.root
    # Must be there before the process starts: without them glibc keeps some 100 MB after bulk work.
    environ.setdefault("MALLOC_ARENA_MAX", "2")
    environ.setdefault("MALLOC_TRIM_THRESHOLD_", "131072")
    return environ
