"""The app behind the doors: it finds the address, checks the fields and the right, and writes the answer."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import cast

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as Address
from starlette.types import Receive, Scope, Send

from vector_memory import errors
from vector_memory.arguments import checked
from vector_memory.client.link import DaemonClient, Json
from vector_memory.errors import BadInputError, VectorMemoryError
from vector_memory.system import json_in
from vector_memory.tokens import Codes, Token
from vector_memory.web import openapi, operations
from vector_memory.web.access import OPEN_PATHS, House, answered, failed
from vector_memory.web.asker import ConflictError, NotAllowedError, WebCall
from vector_memory.web.routes import GET, ROUTES, Route, from_query

CARD = "/.well-known/agent-card.json"
log = logging.getLogger(__name__)

MOST_KEYS, KEY_CHARS, KEPT_S = 1_000, 200, 86_400.0
CONFIRM_S = 600.0
"""How long what was shown to be forgotten may be confirmed."""
STATUSES: tuple[tuple[type[VectorMemoryError], int], ...] = (
    (NotAllowedError, 403),
    (ConflictError, 409),
    (BadInputError, 400),
    (errors.NotFoundError, 404),
    (errors.UnsafeTextError, 422),
    (errors.StoreFullError, 507),
    (errors.DaemonUnavailableError, 503),
)


@dataclass
class KeptAnswer:
    """A call that was answered under an `Idempotency-Key`, or is being so (`answer` is None)."""

    digest: str
    at: float
    answer: Json | None = None


class Site:
    """What all addresses of a process have in common.

    Args:
        folder: the folder that it was started in.
    """

    def __init__(self, daemon: DaemonClient, folder: str) -> None:
        self._daemon = daemon
        self._folder = folder
        self._confirmations = Codes(kept_s=CONFIRM_S)

    def call(self, request: Request, address: str, fields: Json) -> WebCall:
        """Return a call with these fields."""
        state = request.state
        return WebCall(
            self._daemon,
            state.token,
            self._folder,
            address,
            json_in.storable_json(fields),
            request.path_params,
            state.headers,
            self._confirmations,
        )

    @staticmethod
    def starlette(addresses: list[Address]) -> Starlette:
        """Return the app of some addresses: ASGI, without doors. Whatever goes wrong is told as all errors are."""
        handlers = {HTTPException: unrouted, VectorMemoryError: refused, Exception: broken}
        app = Starlette(routes=addresses, exception_handlers=handlers)  # type: ignore[arg-type]
        app.router.redirect_slashes = False
        return app


class Gateway(Site):
    """The gateway's addresses.

    Args:
        server: its own address, for the document.
        card: its agent card, which is open to everybody; None for none.
    """

    def __init__(
        self, daemon: DaemonClient, folder: str, server: str, card: Json | None = None
    ) -> None:
        super().__init__(daemon, folder)
        self._server = server
        self._card = card
        self._answers_by_key: OrderedDict[tuple[str, str], KeptAnswer] = OrderedDict()

    def house(self) -> House:
        """Return what is open."""
        return House(OPEN_PATHS | ({CARD} if self._card else set()))

    def app(self) -> Starlette:
        """Return the app: ASGI, without doors."""
        addresses = [
            Address(path, self._endpoint(route), methods=[route.method])
            for route in ROUTES
            for path in (route.path, *route.aliases)
        ]
        addresses += [Address("/healthz", health), Address("/v1/openapi.json", self._document)]
        addresses += [Address(CARD, self._agent_card)] if self._card else []
        return self.starlette(addresses)

    async def _agent_card(self, request: Request) -> Response:
        return answered(self._card or {})

    async def _document(self, request: Request) -> Response:
        return answered(openapi.document(self._server))

    def _endpoint(self, route: Route):  # type: ignore[no-untyped-def]
        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(self._answer, route, request)

        return endpoint

    def _answer(self, route: Route, request: Request) -> Response:
        call = self._read_call(route, request)
        key = call.headers.get("idempotency-key", "") if "once" in route.marks else ""
        answer = self._answer_once(route, call, key) if key else route.act(call)
        if not isinstance(answer, dict):
            return LinesResponse(_lines(answer))
        if route.method != GET:
            return answered(answer)
        etag = operations.etag_of(answer)
        if etag in (tag.strip() for tag in call.headers.get("if-none-match", "").split(",")):
            return Response(status_code=304, headers={"etag": etag})
        return answered(answer, etag=etag)

    def _read_call(self, route: Route, request: Request) -> WebCall:
        """Return a call as it is asked.

        Raises:
            NotAllowedError: its token has not the right.
            BadInputError: a field is not as it should be.
        """
        token: Token = request.state.token
        if not token.may(route.right):
            raise NotAllowedError(
                f"The token has not the right {route.right!r}.", "Make another one."
            )
        if token.project and "wide" in route.marks:
            raise NotAllowedError(
                "That is about more than the token's project.",
                "Make a token without --project for it.",
            )
        if token.is_limited and "memories" not in route.marks:
            raise NotAllowedError(
                "The token sees some memories only, and that is made of all.", "Make another one."
            )
        if route.method == GET:
            fields = from_query(route.fields, request.query_params.multi_items())
        else:
            fields = checked(route.fields, json_of(request))
        id = request.path_params.get("id", "")
        if id and not (4 <= len(id) <= 64 and set(id) <= set("0123456789abcdef")):
            raise errors.NotFoundError(
                "That is no memory's id.",
                "It is 4 to 64 of 0-9 and a-f: GET /v1/memories tells it.",
            )
        return self.call(request, f"{route.method} {route.path}", fields)

    def _answer_once(self, route: Route, call: WebCall, key: str) -> Json:
        """Return the answer that was given under a key, or do what is asked and keep the answer.

        Raises:
            ConflictError: the key was used for something else, or its call is being answered.
        """
        if len(key) > KEY_CHARS:
            raise BadInputError("The Idempotency-Key is too long.", f"At most {KEY_CHARS}.")
        question = [route.path, dict(call.path), call.arguments, call.headers.get("if-match")]
        raw = json.dumps(question, sort_keys=True).encode("utf-8", "surrogatepass")
        digest, name = hashlib.sha256(raw).hexdigest(), (call.token.id, key)
        fresh = KeptAnswer(digest, time.monotonic())
        earlier = self._answers_by_key.setdefault(name, fresh)
        if earlier is not fresh and time.monotonic() - earlier.at > KEPT_S:
            earlier = self._answers_by_key[name] = fresh
        if earlier.digest != digest:
            raise ConflictError(
                "The Idempotency-Key was used for something else.", "Use a new one."
            )
        if earlier is not fresh:
            if earlier.answer is None:
                raise ConflictError("The same call is being answered.", "Wait for its answer.")
            return earlier.answer
        try:
            answer = route.act(call)
            assert isinstance(answer, dict)
            fresh.answer = answer
        finally:
            # What failed may be tried again.
            if fresh.answer is None:
                self._answers_by_key.pop(name, None)
            while len(self._answers_by_key) > MOST_KEYS:
                self._answers_by_key.popitem(last=False)
        return answer


def json_of(request: Request) -> object:
    """Return what a call sent.

    Raises:
        BadInputError: it is no JSON.
    """
    try:
        return json_in.load(request.state.body)
    except (ValueError, UnicodeDecodeError):
        raise BadInputError("The body is no JSON.", "Send a JSON object.") from None


class LinesResponse(StreamingResponse):
    """An answer line by line. When its reader goes away, what makes the lines is ended at once: left to itself it
    would go on until the collector comes by.

    Args:
        lines: makes them; what goes wrong before the first one is raised here.
    """

    def __init__(self, lines: Generator[bytes, None, None]) -> None:
        self._lines = lines
        first_line = list(islice(lines, 1))
        super().__init__(chain(first_line, lines), media_type=openapi.LINES_TYPE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer (ASGI)."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._lines.close()


def _lines(items: Iterator[Json]) -> Generator[bytes, None, None]:
    with contextlib.closing(cast("Generator[Json, None, None]", items)):
        for item in items:
            yield json.dumps(item).encode("ascii") + b"\n"


def status_of(error: VectorMemoryError) -> int:
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 503)


async def health(request: Request) -> Response:
    return answered({"ok": True})


async def unrouted(request: Request, error: HTTPException) -> Response:
    words = {404: "There is nothing here.", 405: "This address takes another method."}
    return failed(
        error.status_code,
        words.get(error.status_code, str(error.detail)),
        "See GET /v1/openapi.json.",
        **dict(error.headers or {}),
    )


async def refused(request: Request, error: VectorMemoryError) -> Response:
    return failed(status_of(error), error.message, error.hint)


async def broken(request: Request, error: Exception) -> Response:
    # Its words may be of memory: its kind alone is told.
    log.error("%s %s failed: %s", request.method, request.url.path, type(error).__name__)
    message = f"Something went wrong that should not have: {type(error).__name__}."
    return failed(500, message, "Try again; `vector-memory doctor` looks for what is broken.")
