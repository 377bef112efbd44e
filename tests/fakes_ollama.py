"""A small server that speaks the part of Ollama's API that embedding and generation need."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from fakes_embed import bag_of_words

DIM = 768


class OllamaServer(ThreadingHTTPServer):
    """What the server has and does, and what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.models = {"nomic-embed-text:latest": "0a109f422b47e3a30ba2b10eca18548e"}
        self.inputs: list[str] = []
        self.asked: list[str] = []
        """The paths that it was asked for; of a proxy whole addresses."""
        self.listed = 0
        """How often it was asked which models it has."""
        self.prompts: list[str] = []
        self.written = "Nothing."
        self.answers: list[str] = []
        """What it writes next; after the last of them `written`."""
        self.chats: list[dict[str, Any]] = []
        self.counts: dict[str, int] = {"prompt_eval_count": 100, "eval_count": 10}
        self.failure: tuple[int, str] | None = None
        self.failures: dict[str, tuple[int, str]] = {}
        """The same for requests that say something."""
        self.moved_to = ""
        """Where it sends whoever asks, in place of an answer."""
        self.blanks, self.blank_s = 0, 0.0
        """How many blanks come before each answer, and how long each takes."""
        self.packing = ""
        """How its answers are packed, whatever it was asked."""
        self.delay_s = 0.0
        self.slow = ""
        """What a request says that is answered after that delay; all of them by default."""
        self.dim = DIM

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: OllamaServer

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.listed += self.path == "/api/tags"
        models = [{"model": name, "digest": digest} for name, digest in self.server.models.items()]
        self._answer(200, {"models": models} if self.path == "/api/tags" else {})

    def do_POST(self) -> None:
        self.server.asked.append(self.path)
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.slow in json.dumps(request):
            time.sleep(self.server.delay_s)
        told = (one for words, one in self.server.failures.items() if words in json.dumps(request))
        failure = self.server.failure or next(told, None)
        if failure is not None:
            status, message = failure
            self._answer(status, {"error": message})
        elif request["model"].partition(":")[0] + ":latest" not in self.server.models:
            self._answer(404, {"error": f"model {request['model']!r} not found"})
        elif self.path == "/api/show":
            self._answer(200, {"details": {}, "model_info": {}})
        elif self.path == "/api/chat":
            self._answer(200, self._said(request))
        else:
            self.server.inputs.extend(request["input"])
            # Like the real one, which has no vector for nothing.
            vectors = [
                bag_of_words(text, self.server.dim) for text in request["input"] if text.strip()
            ]
            self._answer(200, {"model": request["model"], "embeddings": vectors})

    def _said(self, request: dict[str, Any]) -> dict[str, Any]:
        server = self.server
        server.chats.append(request)
        server.prompts.append(request["messages"][-1]["content"])
        said = server.answers.pop(0) if server.answers else server.written
        message = {"role": "assistant", "content": said}
        return {"model": request["model"], "message": message, "done": True, **server.counts}

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        server = self.server
        content = json.dumps(body).encode()
        if server.packing:
            content = gzip.compress(content)
        self.send_response(307 if server.moved_to else status)
        if server.moved_to:
            self.send_header("Location", server.moved_to + self.path)
        if server.packing:
            self.send_header("Content-Encoding", server.packing)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(server.blanks + len(content)))
        self.end_headers()
        # Whoever asked may have gone.
        with suppress(OSError):
            for _ in range(server.blanks if server.blank_s else 0):
                self.wfile.write(b" ")
                time.sleep(server.blank_s)
            self.wfile.write(b" " * (0 if server.blank_s else server.blanks) + content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def running() -> Iterator[OllamaServer]:
    """Run a server for the block."""
    with OllamaServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
