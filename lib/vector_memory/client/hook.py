"""The hook's client: stdin's bytes to the daemon, its answer to stdout, in milliseconds.

Every import here is paid for by every prompt, so there are two: `_socket` and `posix`, without their
friendly wrappers. `time` and `_signal` are built in. All that happens only without a daemon is
in `fallback`, imported when it is needed. Whatever goes wrong: exit 0, nothing on stdout.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import posix
import time

from vector_memory import wire

DEADLINE_S = 0.205
"""When a hook ends at the latest, from the start of its shell: 250 ms are promised, and on a busy machine
it takes a while until both processes are gone."""
START_DEADLINE_S = 1.42
"""The same at a session's start, where 1.5 s are promised."""
DAEMON_S = 0.13
START_DAEMON_S = 1.2
"""Until when a running daemon is waited for, from the same moment; the rest is kept for the fallback."""
LEAST_S = 0.05
REST_S = 0.03
"""What the daemon, and what comes after it, get in any case: a machine may be so crowded that starting the
interpreter takes a hook's whole time."""
UNSEEN_S = 0.035
"""What the start of shell and interpreter is taken for where the system does not tell when it was."""
PRINT_S = 1.0
APART_S = 20.0
"""How long what was begun apart may take at the most."""

COUNTS_BYTES = 65_536
"""What the file of counts may hold: where no daemon ever takes it, more says nothing new."""

TOOLS = ("PreToolUse", "PostToolUse")
"""Events of every tool call: most of them concern nobody."""
SILENT = ("Stop", "SubagentStop", "PreCompact", "SessionEnd")
"""Events that print nothing, whatever comes: context after a Stop makes the client go on and on."""


class Call:
    """One event on its way: what came in, and until when it must be answered."""

    __slots__ = (
        "configuration",
        "deadline",
        "event",
        "home",
        "lib",
        "patience_s",
        "project_dir",
        "stdin",
        "version",
    )

    def __init__(self, event: str, home: str) -> None:
        self.event = event
        self.home = home
        self.lib = __file__.rsplit("/", 3)[0]
        whole_s, daemon_s, gone_s = DEADLINE_S, DAEMON_S, _gone_s()
        if event == "SessionStart":
            whole_s, daemon_s = START_DEADLINE_S, START_DAEMON_S
        self.patience_s = max(LEAST_S, daemon_s - gone_s)
        self.deadline = time.monotonic() + max(LEAST_S + REST_S, whole_s - gone_s)
        self.project_dir = posix.environ.get(b"CLAUDE_PROJECT_DIR", b"")
        self.configuration = _configuration()
        self.stdin = b""
        self.version = ""

    def left_s(self) -> float:
        """Return the seconds until the deadline, never less than a millisecond."""
        return max(0.001, self.deadline - time.monotonic())


def main(event: str, home: str) -> None:
    """Answer one event and end the process, with 0 whatever happened but for the alarm, which
    `hooks/run` makes a 0 of."""
    try:
        call = Call(event, home)
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
    except BaseException:
        note(home, b"hooks_failed")
    finally:
        posix._exit(0)


def _configuration() -> bytes:
    """Return the folder of the client's configuration that the session runs under, b"" for the default."""
    named = posix.environ.get(b"CLAUDE_CONFIG_DIR", b"")
    return named if not named or named[:1] == b"/" else posix.getcwdb() + b"/" + named


def _is_apart(call: Call) -> bool:
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


def ask(call: Call, patience_s: float) -> "bytes | None":
    """Return the daemon's answer (b"" means: say nothing), or None where there was none in time."""
    try:
        return _exchange(call, min(patience_s, call.left_s()))
    except (OSError, wire.WireError, MemoryError):
        return None


def tell(call: Call, patience_s: float) -> None:
    """Give the daemon an event to which nobody waits for an answer."""
    try:
        with _Connection(min(patience_s, call.left_s())) as sock:
            _send(call, sock)
    except OSError:
        pass


def _exchange(call: Call, patience_s: float) -> "bytes | None":
    until = time.monotonic() + patience_s
    with _Connection(patience_s) as sock:
        _send(call, sock)
        return _read_reply(sock, until)


def _send(call: Call, sock: "_socket.socket") -> None:
    # The folder's path may be longer than a socket's address can be (107 bytes).
    posix.chdir(call.home + "/run")
    _require_own(sock)
    body = wire.encode_hook(call.project_dir, call.configuration, call.stdin)
    sock.sendall(wire.encode_request(wire.HOOK_VERB + call.event, body, call.version))


def _require_own(sock: "_socket.socket") -> None:
    """Connect to the socket in the present folder, if this user alone can have put it there.

    What is looked at is the folder that was entered, not its path: nobody can swap it any more.
    """
    me = posix.geteuid()
    for about in (posix.stat("."), posix.lstat("daemon.sock")):
        if about.st_uid != me or about.st_mode & 0o022:
            raise OSError("another user's socket")
    sock.connect("daemon.sock")


class _Connection:
    """A socket that is closed at the end of a block; `socket.socket` would cost its import."""

    def __init__(self, timeout_s: float) -> None:
        self.sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self.sock.settimeout(timeout_s)

    def __enter__(self) -> "_socket.socket":
        return self.sock

    def __exit__(self, *_: object) -> None:
        self.sock.close()


def _read_reply(sock: "_socket.socket", until: float) -> "bytes | None":
    data = b""
    while b"\n" not in data:
        data += _receive(sock, until)
        if len(data) > wire.MAX_HEADER_BYTES and b"\n" not in data[: wire.MAX_HEADER_BYTES]:
            raise wire.WireError("no header")
    line, _, body = data.partition(b"\n")
    status, length = wire.parse_reply_header(line)
    if status != wire.ANSWER or length > wire.MAX_REQUEST_BYTES:
        return None
    parts = [body]
    missing = length - len(body)
    while missing > 0:
        parts.append(_receive(sock, until))
        missing -= len(parts[-1])
    body = b"".join(parts)[:length]
    return body if not body or (body[:1] == b"{" and body[-1:] == b"}") else None


def _receive(sock: "_socket.socket", until: float) -> bytes:
    left = until - time.monotonic()
    if left <= 0:
        raise wire.WireError("too late")
    sock.settimeout(left)
    data = sock.recv(65_536)
    if not data:
        raise wire.WireError("closed before the answer was whole")
    return data


def _read_stdin() -> bytes:
    parts: "list[bytes]" = []
    size = 0
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


def _update_if_newer(call: Call) -> None:
    """Start the set-up in the background where this plugin is newer than what is installed."""
    try:
        installed = _read_version(call.home + "/app/current/lib")
    except OSError:
        return
    if wire.version_tuple(installed) < wire.version_tuple(call.version):
        from vector_memory.client import update

        update.start(call.home, call.lib)


def _gone_s() -> float:
    """Return the seconds since the shell that runs this hook was started, as Linux knows them."""
    try:
        own, parent = _born_s("self"), _born_s("%d" % posix.getppid())
        # Started without that shell, the parent is somebody else, and older.
        gone = time.clock_gettime(time.CLOCK_BOOTTIME) - (parent if own - parent < 1.0 else own)
    except (AttributeError, IndexError, OSError, ValueError):
        return UNSEEN_S
    return gone if 0.0 <= gone < START_DEADLINE_S else UNSEEN_S


def _born_s(process: str) -> float:
    fd = posix.open("/proc/%s/stat" % process, posix.O_RDONLY)
    try:
        ticks = posix.read(fd, 1_024).rpartition(b")")[2].split()[19]
    finally:
        posix.close(fd)
    return int(ticks) / posix.sysconf("SC_CLK_TCK")


def _end_at(deadline: float) -> None:
    """End the process at the deadline, wherever it is by then: late is worse than silent.

    The system does it: a handler would wait for the end of what is being parsed or searched.
    """
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    _signal.setitimer(_signal.ITIMER_REAL, max(0.001, deadline - time.monotonic()))


def note(home: str, what: bytes) -> None:
    """Count something for the next daemon: a word in a small file, from which it takes it."""
    try:
        flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT
        fd = posix.open(home + "/run/counts", flags, 0o600)
        if posix.fstat(fd).st_size < COUNTS_BYTES:
            posix.write(fd, what + b"\n")
        posix.close(fd)
    except OSError:
        pass


def _print(answer: "bytes | None") -> None:
    # The alarm could cut the object in two, and it would be no JSON: so there is more time for this
    # than any reader takes that reads at all.
    _signal.setitimer(_signal.ITIMER_REAL, PRINT_S)
    while answer:
        written = posix.write(1, answer)
        answer = answer[written:]
