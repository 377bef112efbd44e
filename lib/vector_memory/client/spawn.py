"""Start the daemon, or the set-up of a newer version, detached, without waiting for it. Standard library only, Python
3.9."""

import _signal  # type: ignore[import-not-found]
import fcntl
import os

from vector_memory.errors import StoreFullError
from vector_memory.system import private
from vector_memory.system.paths import Home

_DROPPED = ("CLAUDE", "ANTHROPIC_", "PYTHON", "LD_", "DYLD_")
_OF_ITS_OWN = ("TMPDIR", "TEMP", "TMP")
"""What is for the session alone that happens to start the daemon: a folder that may go when it ends."""
PLAIN_SIGNALS = (_signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM)
"""Signals that `hooks/run` ignores, and that what a hook starts has to hear."""
CONFIGURATION = "CLAUDE_CONFIG_DIR"
LOCK_FD = 9
"""Where a daemon finds the lock that was taken for it."""


def spawn(home: "Home | str", lib: str) -> bool:
    """Start a daemon for a data home, unless there is one, and return at once; False where there is no
    runtime.

    The lock is taken here and handed on: of any number of clients one starts a daemon, and none does
    while one lives, though it may not answer.

    Args:
        home: the data home.
        lib: the folder that holds this package, used while none is installed in `app/current`.

    Raises:
        StoreFullError: nothing can be written in the data home.
        BadInputError: somebody else could get at it.
    """
    home = home if isinstance(home, Home) else Home(home)
    python = home.runtime_python
    if not os.access(python, os.X_OK):
        return False
    if os.path.isdir(home.run) and not os.access(home.run, os.W_OK):
        raise StoreFullError(
            "No daemon can be started in %s: it can only be read." % home.root, "Make it writable."
        )
    try:
        home.make().require_closed()
        _start_once(home, python, lib)
    except OSError as error:
        raise StoreFullError(
            "No daemon can be started in %s: %s." % (home.root, error.strerror),
            "Free space on its disk or make it writable.",
        ) from error
    return True


def _start_once(home: Home, python: str, lib: str) -> None:
    lock = os.open(home.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _start(home, python, daemon_lib(home, lib), lock)
    except BlockingIOError:
        # A daemon holds it that lives, was just started, or is ending.
        pass
    finally:
        os.close(lock)


def _start(home: Home, python: str, lib: str, lock: int) -> None:
    script = os.path.join(lib, "vector_memory", "daemon", "__main__.py")
    command = [python, "-I", "-X", "pycache_prefix=" + home.pycache, script, home.root]
    log = os.path.join(home.logs, "daemon.out")
    # Where it has that number already, duplicating it changes nothing, and the child would not inherit it.
    os.set_inheritable(lock, lock == LOCK_FD)
    # What it writes before its own first line, its bytecode, is nobody else's either.
    previous_umask = os.umask(0o077)
    try:
        # This action comes first: where stdin, stdout or stderr were closed, the lock may have one of their numbers.
        run_apart(command, _environment(home), log, (os.POSIX_SPAWN_DUP2, lock, LOCK_FD))
    finally:
        os.umask(previous_umask)


def run_apart(
    command: "list[str]",
    environ: "dict[str, str]",
    log: str = os.devnull,
    *first_actions: "tuple[int, int, int]",
) -> None:
    """Run a program in a session of its own, with stderr in a file, and without waiting for it.

    Args:
        first_actions: what is done to its descriptors before that.
    """
    actions = [
        *first_actions,
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    os.posix_spawn(
        command[0],
        command,
        environ,
        file_actions=actions,
        setsid=True,
        setsigdef=PLAIN_SIGNALS,
    )


def set_up(home: str, lib: str) -> None:
    """Run the background set-up of the code in `lib`, a newer version's; it locks and limits itself."""
    script = os.path.join(lib, "vector_memory", "setup", "start.sh")
    run_apart(["/bin/sh", script], {**os.environ, "VECTOR_MEMORY_HOME": home})


def daemon_lib(home: Home, lib: str) -> str:
    """Return the folder of the code that a daemon runs from: the installed one if there is one.

    Its real path, since `app/current` may be switched while the daemon runs.
    """
    installed = os.path.join(os.path.realpath(home.app_current), "lib")
    is_installed = os.path.exists(os.path.join(installed, "vector_memory", "daemon", "__main__.py"))
    return installed if is_installed else lib


def _environment(home: Home) -> "dict[str, str]":
    """Return the daemon's environment: of the session that happened to start it nothing but its settings, which then
    hold for all sessions, and which `doctor` names."""
    environ = {
        key: value
        for key, value in os.environ.items()
        if (key == CONFIGURATION and _is_the_users(value))
        or not (key in _OF_ITS_OWN or key.startswith(_DROPPED))
    }
    environ["VECTOR_MEMORY_HOME"] = home.root
    # Must be there before the process starts: without them glibc keeps some 100 MB after bulk work. What a
    # prompt takes and frees, arrays of half a megabyte among it, it keeps: given back each time, that would
    # be mapped and cleared anew for each prompt, page by page.
    environ.setdefault("MALLOC_ARENA_MAX", "2")
    environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(4 << 20))
    environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(2 << 20))
    # The model's weights are read from end to end for each prompt: in pages of 2 MB that takes a tenth less.
    environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
    # numpy's second thread spins while it waits, and takes from each prompt more processor time than all that
    # the prompt needs, on the core where the search by words runs.
    environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return environ


def _is_the_users(configuration: str) -> bool:
    """Whether a configuration is the user's, and not one that a project brought, whose rules would count for all
    others."""
    project = os.environ.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    return os.path.isabs(configuration) and not private.is_of_project(configuration, project)
