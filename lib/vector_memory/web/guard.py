"""The door of whatever speaks HTTP: loopback only, for whoever holds this start's token, and for no web
page but our own.

A page from anywhere can make a browser send requests to this machine, and a name that its owner lets
lead to 127.0.0.1 makes them look like the page's own. So the host is compared with the one address that
was bound, the origin with that host, and nothing is answered without the token.

Source: OWASP cheat sheets on cross-site request forgery; RFC 6750 (bearer tokens), RFC 9110.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from vector_memory.errors import BadInputError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

METHODS = frozenset({"GET", "POST"})
MOST_BODY_BYTES = 1024 * 1024
MOST_HEADERS = 64
MOST_HEADER_BYTES = 16 * 1024
BODY_S = 10.0
"""How long a body may take to come, as a whole."""
BACKLOG = 64
MOST_AT_ONCE = 64

_DROPPED = b"access-control-"
_ADDED = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


@dataclass(frozen=True)
class Rules:
    """Who is let in.

    Attributes:
        host: the one value of `Host`, such as `127.0.0.1:8765`.
        token: what stands after `Authorization: Bearer`.
        origin_optional: let those in who send no `Origin`, which only browsers do. A foreign one is
            refused all the same.
        most_body_bytes: the longest body.
    """

    host: str
    token: str
    origin_optional: bool = False
    most_body_bytes: int = MOST_BODY_BYTES

    @property
    def origin(self) -> str:
        """The one value of `Origin`."""
        return f"http://{self.host}"


class Refusal(Exception):
    """A request that is not let in: its status and what is said."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said


class Guard:
    """An ASGI application around another, which sees only what the rules let in."""

    def __init__(self, app: App, rules: Rules) -> None:
        if not rules.token or not rules.host:
            raise BadInputError("A door needs a host and a token.")
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one connection. Whatever is neither HTTP nor the server's own start is closed."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            check(scope, self._rules)
            body = await _body(scope, receive, self._rules.most_body_bytes)
        except Refusal as refusal:
            await _refuse(send, refusal)
            return
        await self._app(scope, _once(body, receive), _own_headers(send))


def check(scope: Scope, rules: Rules) -> None:
    """Look at a request's head.

    Raises:
        Refusal: it is not let in.
    """
    if scope["method"] not in METHODS:
        raise Refusal(405, "only GET and POST")
    client = scope.get("client")
    if client and not _is_loopback(str(client[0])):
        raise Refusal(403, "not from this machine")
    headers = scope["headers"]
    if len(headers) > MOST_HEADERS or sum(len(k) + len(v) for k, v in headers) > MOST_HEADER_BYTES:
        raise Refusal(431, "too many headers")
    if _only(headers, b"host") != rules.host.encode("ascii"):
        raise Refusal(421, "not the host that is served here")
    origin = _only(headers, b"origin")
    if origin != rules.origin.encode("ascii") and not (origin is None and rules.origin_optional):
        raise Refusal(403, "not the origin that is served here")
    given = _only(headers, b"authorization") or b""
    if not hmac.compare_digest(given, b"Bearer " + rules.token.encode("ascii")):
        raise Refusal(401, "no token of this start")


def _only(headers: list[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """Return a header's value, None where it is not there. Two are as good as a wrong one."""
    found = [value for key, value in headers if key.lower() == name]
    if len(found) > 1:
        raise Refusal(400, "a header that may come once came twice")
    return found[0] if found else None


async def _body(scope: Scope, receive: Receive, most_bytes: int) -> bytes:
    """Return the whole body, which is never longer than allowed, whatever its head says."""
    length = _only(scope["headers"], b"content-length")
    if length is not None and (
        not length.isdigit() or len(length) > 12 or int(length) > most_bytes
    ):
        raise Refusal(413, f"more than {most_bytes} bytes")
    try:
        return await asyncio.wait_for(_collected(receive, most_bytes), BODY_S)
    except asyncio.TimeoutError:
        raise Refusal(408, "the body came too slowly") from None


async def _collected(receive: Receive, most_bytes: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Refusal(400, "the client left")
        body += message.get("body", b"")
        if len(body) > most_bytes:
            raise Refusal(413, f"more than {most_bytes} bytes")
        if not message.get("more_body"):
            return bytes(body)


def _once(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that was read already."""
    told = False

    async def give() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return give


def _own_headers(send: Send) -> Send:
    """Return a `send` that gives no other origin leave to read, and adds what browsers should keep to."""

    async def pass_on(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = [
                (key, value)
                for key, value in message.get("headers", ())
                if not key.lower().startswith(_DROPPED)
            ]
            known = {key.lower() for key, _ in given}
            added = [(key, value) for key, value in _ADDED if key not in known]
            message = {**message, "headers": given + added}
        await send(message)

    return pass_on


async def _refuse(send: Send, refusal: Refusal) -> None:
    body = json.dumps({"error": refusal.said}).encode("ascii")
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"connection", b"close"),
        *_ADDED,
    ]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if refusal.status == 405:
        headers.append((b"allow", b"GET, POST"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


# -- the address and the token --------------------------------------------------------------------


def bind(address: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """Return a socket that listens on this machine alone.

    Args:
        address: a loopback address in numbers: a name could lead anywhere.
        port: 0 for any that is free.

    Raises:
        BadInputError: the address is another one.
        OSError: the port is taken.
    """
    if not _is_loopback(address):
        raise BadInputError(f"{address} is not this machine alone.", "Use 127.0.0.1 or ::1.")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.bind((address, port))
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock


def host_of(sock: socket.socket) -> str:
    """Return what `Host` must say to reach a socket."""
    address, port = sock.getsockname()[:2]
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def new_token(path: str) -> str:
    """Make this start's token, put it into a file that its owner alone can read, and return it. The
    token of an earlier start is replaced."""
    token = secrets.token_urlsafe(32)
    aside = f"{path}.{os.getpid()}"
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, token.encode("ascii"))
    finally:
        os.close(descriptor)
    os.replace(aside, path)
    return token


def server(app: App, rules: Rules) -> Any:
    """Return a uvicorn server of a guarded application, to be run on a socket of `bind`:
    `server(app, rules).run(sockets=[sock])`. It believes no header about who is asking."""
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(
            Guard(app, rules),
            proxy_headers=False,
            forwarded_allow_ips="",
            server_header=False,
            date_header=False,
            access_log=False,
            log_config=None,
            ws="none",
            http="h11",
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
            limit_concurrency=MOST_AT_ONCE,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=3,
        )
    )
