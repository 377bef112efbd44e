"""The one way to an Ollama server: its official client, which goes to the address that it is told and nowhere else, and
takes an answer for so long and of so many bytes as an answer may have.

Memories and questions are sent there. A proxy that the environment names is for the web, and would read them; a redirect
may lead anywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, cast

import httpx
from ollama import Client

from vector_memory.config import Settings

MOST_BYTES = 16 * 1024 * 1024
"""Several times what the vectors of a batch take."""


def connect(settings: Settings, timeout_s: float) -> Any:
    """Return a client of the server that `ollama_host` names, or `OLLAMA_HOST`. Whoever asked closes it.

    Args:
        timeout_s: for connecting, and then for an answer.
    """
    return Client(
        settings.ollama_host or None,
        timeout=timeout_s,
        follow_redirects=False,
        # What comes packed has no size that could be bounded before it is unpacked: no answer may.
        headers={"Accept-Encoding": "identity"},
        transport=_Straight(timeout_s),
    )


class _Straight(httpx.HTTPTransport):
    """Asks no proxy: httpx reads those of the environment only where it makes the transport itself. Certificates that
    the environment names are still believed."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self._timeout_s = timeout_s

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        deadline = time.monotonic() + self._timeout_s
        response = super().handle_request(request)
        packed = response.headers.get("Content-Encoding", "").strip().lower()
        if packed not in ("", "identity"):
            response.close()
            raise httpx.ReadError(
                f"Its answer is packed ({packed[:20]}), which it was asked not to be"
            )
        response.stream = _Bounded(cast(httpx.SyncByteStream, response.stream), deadline)
        return response


class _Bounded(httpx.SyncByteStream):
    """An answer's bytes, until there are too many, or one comes too late."""

    def __init__(self, parts: httpx.SyncByteStream, deadline: float) -> None:
        self._parts = parts
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._parts:
            size += len(part)
            if size > MOST_BYTES:
                raise httpx.ReadError(f"It has more than {MOST_BYTES} bytes")
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("It did not end in time")
            yield part

    def close(self) -> None:
        self._parts.close()
