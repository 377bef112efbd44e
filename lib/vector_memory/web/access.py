"""Who gets in: a program of this machine that brings a token, and no web page of another site.

There is no cookie, so a browser sends nothing by itself. A page of a name that was bound to 127.0.0.1 says that
name as `Host`; a page of another site says so in `Origin` or `Sec-Fetch-Site`; none of them is let in, and no
answer says that others may read it (CORS).
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from starlette.responses import Response

from vector_memory import tokens
from vector_memory.client.link import Json
from vector_memory.errors import StoreDamagedError
from vector_memory.tokens import Token

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

JSON_TYPE = "application/json"
BODY_BYTES = 1 << 20
DRAINED_BYTES = 8 << 20
"""So much of a body that is too long is read, so that who sends it hears why it was refused."""
BODY_S = 10.0
MOST_AT_ONCE = 64
RATE_PER_S, BURST = 10.0, 600
"""Calls of a token: so many at once, and so many more a second."""
OPEN_PATHS = frozenset({"/healthz", "/v1/openapi.json"})
OWN_SITES = frozenset({"", "same-origin", "none"})
POLICY = "default-src 'none'; frame-ancestors 'none'; form-action 'none'"
"""What a page of an answer may load, where a browser shows it: nothing."""
HEADERS = (
    (b"cache-control", b"private, no-cache"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)


class Guests(Protocol):
    """Knows who is let in."""

    def owner_of(self, presented: str) -> Token | None:
        """Return whose bearer it is, None for nobody's."""


@dataclass(frozen=True)
class House:
    """What doors lead to.

    Attributes:
        open_paths: what needs no token: it holds nothing of the user's.
        entrance: where a token is got, "" for nowhere.
        front: where links of other programs lead, "" for nowhere: what is there holds nothing of the user's.
        policy: what its pages may load.
    """

    open_paths: frozenset[str] = OPEN_PATHS
    entrance: str = ""
    front: str = ""
    policy: str = POLICY
    headers: tuple[tuple[bytes, bytes], ...] = field(init=False)

    def __post_init__(self) -> None:
        policy = (b"content-security-policy", self.policy.encode("ascii"))
        object.__setattr__(self, "headers", (policy, *HEADERS))


class RefusalError(Exception):
    """A call that is not let in.

    Args:
        headers: further headers.
    """

    def __init__(self, status: int, error: str, hint: str, **headers: str) -> None:
        super().__init__(error)
        self.response = failed(status, error, hint, **headers)


def answered(answer: Json, status: int = 200, **headers: str) -> Response:
    """Return an answer as JSON."""
    body = json.dumps(answer).encode("ascii")
    return Response(body, status, headers, JSON_TYPE)


def failed(status: int, error: str, hint: str, **headers: str) -> Response:
    """Return an error as all errors are told."""
    return answered({"error": error, "hint": hint}, status, **headers)


class Buckets:
    """How often each token may still be used."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def seconds_early(self, id: str) -> float:
        """Count a call of a token, and return how many seconds too early it came: 0 is in time."""
        now = self._clock()
        calls_left, at = self._left.get(id, (float(BURST), now))
        calls_left = min(float(BURST), calls_left + (now - at) * RATE_PER_S)
        if calls_left < 1.0:
            self._left[id] = (calls_left, now)
            return (1.0 - calls_left) / RATE_PER_S
        self._left[id] = (calls_left - 1.0, now)
        return 0.0


class TokenFile:
    """The tokens of a data home, read again when their file has changed."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp: tuple[int, ...] = ()
        self._tokens: list[Token] = []

    def owner_of(self, presented: str) -> Token | None:
        """Return the token that somebody brought, None where it is none."""
        try:
            stats = os.lstat(self._path)
            stamp: tuple[int, ...] = (stats.st_ino, stats.st_mtime_ns, stats.st_size, stats.st_mode)
        except OSError:
            stamp = ()
        if stamp != self._stamp or not stamp:
            try:
                self._tokens = tokens.load(self._path)
            except StoreDamagedError:
                self._tokens = []
            self._stamp = stamp
        return tokens.match(self._tokens, presented)


class Doors:
    """Lets calls in to an app, one by one.

    Args:
        hosts: what `Host` may say; None for all, where no browser can come (a unix socket).
    """

    def __init__(
        self, app: App, guests: Guests, hosts: frozenset[str] | None, house: House | None = None
    ) -> None:
        self._app = app
        self._guests = guests
        self._house = house or House()
        self._hosts = hosts
        self._buckets = Buckets()
        self.active = 0
        self.last = time.monotonic()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one call (ASGI)."""
        if scope["type"] != "http":
            return
        self.active += 1
        self.last = time.monotonic()
        sending = _with_headers(send, self._house.headers)
        try:
            await self._enter(scope, receive, sending)
        except RefusalError as refusal:
            await refusal.response(scope, receive, sending)
        finally:
            self.active -= 1
            self.last = time.monotonic()

    async def _enter(self, scope: Message, receive: Receive, send: Send) -> None:
        headers = _headers_of(scope)
        self._require_own_site(headers, scope["path"] == self._house.front != "")
        if scope["method"] not in ("GET", "POST"):
            message = "GET and POST alone are answered."
            raise RefusalError(405, message, "Use one of them.", allow="GET, POST")
        if self.active > MOST_AT_ONCE:
            raise _wait_error(503, "Too many calls at once.", 1.0)
        scope["state"] = {"headers": headers}
        is_entrance = scope["path"] == self._house.entrance
        if scope["path"] not in self._house.open_paths and not is_entrance:
            scope["state"]["token"] = self._require_token(headers)
        if scope["path"] not in self._house.open_paths:
            scope["state"]["body"] = await _read_body(scope, headers, receive)
        await self._app(scope, receive, send)

    def _require_own_site(self, headers: dict[str, str], is_front: bool) -> None:
        host, origin = headers.get("host", ""), headers.get("origin")
        if self._hosts is not None and host not in self._hosts:
            raise RefusalError(421, "This is another host.", f"Ask {min(self._hosts)}.")
        own_origins = {f"http://{host}" for host in self._hosts or ()}
        is_own = origin is None or origin in own_origins
        # Who follows a link, or opens a file that leads here, comes from elsewhere, and to the front alone.
        is_link = is_front and headers.get("sec-fetch-mode") == "navigate"
        is_foreign = headers.get("sec-fetch-site", "") not in OWN_SITES and not is_link
        if not is_own or is_foreign:
            message = "Web pages of other sites are not answered."
            raise RefusalError(403, message, "Ask from a program, with a token.")

    def _require_token(self, headers: dict[str, str]) -> Token:
        scheme, _, presented = headers.get("authorization", "").partition(" ")
        token = self._guests.owner_of(presented.strip()) if scheme.lower() == "bearer" else None
        if token is None:
            hint = "`vector-memory token new` makes one; send it as Authorization: Bearer."
            challenge = {"www-authenticate": "Bearer"}
            raise RefusalError(
                401, "There is no token, or it is none that holds.", hint, **challenge
            )
        if early_s := self._buckets.seconds_early(token.id):
            raise _wait_error(429, "The token was used too often of late.", early_s)
        return token


def _wait_error(status: int, error: str, wait_s: float) -> RefusalError:
    headers = {"retry-after": str(int(wait_s) + 1)}
    return RefusalError(status, error, "Try again in a moment.", **headers)


def _headers_of(scope: Message) -> dict[str, str]:
    """Return the headers by name; what comes twice is both, and so matches nothing."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


async def _read_body(scope: Message, headers: dict[str, str], receive: Receive) -> bytes:
    """Return a call's body.

    Raises:
        RefusalError: it is too long, too slow, or no JSON.
    """
    if scope["method"] == "GET":
        return b""
    parts: list[bytes] = []
    size = 0
    deadline = time.monotonic() + BODY_S
    while True:
        try:
            message = await asyncio.wait_for(receive(), deadline - time.monotonic())
        except asyncio.TimeoutError:
            problem = f"The body did not come within {BODY_S:.0f} seconds."
            raise RefusalError(408, problem, "Send it at once.", connection="close") from None
        size += len(message.get("body", b""))
        parts += [message.get("body", b"")] if size <= BODY_BYTES else []
        if not message.get("more_body") or size > DRAINED_BYTES:
            break
    if size > BODY_BYTES:
        raise RefusalError(413, f"More than {BODY_BYTES:,} bytes.", "Split it.", connection="close")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON_TYPE:
        raise RefusalError(415, "The body is no JSON.", "Say Content-Type: application/json.")
    return b"".join(parts)


def _with_headers(send: Send, headers: tuple[tuple[bytes, bytes], ...]) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *headers]
        await send(message)

    return sending
