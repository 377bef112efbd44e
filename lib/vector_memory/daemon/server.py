"""The socket: requests in, replies out, a thread for each connection."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from vector_memory import wire
from vector_memory.daemon.clients import ClientConnection, Clients
from vector_memory.daemon.early import EarlyPrompts
from vector_memory.errors import BadInputError, DaemonUnavailableError, VectorMemoryError
from vector_memory.system import peer, processes
from vector_memory.system.files import delete_file
from vector_memory.system.processes import Process

T = TypeVar("T")
Sent = dict[str, object]
"""A request as JSON, before it is read."""
Written = dict[str, object]
"""An answer as JSON."""
log = logging.getLogger(__name__)

REQUEST_S = 10.0
"""How long a client may take to send its whole request."""
READ_S = 2.0
"""How long a hook may leave it open whether it has read its answer: longer than any hook lives."""
REPLY_S = 60.0
"""How long a client may take to read a piece of its reply."""
PIECE_BYTES = 1 << 20
LOOK_S = 2.0
"""How often an idle daemon looks around."""
BACKLOG = 256
ACCEPT_PAUSE_S = 0.1
PACED = 2
"""So many long answers are made at once: hooks need the interpreter, too."""
QUIET_VERBS = frozenset({"status", "stop"})
"""They leave nothing to do, and asking them keeps no daemon alive."""

_paced = threading.BoundedSemaphore(PACED)


@dataclass
class Reply:
    """The way back to one of the connected clients.

    Attributes:
        _stopping: set when the daemon ends: long work then ends with its next word.
        caller: the process at the other end, as it was when it was let in.
    """

    _client: ClientConnection
    _clients: Clients
    _stopping: threading.Event
    caller: Process | None = None

    def send(self, status: bytes, body: bytes) -> None:
        """Send one reply; the client may be gone, which is its own affair.

        Raises:
            BadInputError: it is more than a client takes.
            DaemonUnavailableError: others hold too much that they do not read.
        """
        if len(body) > wire.MAX_REPLY_BYTES:
            raise BadInputError("The answer is too large.", "Ask for less at once.")
        client, remaining = self._client, memoryview(wire.encode_reply(status, body))
        if not self._clients.hold(client, len(remaining)):
            raise _busy_error()
        try:
            while remaining:
                client.since = time.monotonic()
                client.sock.sendall(remaining[:PIECE_BYTES])
                remaining = remaining[PIECE_BYTES:]
        finally:
            client.since, client.held = None, 0

    def is_read(self) -> bool:
        """Wait until a client that was sent its whole answer closes its side; whether it had taken all of it.

        A hook closes as soon as it has its answer, or when it gives up, or is ended. One that takes longer
        than any does may still read.
        """
        try:
            self._client.sock.settimeout(READ_S)
            # Where something is left unread the system says so.
            self._client.sock.recv(1)
        except TimeoutError:
            return True
        except OSError:
            return False
        return True

    def paced(self, items: Iterable[T]) -> Iterator[T]:
        """Yield what is made item by item, few at a time in the whole daemon; who does not read the
        last item keeps nobody from making the next."""
        iterator, end = iter(items), object()
        while True:
            with _paced:
                item = next(iterator, end)
            if item is end:
                return
            yield item  # type: ignore[misc]

    def json(self, status: bytes, data: object) -> None:
        """Send one reply as JSON.

        Raises:
            DaemonUnavailableError: more would follow, but the daemon ends.
        """
        if status not in wire.FINAL and self._stopping.is_set():
            raise _stopped_error()
        self.send(status, json.dumps(data).encode("utf-8", "surrogatepass"))

    def error(self, error: VectorMemoryError) -> None:
        """Tell the client why there is no answer; the last word of a reply."""
        kind = type(error).__name__
        self.json(wire.ERROR, {"error": error.message, "hint": error.hint, "type": kind})

    def progress(self, done: int, total: int, doing: str) -> None:
        """Tell how far long work has come."""
        self.json(wire.PROGRESS, {"done": done, "total": total, "doing": doing})


Handle = Callable[[str, bytes, str, Reply], None]


class Server:
    """Accepts connections on a socket in the present folder until it is stopped.

    Args:
        name: the socket's file, relative: its whole path may be too long for an address.
        handle: answers one request: verb, body, the client's version, the way back.
        answered: is called after a request that may have left something to do.
        early: prompts that come before their hooks ask.

    A client of another user is disconnected before anything is read. A client has `REQUEST_S`
    for its whole request, however slowly its bytes come; how many there are and what they hold is
    bounded (`clients`).
    """

    def __init__(
        self,
        name: str,
        handle: Handle,
        answered: Callable[[], None] = lambda: None,
        early: EarlyPrompts | None = None,
    ) -> None:
        self.name = name
        self._early = early
        self._handle = handle
        self._answered = answered
        self._stopping = threading.Event()
        self._clients = Clients()
        self.last_request = time.monotonic()
        self.requests = 0
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._inode = 0
        # Written to by `stop`, so that nobody has to look every now and then whether it was called.
        self._ended, self._end = os.pipe()
        os.set_blocking(self._end, False)

    @property
    def active(self) -> int:
        """How many requests are being answered now."""
        return self._clients.active

    def listen(self) -> None:
        """Make the socket's file, for this user alone. Who holds the lock may replace an old one."""
        delete_file(self.name)
        self._sock.bind(self.name)
        os.chmod(self.name, 0o600)
        self._inode = os.stat(self.name).st_ino
        self._sock.listen(BACKLOG)
        self._sock.setblocking(False)
        if self._early is not None:
            self._early.listen()

    def serve(self, every_now_and_then: Callable[[], None]) -> None:
        """Answer until `stop`. `every_now_and_then` is called every 2 seconds."""
        poll = select.poll()
        poll.register(self._sock, select.POLLIN)
        poll.register(self._ended, select.POLLIN)
        look_at = time.monotonic() + LOOK_S
        while not self._stopping.is_set():
            left_s = look_at - time.monotonic()
            if left_s <= 0:
                every_now_and_then()
                look_at = time.monotonic() + LOOK_S
                continue
            early = self._early
            if early is not None and early.fd >= 0:
                poll.register(early.fd, select.POLLIN)
            for fd, _ in poll.poll(left_s * 1000 + 1):
                if early is not None and fd == early.fd:
                    early.hear()
                else:
                    self._accept()

    def stop(self) -> None:
        """Take no more requests. Those being answered go on, but long ones end with their next word."""
        self._stopping.set()
        with contextlib.suppress(OSError):
            os.write(self._end, b".")
        if self.owns_socket():
            delete_file(self.name, OSError)
        if self._early is not None:
            self._early.close()

    def close(self, wait_s: float) -> None:
        """Wait for the requests being answered, and close the socket."""
        deadline = time.monotonic() + wait_s
        # Who came just before the socket's file went is told to ask the next daemon.
        while (self._accept() or self.active) and time.monotonic() < deadline:
            time.sleep(0.002)
        self._sock.close()
        os.close(self._ended)

    def owns_socket(self) -> bool:
        """Whether the socket's file is still the one that this process made."""
        try:
            return os.stat(self.name).st_ino == self._inode
        except OSError:
            return False

    def _accept(self) -> bool:
        """Let in the next client that waits; whether there was one."""
        try:
            connection, _ = self._sock.accept()
        except BlockingIOError:
            # Whoever came has gone, or it is `stop` that was heard.
            return False
        except OSError as error:
            # Too many files are open, for one: the next client may have more luck.
            log.warning("a client was turned away: %s", error)
            self._stopping.wait(ACCEPT_PAUSE_S)
            return False
        self._serve_connection(connection)
        return True

    def _serve_connection(self, connection: socket.socket) -> None:
        if not peer.is_own(connection):
            log.warning("another user was refused")
            connection.close()
            return
        client = self._clients.enter(connection)
        if client is None:
            connection.close()
            return
        thread = threading.Thread(target=self._serve_one, args=(client,), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            log.error("no thread for a client: %s", error)
            connection.close()
            self._clients.leave(client)

    def _serve_one(self, client: ClientConnection) -> None:
        try:
            with client.sock:
                self._answer(client)
        except (OSError, wire.WireError) as error:
            log.debug("a client left: %s", error)
        finally:
            self._clients.leave(client)

    def _answer(self, client: ClientConnection) -> None:
        # Before the client can have gone: its process number may be another's then.
        caller = processes.process(peer.process_id(client.sock))
        verb, body, version = self._read_request(client)
        reply = Reply(client, self._clients, self._stopping, caller)
        client.sock.settimeout(REPLY_S)
        quiet = verb in QUIET_VERBS
        may_enter = self._clients.begin(client, quiet or verb.startswith(wire.HOOK_VERB))
        if self._stopping.is_set():
            reply.send(wire.OLD, b"")
            return
        if not may_enter:
            reply.error(_busy_error())
            return
        if not quiet:
            self.last_request = time.monotonic()
        self.requests += 1
        try:
            self._handle(verb, body, version, reply)
        except VectorMemoryError as raised:
            # What fails because all is being closed is no full disk, whatever it says.
            error = _stopped_error() if self._stopping.is_set() else raised
            reply.error(error)
        except (OSError, wire.WireError):
            raise
        except Exception as error:
            log.exception("%s failed", verb)
            reply.json(wire.ERROR, {"error": f"{type(error).__name__}: {error}", "type": "Bug"})
        finally:
            if not quiet:
                self.last_request = time.monotonic()
                self._answered()

    def _read_request(self, client: ClientConnection) -> tuple[str, bytes, str]:
        deadline = time.monotonic() + REQUEST_S
        data = b""
        while b"\n" not in data[: wire.MAX_HEADER_BYTES + 1]:
            if len(data) > wire.MAX_HEADER_BYTES:
                raise wire.WireError("no request")
            data += _receive_some(client.sock, 65_536, deadline)
        line, _, body = data.partition(b"\n")
        verb, length, version = wire.parse_request_header(line)
        if not self._clients.hold(client, length):
            raise wire.WireError("others hold too much")
        parts, missing = [body[:length]], length - len(body)
        while missing > 0:
            parts.append(_receive_some(client.sock, min(missing, 1 << 20), deadline))
            missing -= len(parts[-1])
        return verb, b"".join(parts), version


def _busy_error() -> DaemonUnavailableError:
    return DaemonUnavailableError(
        "The daemon answers as many others as it can.", "Try again in a moment."
    )


def _stopped_error() -> DaemonUnavailableError:
    return DaemonUnavailableError(
        "The daemon was told to stop.", "Ask again: what was done so far stays."
    )


def _receive_some(connection: socket.socket, most: int, deadline: float) -> bytes:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise wire.WireError("the request came too slowly")
    connection.settimeout(left_s)
    piece = connection.recv(most)
    if not piece:
        raise wire.WireError("the request ended early")
    return piece
