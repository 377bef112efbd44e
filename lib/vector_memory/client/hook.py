"""The hook's client: stdin's bytes to the daemon, its answer to stdout, in milliseconds.

Every import here is paid for by every prompt, so there are two: `_socket` and `posix`, without their
friendly wrappers. `time` and `_signal` are built in. All that happens only without a daemon is
in `fallback`, imported when it is needed. Whatever goes wrong: exit 0, nothing on stdout.
"""

import _signal  # type: ignore[import-not-found]
import posix
import time

from vector_memory import wire
from vector_memory.client.exchange import HookEvent, ask, note

PRINT_S = 1.0
APART_S = 20.0
"""How long what was begun apart may take at the most."""

TOOLS = ("PreToolUse", "PostToolUse")
"""Events of tool calls: most of them concern nobody."""
SILENT = ("Stop", "SubagentStop", "PreCompact", "SessionEnd")
"""Events that print nothing, whatever comes: context after a Stop makes the client go on and on."""


def main(event: str, home: str) -> None:
    """Answer one event and end the process, with 0 whatever happened but for the alarm, which
    `hooks/run` makes a 0 of."""
    try:
        call = HookEvent(event, home)
        _end_at(call.deadline)
        if event in SILENT and not _is_apart(call):
            return
        call.version = _read_version(call.lib)
        call.stdin = _read_stdin()
        if event == "SessionStart":
            _update_if_newer(call)
        if event in TOOLS:
            from vector_memory.client import tool_calls

            answer: "bytes | None" = tool_calls.answer(call)
        else:
            answer = ask(call, call.patience_s)
            if answer is None:
                from vector_memory.client import fallback

                answer = fallback.answer(call)
        if event not in SILENT:
            _print(answer)
    except BaseException as error:
        note(home, b"hooks_failed")
        if isinstance(error, EOFError):
            from vector_memory.system import bytecode

            bytecode.mend(error)
    finally:
        posix._exit(0)


def _is_apart(call: HookEvent) -> bool:
    """Whether this is the process that does the work, apart from the session. The other one waits for it,
    no longer than the deadline: neither a slow disk nor a crowded machine may hold up the session, or
    lose an event."""
    child = posix.fork()
    if child:
        posix.waitpid(child, 0)
        return False
    posix.setsid()
    # Nobody who reads a hook's output may wait for it.
    nowhere = posix.open("/dev/null", posix.O_WRONLY)
    posix.dup2(nowhere, 1)
    posix.dup2(nowhere, 2)
    call.deadline = time.monotonic() + APART_S
    _end_at(call.deadline)
    return True


def _read_stdin() -> bytes:
    # Programs that are started from here must not inherit it.
    early = posix.environ.pop(wire.EARLY, b"")
    posix.unsetenv(wire.EARLY)
    parts: "list[bytes]" = [early]
    size = len(early)
    while size <= wire.MAX_REQUEST_BYTES:
        data = posix.read(0, 262_144)
        if not data:
            return b"".join(parts)
        parts.append(data)
        size += len(data)
    raise wire.WireError("more input than a request may hold")


def _read_version(lib: str) -> str:
    fd = posix.open(lib + "/vector_memory/VERSION", posix.O_RDONLY)
    try:
        return posix.read(fd, 64).decode("ascii").strip()
    finally:
        posix.close(fd)


def _update_if_newer(call: HookEvent) -> None:
    """Start the set-up in the background where this plugin is newer than what is installed."""
    try:
        installed = _read_version(call.home + "/app/current/lib")
    except OSError:
        return
    if wire.version_tuple(installed) < wire.version_tuple(call.version):
        from vector_memory.client import spawn

        spawn.set_up(call.home, call.lib)


def _end_at(deadline: float) -> None:
    """End the process at the deadline, wherever it is by then: late is worse than silent.

    The system does it: a handler would wait for the end of what is being parsed or searched.
    """
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.setitimer(_signal.ITIMER_REAL, max(0.001, deadline - time.monotonic()))


def _print(answer: "bytes | None") -> None:
    # The alarm could cut the object in two, and it would be no JSON: so there is more time for this
    # than any reader takes that reads at all.
    _signal.setitimer(_signal.ITIMER_REAL, PRINT_S)
    while answer:
        count = posix.write(1, answer)
        answer = answer[count:]
