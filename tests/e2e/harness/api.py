"""A scripted Messages API on loopback, for sessions of the real client without a model.

It answers the client's main requests with the replies that a test wrote down, in their order, and
keeps every request, so that a test reads exactly what a model would have been shown.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from e2e.harness import reply as replies
from e2e.harness.reply import Answering, Call, Reply, Say, Scripted
from e2e.harness.request import Request

SUMMARY = Say("<summary>The user and the assistant talked about the work.</summary>")
SIDE = Say('{"title": "A session"}')
LAST = Say("Done.")


class ScriptedApi:
    """The server. Use it as a context manager; `script` says what the model replies next."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._replies: list[Scripted] = []
        self._sides: list[Say] = []
        self._errors: list[Exception] = []
        self._guard = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self) -> str:
        """The address that the client takes for the API."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ScriptedApi:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def script(self, said: Sequence[Scripted]) -> None:
        """Set what comes next; after the last of them every main request gets "Done."."""
        with self._guard:
            self._replies = list(said)

    def script_sides(self, said: Sequence[Say | str]) -> None:
        """Set what the next requests get that are no session's own, such as a client without tools;
        after the last of them each gets a title."""
        with self._guard:
            self._sides = [Say(one) if isinstance(one, str) else one for one in said]

    def mark(self) -> int:
        """Return how many requests have come: where `since` starts."""
        with self._guard:
            return len(self.requests)

    def since(self, mark: int) -> list[Request]:
        """Return the requests after the first `mark` ones."""
        with self._guard:
            return self.requests[mark:]

    def answer(self, request: Request) -> Reply:
        """Keep the request and return its reply."""
        with self._guard:
            self.requests.append(request)
            if request.is_compaction:
                return SUMMARY
            if not request.is_main:
                return self._sides.pop(0) if self._sides else SIDE
            said = self._replies.pop(0) if self._replies else LAST
        if isinstance(said, str):
            return Say(said)
        return said if isinstance(said, (Say, Call)) else self._decide(said, request)

    def _decide(self, said: Answering, request: Request) -> Reply:
        """Let a reply be decided by the request. A client whose request fails would try again for
        minutes, so an error waits for `raise_errors`."""
        try:
            return said(request)
        except Exception as error:
            self._errors.append(error)
            return LAST

    def raise_errors(self) -> None:
        """Raise what went wrong while a reply was decided."""
        if self._errors:
            raise self._errors.pop()


def _handler(api: ScriptedApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            if self.path.split("?")[0].endswith("/count_tokens"):
                self._send("application/json", b'{"input_tokens": 1000}')
                return
            said, model = api.answer(Request(self.path, body)), str(body.get("model"))
            if body.get("stream"):
                self._send("text/event-stream", replies.stream(model, said))
            else:
                self._send("application/json", json.dumps(replies.message(model, said)).encode())

        def do_GET(self) -> None:
            self._send("application/json", b"{}")

        def do_HEAD(self) -> None:
            self._send("application/json", b"")

        def _send(self, kind: str, payload: bytes) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(payload)))
            self.send_header("connection", "close")
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the requests are kept."""

    return Handler
