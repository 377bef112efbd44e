"""One event on its way to the daemon, and the answer's way back, over the socket.

Every hook imports this, so it imports nothing but what is built in.
"""

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


COUNTS_BYTES = 65_536
"""What the file of counts may hold: where no daemon ever takes it, more says nothing new."""


class HookEvent:
    """One event on its way: what came in, and until when it must be answered."""

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


def _configuration() -> bytes:
    """Return the folder of the client's configuration that the session runs under, b"" for the default."""
    folder = posix.environ.get(b"CLAUDE_CONFIG_DIR", b"")
    return folder if not folder or folder[:1] == b"/" else posix.getcwdb() + b"/" + folder


def ask(call: HookEvent, patience_s: float) -> "bytes | None":
    """Return the daemon's answer (b"" means: say nothing), or None where there was none in time."""
    patience_s = min(patience_s, call.left_s())
    deadline = time.monotonic() + patience_s
    try:
        with _Connection(patience_s) as sock:
            _send(call, sock)
            return _read_reply(sock, deadline)
    except (OSError, wire.WireError, MemoryError):
        return None


def tell(call: HookEvent, patience_s: float) -> None:
    """Give the daemon an event to which nobody waits for an answer."""
    try:
        with _Connection(min(patience_s, call.left_s())) as sock:
            _send(call, sock)
    except OSError:
        pass


def _send(call: HookEvent, sock: "_socket.socket") -> None:
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
    for status in (posix.stat("."), posix.lstat("daemon.sock")):
        if status.st_uid != me or status.st_mode & 0o022:
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


def _read_reply(sock: "_socket.socket", deadline: float) -> "bytes | None":
    data = b""
    while b"\n" not in data:
        data += _receive_some(sock, deadline)
        if len(data) > wire.MAX_HEADER_BYTES and b"\n" not in data[: wire.MAX_HEADER_BYTES]:
            raise wire.WireError("no header")
    line, _, body = data.partition(b"\n")
    status, length = wire.parse_reply_header(line)
    if status != wire.ANSWER or length > wire.MAX_REQUEST_BYTES:
        return None
    parts = [body]
    missing = length - len(body)
    while missing > 0:
        parts.append(_receive_some(sock, deadline))
        missing -= len(parts[-1])
    body = b"".join(parts)[:length]
    return body if not body or (body[:1] == b"{" and body[-1:] == b"}") else None


def _receive_some(sock: "_socket.socket", deadline: float) -> bytes:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise wire.WireError("too late")
    sock.settimeout(left_s)
    data = sock.recv(65_536)
    if not data:
        raise wire.WireError("closed before the answer was whole")
    return data


def _gone_s() -> float:
    """Return the seconds since the shell that runs this hook was started, as Linux knows them."""
    try:
        own_birth_s, parent_birth_s = _born_s("self"), _born_s("%d" % posix.getppid())
        # Started without that shell, the parent is somebody else, and older.
        gone_s = time.clock_gettime(time.CLOCK_BOOTTIME) - (
            parent_birth_s if own_birth_s - parent_birth_s < 1.0 else own_birth_s
        )
    except (AttributeError, IndexError, OSError, ValueError):
        return UNSEEN_S
    return gone_s if 0.0 <= gone_s < START_DEADLINE_S else UNSEEN_S


def _born_s(process: str) -> float:
    fd = posix.open("/proc/%s/stat" % process, posix.O_RDONLY)
    try:
        ticks = posix.read(fd, 1_024).rpartition(b")")[2].split()[19]
    finally:
        posix.close(fd)
    return int(ticks) / posix.sysconf("SC_CLK_TCK")


def note(home: str, word: bytes) -> None:
    """Count something for the next daemon: a word in a small file, from which it takes it."""
    try:
        flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT
        fd = posix.open(home + "/run/counts", flags, 0o600)
        if posix.fstat(fd).st_size < COUNTS_BYTES:
            posix.write(fd, word + b"\n")
        posix.close(fd)
    except OSError:
        pass
