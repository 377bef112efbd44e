"""As much of S3 as a client needs to keep files in a bucket: on loopback, in memory, for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape


class S3Server(ThreadingHTTPServer):
    """A server whose objects are at hand.

    Attributes:
        objects: by `bucket/key`.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.objects: dict[str, bytes] = {}
        self.parts: dict[str, dict[int, bytes]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: S3Server

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""

    @property
    def _key(self) -> str:
        return unquote(urlsplit(self.path).path).lstrip("/")

    @property
    def _asked(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.path).query, keep_blank_values=True)

    def do_HEAD(self) -> None:
        body = self.server.objects.get(self._key)
        is_bucket = "/" not in self._key.strip("/")
        if body is None and not is_bucket:
            self._answer(404)
        else:
            self._answer(200, body or b"")

    def do_GET(self) -> None:
        if "list-type" in self._asked:
            self._answer(200, self._listing())
        elif (body := self.server.objects.get(self._key)) is None:
            self._answer(404, b"<Error><Code>NoSuchKey</Code><Message>none</Message></Error>")
        elif wanted := self.headers.get("Range", "").removeprefix("bytes="):
            first, _, last = wanted.partition("-")
            self._answer(206, body[int(first) : int(last or len(body)) + 1])
        else:
            self._answer(200, body)

    def do_PUT(self) -> None:
        body = self._body()
        if "partNumber" in self._asked:
            parts = self.server.parts[self._asked["uploadId"][0]]
            parts[int(self._asked["partNumber"][0])] = body
        else:
            self.server.objects[self._key] = body
        self._answer(200, etag=md5(body, usedforsecurity=False).hexdigest())

    def do_POST(self) -> None:
        self._body()
        if "uploads" in self._asked:
            name = f"upload-{len(self.server.parts)}"
            self.server.parts[name] = {}
            self._answer(
                200,
                f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>".encode(),
            )
        else:
            parts = self.server.parts.pop(self._asked["uploadId"][0])
            self.server.objects[self._key] = b"".join(parts[number] for number in sorted(parts))
            self._answer(
                200,
                b"<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>",
            )

    def do_DELETE(self) -> None:
        self.server.objects.pop(self._key, None)
        self._answer(204)

    def _listing(self) -> bytes:
        bucket = self._key.strip("/")
        prefix = self._asked.get("prefix", [""])[0]
        delimiter = self._asked.get("delimiter", [""])[0]
        found, folders = [], set()
        for name in sorted(self.server.objects):
            own, _, key = name.partition("/")
            if own != bucket or not key.startswith(prefix):
                continue
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                folders.add(prefix + rest.partition(delimiter)[0] + delimiter)
            else:
                size = len(self.server.objects[name])
                found.append(
                    f"<Contents><Key>{escape(key)}</Key><Size>{size}</Size>"
                    "<LastModified>2026-05-03T12:00:00.000Z</LastModified></Contents>"
                )
        found += [
            f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>"
            for one in sorted(folders)
        ]
        count = len(found)
        inner = (
            f"<Name>{bucket}</Name><KeyCount>{count}</KeyCount><IsTruncated>false</IsTruncated>"
            + "".join(found)
        )
        return f"<ListBucketResult>{inner}</ListBucketResult>".encode()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = self._chunked()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if "aws-chunked" not in self.headers.get("Content-Encoding", ""):
            return body
        plain, rest = b"", body
        while rest:
            head, _, rest = rest.partition(b"\r\n")
            size = int(head.partition(b";")[0], 16)
            if not size:
                break
            plain, rest = plain + rest[:size], rest[size + 2 :]
        return plain

    def _chunked(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, status: int, body: bytes = b"", etag: str = "x") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", formatdate(usegmt=True))
        self.send_header("ETag", f'"{etag}"')
        self.send_header("Content-Type", "application/xml")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def running() -> Iterator[S3Server]:
    """Run a server for a block."""
    server = S3Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
