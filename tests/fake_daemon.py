"""A daemon for tests of programs that ask one: a thread that speaks the wire protocol on a real
socket and answers each verb as a test wrote down."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from vector_memory import wire
from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.system.paths import Home, version

Payload = dict[str, Any]
Handler = Callable[[Payload], "Payload | Iterator[tuple[bytes, Payload]]"]


class FakeDaemon:
    """Answers verbs from `handlers`, and keeps every question in `asked` in its order.

    A handler gives the answer, or yields (status, body) replies, or raises.
    """

    def __init__(self, home: Home) -> None:
        self.home = home.make()
        self.handlers: dict[str, Handler] = {"status": self._status, "stop": self._stop}
        self.asked: list[tuple[str, Payload]] = []
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._ended = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def start(self) -> None:
        """Listen on the data home's socket."""
        back = os.getcwd()
        os.chdir(self.home.run)
        try:
            self._server.bind("daemon.sock")
        finally:
            os.chdir(back)
        self._server.listen(16)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and take the socket away."""
        if self._ended:
            return
        self._ended = True
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(5)
        os.unlink(self.home.socket)

    def payloads(self, verb: str) -> list[Payload]:
        """Return what a verb was asked with, in order."""
        return [payload for asked, payload in self.asked if asked == verb]

    def _serve(self) -> None:
        while not self._ended:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            # A caller may go away before its answer.
            with connection, contextlib.suppress(OSError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        with connection.makefile("rwb") as stream:
            line = stream.readline(wire.MAX_HEADER_BYTES)
            if not line:
                return
            verb, length, _ = wire.parse_request_header(line)
            payload = json.loads(stream.read(length) or b"{}")
            self.asked.append((verb, payload))
            for status, body in self._replies(verb, payload):
                stream.write(wire.encode_reply(status, json.dumps(body).encode()))
                stream.flush()
        if verb == "stop":
            threading.Thread(target=self.close).start()

    def _replies(self, verb: str, payload: Payload) -> Iterator[tuple[bytes, Payload]]:
        try:
            if verb not in self.handlers:
                raise BadInputError(f"There is no verb {verb}.")
            answer = self.handlers[verb](payload)
            if isinstance(answer, dict):
                yield wire.ANSWER, answer
            else:
                yield from answer
        except VectorMemoryError as error:
            kind = type(error).__name__
            yield wire.ERROR, {"type": kind, "error": error.message, "hint": error.hint}
        except Exception as error:
            yield wire.ERROR, {"type": type(error).__name__, "error": str(error), "hint": ""}

    def _status(self, payload: Payload) -> Payload:
        return {"pid": os.getpid(), "rss_mb": 42, "state": "ready", "version": version()}

    def _stop(self, payload: Payload) -> Payload:
        return {}


@contextlib.contextmanager
def fake_daemon(home: Home) -> Iterator[FakeDaemon]:
    """Run a fake daemon in a data home."""
    daemon = FakeDaemon(home)
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.close()
