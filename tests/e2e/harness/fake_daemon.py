"""Daemons that misbehave, for hooks that must not care: each state is what a socket does to whoever
connects to it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from vector_memory import wire

ANSWER = b'{"hookSpecificOutput": {"hookEventName": "%s", "additionalContext": "told"}}'

Behaviour = Callable[[socket.socket, threading.Event], None]


def read_request(connection: socket.socket) -> tuple[str, bytes]:
    """Read one whole request and return its verb and body."""
    with connection.makefile("rb") as stream:
        verb, length, _version = wire.parse_request_header(stream.readline())
        return verb, stream.read(length)


def _silent(connection: socket.socket, over: threading.Event) -> None:
    over.wait()


def _slow(connection: socket.socket, over: threading.Event) -> None:
    read_request(connection)
    if not over.wait(3.0):
        connection.sendall(wire.encode_reply(wire.ANSWER, ANSWER % b"Late"))


def _drips(connection: socket.socket, over: threading.Event) -> None:
    read_request(connection)
    for byte in wire.encode_reply(wire.ANSWER, ANSWER % b"Late"):
        connection.sendall(bytes([byte]))
        if over.wait(0.1):
            return


def _garbage(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n\x00\xff{}")


def _closes(connection: socket.socket, over: threading.Event) -> None:
    return


def _floods(connection: socket.socket, over: threading.Event) -> None:
    while not over.is_set():
        connection.sendall(b"A" * 65_536)


def _floods_an_answer(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(b"A 1000000000000\n{")
    _floods(connection, over)


def _cut_short(connection: socket.socket, over: threading.Event) -> None:
    read_request(connection)
    whole = wire.encode_reply(wire.ANSWER, ANSWER % b"Stop")
    connection.sendall(whole[: len(whole) // 2])


def _no_object(connection: socket.socket, over: threading.Event) -> None:
    read_request(connection)
    connection.sendall(wire.encode_reply(wire.ANSWER, b"hello"))


def _older(connection: socket.socket, over: threading.Event) -> None:
    read_request(connection)
    connection.sendall(wire.encode_reply(wire.OLD, b""))


def _newer(connection: socket.socket, over: threading.Event) -> None:
    read_request(connection)
    connection.sendall(b"VM9 N 2 9.9.9\n{}")


def _fails(connection: socket.socket, over: threading.Event) -> None:
    read_request(connection)
    connection.sendall(wire.encode_reply(wire.ERROR, b'{"message": "no", "hint": "none"}'))


def _empty(connection: socket.socket, over: threading.Event) -> None:
    read_request(connection)
    connection.sendall(wire.encode_reply(wire.ANSWER, b""))


STATES: dict[str, Behaviour] = {
    "never answers": _silent,
    "answers late": _slow,
    "answers in drips": _drips,
    "answers garbage": _garbage,
    "closes at once": _closes,
    "floods": _floods,
    "floods an answer": _floods_an_answer,
    "is cut short": _cut_short,
    "answers no object": _no_object,
    "is older": _older,
    "is newer": _newer,
    "reports an error": _fails,
    "has nothing to say": _empty,
}
"""What a socket may do to a hook that deserves no answer."""


ALL_STATES = ("is absent", "left a stale socket", "is stopped", "is overrun", *STATES)


@contextlib.contextmanager
def daemon_that(state: str, home: Path) -> Iterator[None]:
    """Put a data home's socket into one of `ALL_STATES`."""
    sock = home / "run" / "daemon.sock"
    with contextlib.ExitStack() as stack:
        if state in STATES:
            stack.enter_context(listening(sock, STATES[state]))
        elif state in ("is stopped", "is overrun"):
            stack.enter_context(never_accepting(sock, overrun=state == "is overrun"))
        elif state == "left a stale socket":
            leave_stale(sock)
        try:
            yield
        finally:
            sock.unlink(missing_ok=True)


class Answering:
    """A daemon that answers every hook, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bytes]] = []

    def __call__(self, connection: socket.socket, over: threading.Event) -> None:
        verb, body = read_request(connection)
        self.asked.append((verb, body))
        connection.sendall(wire.encode_reply(wire.ANSWER, ANSWER % b"UserPromptSubmit"))


@contextlib.contextmanager
def listening(path: Path, behaviour: Behaviour) -> Iterator[None]:
    """Serve `behaviour` on a unix socket at `path`, however long the path is."""
    over = threading.Event()
    with _bound(path) as server:
        thread = threading.Thread(target=_serve, args=(server, behaviour, over))
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@contextlib.contextmanager
def never_accepting(path: Path, overrun: bool) -> Iterator[None]:
    """Listen as a process does that was stopped by a signal: the system takes connections, up to so
    many; `overrun` when there is no room for another."""
    with _bound(path, backlog=0 if overrun else 16), contextlib.ExitStack() as stack:
        while overrun:
            one = stack.enter_context(socket.socket(socket.AF_UNIX))
            one.setblocking(False)
            try:
                _connect(one, path)
            except OSError:
                break
        yield


def _connect(sock: socket.socket, path: Path) -> None:
    back = os.open(".", os.O_RDONLY)
    os.chdir(path.parent)
    try:
        sock.connect(path.name)
    finally:
        os.fchdir(back)
        os.close(back)


def leave_stale(path: Path) -> None:
    """Leave a socket's file without anybody behind it."""
    with _bound(path):
        pass


@contextlib.contextmanager
def _bound(path: Path, backlog: int = 16) -> Iterator[socket.socket]:
    """Bind through a short link: a socket's address holds 107 bytes."""
    folder = tempfile.mkdtemp(prefix="vm-", dir="/tmp")
    short = os.path.join(folder, "run")
    os.symlink(path.parent, short)
    server = socket.socket(socket.AF_UNIX)
    try:
        server.bind(os.path.join(short, path.name))
        server.listen(backlog)
        yield server
    finally:
        server.close()
        shutil.rmtree(folder)


def _serve(server: socket.socket, behaviour: Behaviour, over: threading.Event) -> None:
    server.settimeout(0.02)
    threads: list[threading.Thread] = []
    while not over.is_set():
        with contextlib.suppress(TimeoutError):
            connection, _ = server.accept()
            threads.append(threading.Thread(target=_attend, args=(connection, behaviour, over)))
            threads[-1].start()
    for thread in threads:
        thread.join()


def _attend(connection: socket.socket, behaviour: Behaviour, over: threading.Event) -> None:
    connection.settimeout(5.0)
    with connection, contextlib.suppress(OSError, wire.WireError):
        behaviour(connection, over)
