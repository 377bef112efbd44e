"""Who is connected: how many at once, what they hold, and who gives way where it becomes too much.

A client is waited for while its request is not whole and while it does not read its answer. Only such a
one gives way, the one that let the daemon wait for longest; whoever is being answered stays.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time

MAX_CLIENTS = 128
MAX_OTHERS = 32
"""Of these so many at most are answered that are no hooks: for hooks there is always a place."""
STALLED_S = 2.0
"""After so long without a byte a client of these gives way to another one."""
SMALL_BYTES = 65_536
MOST_HELD_BYTES = 64 << 20
"""What all requests that are not whole, and all answers that are not read, may hold, small ones left
out; a single one may be larger."""


class ClientConnection:
    """One connection. `since` is the moment from which its client is waited for, None while it is
    answered; `held` are the bytes of its unfinished request or unread answer."""

    __slots__ = ("held", "is_hook", "known", "since", "sock")

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.since: float | None = time.monotonic()
        self.known = self.is_hook = False
        self.held = 0

    @property
    def waited_s(self) -> float:
        """How long it has been waited for."""
        since = self.since
        return 0.0 if since is None else time.monotonic() - since


class Clients:
    """All clients of a daemon."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connected: set[ClientConnection] = set()
        self._threads = 0

    @property
    def active(self) -> int:
        """How many are connected, those included that were disconnected a moment ago."""
        return self._threads

    def enter(self, sock: socket.socket) -> ClientConnection | None:
        """Let a client in, in the place of another one if need be; None where there is no room."""
        client = ClientConnection(sock)
        with self._lock:
            is_full = len(self._connected) >= MAX_CLIENTS and not self._dismiss(
                self._connected, 0.0
            )
            # Those that were dismissed need a moment to go.
            if is_full or self._threads >= 2 * MAX_CLIENTS:
                return None
            self._connected.add(client)
            self._threads += 1
        return client

    def leave(self, client: ClientConnection) -> None:
        """Give its place back."""
        with self._lock:
            self._connected.discard(client)
            self._threads -= 1

    def begin(self, client: ClientConnection, is_hook: bool) -> bool:
        """Note that a whole request has come; whether it may be answered now."""
        with self._lock:
            client.since, client.held = None, 0
            peers = {peer for peer in self._connected if peer.known and not peer.is_hook}
            if not is_hook and len(peers) >= MAX_OTHERS and not self._dismiss(peers, STALLED_S):
                return False
            client.known, client.is_hook = True, is_hook
            return True

    def hold(self, client: ClientConnection, size: int) -> bool:
        """Note that the daemon waits for a client, and holds so many bytes for it; whether there is room for them."""
        with self._lock:
            if size > SMALL_BYTES:
                while (
                    held_by_others := self._held_bytes() - client.held
                ) and held_by_others + size > MOST_HELD_BYTES:
                    holders = {holder for holder in self._connected if holder.held > 0} - {client}
                    if not self._dismiss(holders, STALLED_S):
                        return False
            client.held = size if size > SMALL_BYTES else 0
            return True

    def _held_bytes(self) -> int:
        return sum(client.held for client in self._connected)

    def _dismiss(self, among: set[ClientConnection], stalled_s: float) -> bool:
        """Disconnect the one of these that has been waited for longest; whether there was one."""
        waiting = [
            client for client in among if client.since is not None and client.waited_s >= stalled_s
        ]
        if not waiting:
            return False
        client = max(waiting, key=lambda client: client.waited_s)
        self._connected.discard(client)
        with contextlib.suppress(OSError):
            client.sock.shutdown(socket.SHUT_RDWR)
        return True
