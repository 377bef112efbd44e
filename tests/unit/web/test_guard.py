"""The door of HTTP: who is refused, on a real server on loopback."""

from __future__ import annotations

import http.client
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from vector_memory.errors import BadInputError
from vector_memory.web import guard

ROUTES = ("/", "/api/memories", "/api/memories/1")
WAIT_S = 10.0


async def _echo(request: Request) -> JSONResponse:
    return JSONResponse({"path": request.url.path, "bytes": len(await request.body())})


def _careless_app() -> guard.App:
    """An application that lets everybody read everything: only the guard keeps them out."""
    every = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]
    app = Starlette(routes=[Route(path, _echo, methods=every) for path in ROUTES])
    app.add_middleware(CORSMiddleware, allow_origins=["*"], allow_methods=["*"])
    return app


class Door:
    """A guarded server on loopback."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.sock = guard.bind()
        self.port = self.sock.getsockname()[1]
        self.token = guard.new_token(str(folder / "web.token"))
        self.rules = guard.Rules(guard.host_of(self.sock), self.token, **more)
        self._server = guard.server(_careless_app(), self.rules)
        self._thread = threading.Thread(target=self._server.run, args=([self.sock],), daemon=True)
        self._thread.start()
        end = time.monotonic() + WAIT_S
        while not self._server.started and time.monotonic() < end:
            time.sleep(0.01)

    def ask(self, path: str = "/", method: str = "GET", body: bytes = b"", **headers: str) -> Any:
        """Return the response to a request with the right headers, or with those given; None leaves
        one out."""
        all_headers: dict[str, str | None] = {
            "Host": self.rules.host,
            "Origin": self.rules.origin,
            "Authorization": f"Bearer {self.token}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in all_headers.items():
            if value is not None:
                connection.putheader(name, value)
        if body and "Content-Length" not in all_headers:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def raw(self, data: bytes) -> bytes:
        """Return the first line that comes back for bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S) as sock:
            sock.sendall(data)
            return sock.recv(65_536).split(b"\r\n")[0]

    def close(self) -> None:
        """End the server."""
        self._server.should_exit = True
        self._thread.join(WAIT_S)
        self.sock.close()


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    """A guarded server with the strict rules."""
    made = Door(tmp_path)
    yield made
    made.close()


def test_of_eight_hosts_and_four_origins_one_pair_enters(door: Door) -> None:
    """On every route and by both methods: a name that leads here, another port, a proxy's words, a
    page from elsewhere or none are refused; only the exact address with its own origin is not."""
    hosts = (
        door.rules.host, f"localhost:{door.port}", "127.0.0.1", f"127.0.0.1:{door.port + 1}",
        f"evil.example:{door.port}", f"[::1]:{door.port}", f"{door.rules.host}.", None,
    )  # fmt: skip
    origins = (door.rules.origin, None, "null", "http://evil.example")
    entered = []
    for path in ROUTES:
        for method in ("GET", "POST"):
            for host in hosts:
                for origin in origins:
                    answer = door.ask(path, method, Host=host, Origin=origin)
                    if answer.status < 400:
                        entered.append((path, method, host, origin))
    right = (door.rules.host, door.rules.origin)
    assert entered == [(path, method, *right) for path in ROUTES for method in ("GET", "POST")]


def test_without_this_start_s_token_nobody_enters(door: Door) -> None:
    """None, an empty one, another scheme, a part of it, and it in another place are refused."""
    for wrong in (None, "", "Bearer", f"Basic {door.token}", f"Bearer {door.token[:-1]}",
                  f"Bearer {door.token}x", f"bearer {door.token}", door.token):  # fmt: skip
        answer = door.ask(Authorization=wrong)
        assert (answer.status, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert door.ask(f"/?token={door.token}", Authorization=None).status == 401
    assert door.ask(Authorization=None, Cookie=f"token={door.token}").status == 401


def test_only_get_and_post(door: Door) -> None:
    """Whatever else, a browser's question before a foreign request among them, gets no leave."""
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "CONNECT"):
        assert door.ask(method=method).status in (400, 405), method


def test_no_other_origin_may_read(door: Door) -> None:
    """What the application says about other origins is left out."""
    answer = door.ask()
    assert answer.status == 200
    assert [name for name in answer.headers if name.lower().startswith("access-control")] == []
    assert answer.headers["Cache-Control"] == "no-store"


def test_bodies_have_a_limit_whatever_their_head_says(tmp_path: Path) -> None:
    """Told or not told, a longer body does not reach the application."""
    door = Door(tmp_path, most_body_bytes=1000)
    try:
        assert door.ask(method="POST", body=b"x" * 1000).status == 200
        assert door.ask(method="POST", body=b"x" * 1001).status == 413
        head = (f"POST / HTTP/1.1\r\nHost: {door.rules.host}\r\nOrigin: {door.rules.origin}\r\n"
                f"Authorization: Bearer {door.token}\r\n")  # fmt: skip
        chunked = head + "Transfer-Encoding: chunked\r\n\r\n" + "100\r\n" + "x" * 256 + "\r\n"
        many = chunked + ("100\r\n" + "x" * 256 + "\r\n") * 9 + "0\r\n\r\n"
        assert b" 413 " in door.raw(many.encode())
        twice = head + f"Host: {door.rules.host}\r\n\r\n"
        assert b" 400 " in door.raw(twice.encode())
        origins = head + f"Origin: {door.rules.origin}\r\n\r\n"
        assert b" 400 " in door.raw(origins.encode())
        long = head + "X: " + "y" * 20_000 + "\r\n\r\n"
        assert door.raw(long.encode()).split()[1][:1] == b"4"
    finally:
        door.close()


def test_what_is_no_browser_may_leave_the_origin_out(tmp_path: Path) -> None:
    """Where the rules say so; a foreign one is refused all the same."""
    door = Door(tmp_path, origin_optional=True)
    try:
        assert door.ask(Origin=None).status == 200
        assert door.ask(Origin="http://evil.example").status == 403
        assert door.ask(Origin="null").status == 403
    finally:
        door.close()


def test_a_proxy_s_words_change_nothing(door: Door) -> None:
    """Nobody tells the guard who is asking."""
    forwarded = {"X_Forwarded_Host": door.rules.host, "X_Forwarded_For": "127.0.0.1"}
    assert door.ask(Host="evil.example", **forwarded).status == 421


@pytest.mark.parametrize(
    "address", ["0.0.0.0", "::", "192.0.2.7", "localhost", "", "127.0.0.1.nip.io"]
)
def test_only_loopback_is_bound(address: str) -> None:
    """Every address of the machine, one of its networks, and names are refused."""
    with pytest.raises(BadInputError):
        guard.bind(address)


def test_someone_from_elsewhere_is_refused() -> None:
    """Should it listen elsewhere after all, the other side's address tells."""
    scope = {"method": "GET", "client": ("192.0.2.7", 1), "headers": []}
    with pytest.raises(guard.Refusal, match="this machine"):
        guard.check(scope, guard.Rules("127.0.0.1:1", "t"))


def test_the_token_is_new_each_time_and_its_owner_s_alone(tmp_path: Path) -> None:
    """Whatever the umask says; the file is replaced, not written into."""
    path = tmp_path / "web.token"
    before = os.umask(0)
    try:
        first, second = guard.new_token(str(path)), guard.new_token(str(path))
    finally:
        os.umask(before)
    assert first != second
    assert path.read_text() == second
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(second) >= 43
    assert [name for name in os.listdir(tmp_path) if "web" in name] == ["web.token"]


def test_a_door_without_a_token_is_none() -> None:
    """An empty token would let in whoever sends an empty one."""
    with pytest.raises(BadInputError):
        guard.Guard(_careless_app(), guard.Rules("127.0.0.1:1", ""))
