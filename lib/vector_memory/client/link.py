"""The daemon as the CLI, the set-up and other programs see it: questions in, answers out, as JSON."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from vector_memory import daemon_verbs, errors, wire
from vector_memory.client import spawn
from vector_memory.system import paths, peer, private

Json = dict[str, Any]
"""A JSON object."""
STOPPED: Json = {"pid": None, "rss_mb": None, "state": "stopped"}
"""The status of a daemon that there is not."""
START_WAIT_S = 10.0
POLL_S = 0.02
KILL_WAIT_S = 5.0
ONLY_READ = daemon_verbs.named("twice") | {"status"}
"""What may be asked twice: a daemon that was killed may have done the rest already. A message that is fed
twice counts once."""
NEW_IDS = {"remember": "id", "rewrite": "new_id"}
"""The fields by which verbs are told what a new memory is to be called: asked again with it, they store nothing
twice."""
MOST_TIMES = 4
"""How often that is asked, each time of another daemon: the one before was killed meanwhile."""
SILENCE_S = 3.0
"""After so long without a byte it is asked whether the daemon still answers anybody."""
SIGN_OF_LIFE_S = 5.0
_KINDS = {wire.PROGRESS: "progress", wire.ITEM: "item", wire.ANSWER: "answer"}


class DaemonClient:
    """One data home's daemon. Nothing is opened before the first question; each question has a
    connection of its own."""

    def __init__(self, home: paths.Home) -> None:
        self.home = home
        self.version = paths.version()

    def ask(
        self,
        verb: str,
        payload: Mapping[str, object],
        timeout_s: float = 60.0,
        start: bool = True,
        item: Callable[[Json], object] | None = None,
        progress: Callable[[Json], object] | None = None,
    ) -> Json:
        """Return the answer to one question.

        Args:
            timeout_s: how long no byte may come. One that answers nobody else either is not waited for
                any longer than some seconds.
            start: start a daemon where there is none.
            item, progress: are called with what comes before the answer, in order.

        Raises:
            DaemonUnavailableError: no daemon answered in time.
            VectorMemoryError: what the daemon reported, as the class that it named.
        """
        for kind, data in self.stream(verb, payload, timeout_s, start):
            if kind == "answer":
                return data
            heard = item if kind == "item" else progress
            if heard is not None:
                heard(data)
        raise errors.DaemonUnavailableError("The daemon ended before it answered.", _AGAIN_HINT)

    def stream(
        self, verb: str, payload: Mapping[str, object], timeout_s: float = 600.0, start: bool = True
    ) -> Iterator[tuple[str, Json]]:
        """Yield ("progress" | "item", data) … and ("answer", data) last. Raises as `ask` does."""
        new_id = {NEW_IDS[verb]: os.urandom(16).hex()} if verb in NEW_IDS else {}
        body = json.dumps({**_configuration(), **new_id, **payload}).encode(
            "utf-8", "surrogatepass"
        )
        if len(body) > wire.MAX_REQUEST_BYTES:
            raise errors.BadInputError("That is too much for one request.", "Use `import FILE`.")
        is_replaced, attempts = False, 0
        while True:
            has_begun = False
            attempts += 1
            with (
                contextlib.closing(self._connect(timeout_s, start)) as sock,
                io.BufferedReader(_PatientReader(sock, timeout_s, self.running)) as reader,
            ):
                try:
                    sock.sendall(wire.encode_request(verb, body, self.version))
                    for status, data in _replies(reader):
                        if status == wire.OLD and not is_replaced:
                            break
                        has_begun = True
                        yield _KINDS[status], data
                        if status in wire.FINAL:
                            return
                except (OSError, wire.WireError, KeyError) as error:
                    was_killed = not isinstance(error, TimeoutError)
                    is_asked_again = was_killed and not has_begun and attempts < MOST_TIMES
                    if is_asked_again and _is_repeatable(verb, payload):
                        # The socket of a daemon that was killed took the question all the same.
                        continue
                    raise errors.DaemonUnavailableError(
                        f"The daemon did not answer: {error or type(error).__name__}.",
                        _AGAIN_HINT,
                    ) from error
            # It was older than this code, or is just ending; ask its successor, once.
            is_replaced = True
            self._wait_gone(START_WAIT_S)

    def running(self) -> Json | None:
        """Return the daemon's status, or None where none runs, or one answers nobody, as one that was stopped. Never starts
        one."""
        try:
            return self.ask("status", {}, timeout_s=SIGN_OF_LIFE_S, start=False)
        except errors.DaemonUnavailableError:
            return None

    def start(self, wait_s: float = START_WAIT_S) -> Json:
        """Start a daemon if there is none, wait until it answers, and return its status."""
        try:
            return self.ask("status", {}, timeout_s=wait_s)
        except errors.DaemonUnavailableError:
            # One that was just dying may have taken the question with it.
            return self.ask("status", {}, timeout_s=wait_s)

    def stop(self, wait_s: float = START_WAIT_S) -> bool:
        """End the daemon; whether there was one. One that hangs is killed, which loses nothing that
        it has acknowledged.

        Args:
            wait_s: how long it may take to end in good order.

        Raises:
            DaemonUnavailableError: it cannot be killed either.
        """
        # One that ends in any case, since its data home was moved or a newer one is installed, answers nothing to it.
        was_running = is_locked(self.home.lock)
        try:
            self.ask("stop", {}, timeout_s=wait_s / 2, start=False)
        except errors.DaemonUnavailableError:
            if not is_locked(self.home.lock):
                return was_running
            wait_s /= 2
        if not self._wait_gone(wait_s):
            self._kill()
            self.wait_gone(KILL_WAIT_S)
        return True

    def wait_gone(self, wait_s: float = START_WAIT_S) -> None:
        """Wait for a daemon that is ending.

        Raises:
            DaemonUnavailableError: it did not end in time.
        """
        if not self._wait_gone(wait_s):
            raise errors.DaemonUnavailableError("The daemon has not ended yet.", "Try again.")

    def _kill(self) -> None:
        """Kill the process that holds the lock; its number stands there."""
        with contextlib.suppress(OSError, ValueError), open(self.home.lock, "rb") as file:
            os.kill(int(file.read(32)), signal.SIGKILL)

    def _connect(self, timeout_s: float, start: bool) -> socket.socket:
        sock = self._try_connect(timeout_s)
        if sock is None and start:
            sock = self._start_and_connect(timeout_s)
            if sock is None and is_locked(self.home.lock):
                raise errors.DaemonUnavailableError(
                    "The daemon has started, and does not answer yet: it is opening a large store, or "
                    "bringing it up to date after an update.",
                    "Try again in a minute.",
                )
        if sock is None:
            raise errors.DaemonUnavailableError("No daemon is running.", _HINT)
        return sock

    def _start_and_connect(self, timeout_s: float) -> socket.socket | None:
        deadline = time.monotonic() + START_WAIT_S
        with contextlib.suppress(OSError):
            os.unlink(self.home.failure)
        self._spawn()
        respawn_at = time.monotonic() + 2.0
        while time.monotonic() < deadline:
            time.sleep(POLL_S)
            sock = self._try_connect(timeout_s)
            if sock is not None:
                return sock
            self._raise_failure()
            if time.monotonic() > respawn_at:
                # The first one may have met the lock of a daemon that was just ending.
                self._spawn()
                respawn_at = time.monotonic() + 2.0
        return None

    def _spawn(self) -> None:
        if not spawn.spawn(self.home, os.path.dirname(paths.PACKAGE_ROOT)):
            raise errors.DaemonUnavailableError(
                "The runtime is not installed.", "Run ./bootstrap.sh in the plugin's folder."
            )

    def _raise_failure(self) -> None:
        """Raise what a daemon that could not start has left."""
        try:
            with open(self.home.failure, encoding="utf-8") as file:
                reason = json.load(file)
        except (OSError, ValueError):
            return
        raise _as_error(reason)

    def _try_connect(self, timeout_s: float) -> socket.socket | None:
        """Return a connection, None where there is no daemon.

        Raises:
            DaemonUnavailableError: the folder of the socket is not this user's, or not its peer.
        """
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(timeout_s)
        try:
            private.require_own_itself(self.home.run)
            with _short_path(self.home.run) as prefix:
                sock.connect(prefix + "daemon.sock")
            _require_own(sock)
        except OSError:
            sock.close()
            return None
        except errors.BadInputError as error:
            sock.close()
            raise errors.DaemonUnavailableError(error.message, error.hint) from error
        return sock

    def _wait_gone(self, wait_s: float) -> bool:
        """Wait until the daemon has closed its files, which is when it lets go of its lock."""
        deadline = time.monotonic() + wait_s
        while time.monotonic() < deadline:
            if not is_locked(self.home.lock):
                return True
            time.sleep(POLL_S)
        return False


def is_locked(path: str) -> bool:
    """Whether another process holds a lock file; nobody does where there is none."""
    try:
        fd = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def _is_repeatable(verb: str, payload: Mapping[str, object]) -> bool:
    """Whether asking twice does no more than asking once: it changes nothing, brings the new memory's id, or
    writes the note of a key."""
    return (
        verb in ONLY_READ
        or verb in NEW_IDS
        or (verb == "scratch" and payload.get("action") != "clear")
    )


class _PatientReader(io.RawIOBase):
    """A daemon's answer as it comes.

    Args:
        timeout_s: how long no byte may come.
        running: returns something where the daemon answers others meanwhile.

    Reading raises TimeoutError when nothing comes for that long, and DaemonUnavailableError when it answers
    others neither.
    """

    def __init__(
        self, sock: socket.socket, timeout_s: float, running: Callable[[], Json | None]
    ) -> None:
        self._sock = sock
        self._timeout_s = timeout_s
        self._running = running

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        deadline = time.monotonic() + self._timeout_s
        # Who asks for a sign of life has no patience: nobody looks after that question.
        patience_s = SILENCE_S if self._timeout_s > SILENCE_S + SIGN_OF_LIFE_S else self._timeout_s
        is_alive = True
        while True:
            self._sock.settimeout(max(0.001, min(deadline - time.monotonic(), patience_s)))
            try:
                return self._sock.recv_into(buffer)
            except TimeoutError:
                if not is_alive:
                    raise errors.DaemonUnavailableError(_HANGS, _END_HINT) from None
                if time.monotonic() >= deadline:
                    raise
            is_alive = self._running() is not None
            if not is_alive:
                # One that was killed meanwhile has closed the connection.
                patience_s = 0.0


def _require_own(sock: socket.socket) -> None:
    """Make sure that this user's daemon answers, before anything is said.

    Raises:
        DaemonUnavailableError: it is another user's, or that cannot be told.
    """
    if not peer.is_own(sock):
        sock.close()
        raise errors.DaemonUnavailableError("Another user answers at the socket.", _HINT)


def _configuration() -> dict[str, str]:
    """Return the client's configuration that this process runs under: its rules count for what is asked."""
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return {"configuration": os.path.abspath(folder)} if folder else {}


_HINT = "`vector-memory doctor` tells what is wrong."
_AGAIN_HINT = f"Ask again: what was acknowledged is there. {_HINT}"
_HANGS = "The daemon runs and answers nobody: it was stopped, or it hangs."
_END_HINT = (
    "End it with `vector-memory daemon stop`, which also ends one that hangs, and ask again. What it had "
    "acknowledged is there; what you asked now may still be done if it goes on instead, and the same text is "
    "not stored twice."
)
_moving = threading.Lock()


@contextlib.contextmanager
def _short_path(folder: str) -> Iterator[str]:
    """Yield what to put before a socket's name: its folder, or "" from within the folder where the
    whole path would be longer than a socket's address may be."""
    if len(os.fsencode(folder)) < 90:
        yield folder + os.sep
        return
    # The present folder is the whole process's, and several threads may ask.
    with _moving:
        previous_folder = os.open(".", os.O_RDONLY)
        try:
            os.chdir(folder)
            yield ""
        finally:
            os.fchdir(previous_folder)
            os.close(previous_folder)


def _replies(reader: BinaryIO) -> Iterator[tuple[bytes, Json]]:
    while True:
        line = reader.readline(wire.MAX_HEADER_BYTES)
        if not line:
            raise wire.WireError("it closed the connection")
        status, length = wire.parse_reply_header(line)
        body = reader.read(length)
        if len(body) != length:
            raise wire.WireError("it closed the connection")
        data = json.loads(body) if body else {}
        if status == wire.ERROR:
            raise _as_error(data)
        yield status, data


def _as_error(data: Json) -> Exception:
    """Return the daemon's error as the class that it names; anything else is a bug."""
    kind = getattr(errors, str(data.get("type")), None)
    message, hint = str(data.get("error", "unknown error")), str(data.get("hint", ""))
    if isinstance(kind, type) and issubclass(kind, errors.VectorMemoryError):
        return kind(message, hint)
    return RuntimeError(message)
