"""The dashboard: pages for the user's browser, and what they ask the daemon, verb by verb.

The pages are files that hold nothing of the user's; what they show they ask for with their bearer. Each question
is one of a table, and the daemon checks its fields as it does those of the command line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator, Generator, Iterator

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route as Address

from vector_memory.client.link import DaemonClient, Json
from vector_memory.daemon_verbs import named
from vector_memory.errors import BadInputError, NotFoundError, VectorMemoryError
from vector_memory.system.paths import PACKAGE_ROOT, client_folders
from vector_memory.tokens import Codes
from vector_memory.web import commands, operations
from vector_memory.web.access import House, answered, failed
from vector_memory.web.app import LinesResponse, Site, health, json_of
from vector_memory.web.asker import LONG_S, ConflictError, WebCall
from vector_memory.web.sign_in import Visitors

STATIC = os.path.join(PACKAGE_ROOT, "web", "static")
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
ENTER = "/enter"
LIVE_S = 2.0
"""How often it is looked whether something was stored, while a page is open."""
LIVE_RESTS = 30
"""So many times as long as looking took, it rests."""
LOOKED_AT = named("look")
"""Verbs of which a page shows what there is, and changes nothing: what else they can do is left out."""
RUN = named("page") & named("long")
"""Verbs that take their time and tell how far they are."""
ASKED = (named("page") | LOOKED_AT | {"status"}) - RUN
"""Verbs that pages ask as they are."""
OWN = frozenset({"door", "address", "actor", "said", "cwd"})
"""What a page does not say of itself."""


class Dashboard(Site):
    """The dashboard's addresses.

    Args:
        codes: with which pages come.
    """

    def __init__(self, daemon: DaemonClient, folder: str, codes: Codes, visitors: Visitors) -> None:
        super().__init__(daemon, folder)
        self._codes = codes
        self._visitors = visitors
        self._files = dict(_files())

    def house(self) -> House:
        """Return what is open, and what pages may load."""
        return House(frozenset({*self._files, "/healthz"}), ENTER, "/", POLICY)

    def app(self) -> Starlette:
        """Return the app: ASGI, without doors."""
        addresses = [Address(path, self._file, methods=["GET"]) for path in self._files]
        addresses += [
            Address("/healthz", health),
            Address(ENTER, self._enter, methods=["POST"]),
            Address("/ask/{verb}", self._ask, methods=["POST"]),
            Address("/run/{verb}", self._run, methods=["POST"]),
            Address("/live", self._live, methods=["GET"]),
        ]
        return self.starlette(addresses)

    async def _file(self, request: Request) -> Response:
        body, kind = self._files[request.url.path]
        return Response(body, media_type=kind)

    async def _enter(self, request: Request) -> Response:
        code = _read_fields(request).get("code")
        if not isinstance(code, str) or not await run_in_threadpool(self._is_good, code[:200]):
            hint = "Run `vector-memory dashboard` again: a code is good once, for a minute."
            return failed(401, "The code is none, or was used, or is too old.", hint)
        return answered({"bearer": self._visitors.admit()})

    def _is_good(self, code: str) -> bool:
        """Whether a code is one of ours, or one that the daemon gave the user for a dashboard that runs."""
        if self._codes.redeem(code):
            return True
        try:
            return bool(self._daemon.ask("token", {"action": "enter", "id": code}).get("id"))
        except VectorMemoryError:
            return False

    async def _ask(self, request: Request) -> Response:
        verb, call = self._read_question(request, ASKED | set(_OWN_ACTS))
        act = _OWN_ACTS.get(verb, lambda call: call.ask(verb, **call.arguments))
        return answered(await run_in_threadpool(act, call))

    async def _run(self, request: Request) -> Response:
        question = self._read_question(request, RUN)
        return await run_in_threadpool(lambda: LinesResponse(self._lines(*question)))

    def _lines(self, verb: str, call: WebCall) -> Generator[bytes, None, None]:
        """Yield what comes as lines: `{"kind": "progress" | "item" | "answer" | "error", "data"}`. When the page goes
        away, the work ends."""
        is_told = False
        try:
            steps = call.steps(verb, LONG_S, **{**_surroundings(verb), **call.arguments})
            with contextlib.closing(steps):
                for kind, data in steps:
                    is_told = True
                    yield _line(kind, data)
        except VectorMemoryError as error:
            if not is_told:
                raise
            yield _line("error", {"error": error.message, "hint": error.hint})

    async def _live(self, request: Request) -> Response:
        call = self.call(request, "GET /live", {})
        return StreamingResponse(self._changes(call), media_type="application/jsonl")

    async def _changes(self, call: WebCall) -> AsyncIterator[bytes]:
        """Yield how many memories there are, with the newest's id, whenever either has changed."""
        previous: Json | None = None
        while True:
            began = time.monotonic()
            try:
                listed = await run_sync(lambda: call.ask("list", all_projects=True, k=1))
                newest = listed["memories"][0]["id"] if listed["memories"] else ""
                current: Json = {"total": listed["total"], "newest": newest}
            except VectorMemoryError as error:
                current = {"error": error.message}
            yield _line("change", current) if current != previous else b"\n"
            previous = current
            # Among very many memories looking takes longer: it stays a small part of the time.
            await asyncio.sleep(max(LIVE_S, LIVE_RESTS * (time.monotonic() - began)))

    def _read_question(self, request: Request, verbs: frozenset[str]) -> tuple[str, WebCall]:
        """Return a page's question, and who asks it.

        Raises:
            NotFoundError: it is none of these.
        """
        verb = request.path_params["verb"]
        if verb not in verbs:
            raise NotFoundError("There is nothing of that name to ask.", "Load the page again.")
        fields = {name: value for name, value in _read_fields(request).items() if name not in OWN}
        fields = {} if verb in LOOKED_AT else fields
        return verb, self.call(request, f"dashboard {verb}", fields)


def _edit(call: WebCall) -> Json:
    """Change a memory, if it is as the page has seen it (`seen`: what it shows of words, kind, tags and weight).

    Raises:
        ConflictError: it is not.
    """
    seen_fields = call.arguments.pop("seen", None)
    with operations.editing:
        memory = call.memory(str(call.arguments.get("id", "")))
        if isinstance(seen_fields, dict) and any(
            memory.get(name) != value for name, value in seen_fields.items()
        ):
            raise ConflictError(
                "The memory has changed since it was opened.", "Open it again; yours is kept here."
            )
        return call.ask("edit", **call.arguments)


def _memories(call: WebCall) -> Json:
    arguments = call.arguments
    arguments["limit"] = min(int(arguments.get("limit") or 60), 200)
    return operations.list_memories(call)


def _share_status(call: WebCall) -> Json:
    """Return how a project is shared, {} where it is not, as most are: a browser logs each answer that is an error."""
    try:
        return call.ask("share_status", **call.arguments)
    except NotFoundError:
        return {}


_OWN_ACTS = {
    "edit": _edit,
    "memories": _memories,
    "share_status": _share_status,
    "where": lambda call: {"folder": call.folder},
    "settings": lambda call: commands.run(call, "config", "list"),
    "set_setting": lambda call: commands.config(call, "set", "name", "value"),
    "unset_setting": lambda call: commands.config(call, "unset", "name"),
    "doctor": lambda call: commands.run(call, "doctor"),
}


def _surroundings(verb: str) -> Json:
    """Return what a verb is told of the user's folders, as the command line tells it."""
    return client_folders() if verb == "backfill" else {"all_projects": True}


def _read_fields(request: Request) -> Json:
    """Return what a page sent.

    Raises:
        BadInputError: it is no JSON object.
    """
    fields = json_of(request)
    if not isinstance(fields, dict):
        raise BadInputError("The body is no JSON object.", "Send one.")
    return fields


def _line(kind: str, data: Json) -> bytes:
    return json.dumps({"kind": kind, "data": data}).encode("ascii") + b"\n"


def _files() -> Iterator[tuple[str, tuple[bytes, str]]]:
    """Yield the pages' files by their addresses: nothing else is ever read."""
    for name in sorted(os.listdir(STATIC)):
        kind = TYPES.get(os.path.splitext(name)[1])
        if kind:
            with open(os.path.join(STATIC, name), "rb") as file:
                body = file.read()
            yield ("/" if name == "index.html" else f"/app/{name}"), (body, kind)
