"""The gateway's process: it listens on this machine alone, says where, and ends when nobody comes."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from vector_memory.client.link import DaemonClient, Json
from vector_memory.errors import BadInputError, StoreFullError, VectorMemoryError
from vector_memory.system import browsers, private
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import delete_file
from vector_memory.system.paths import Home
from vector_memory.tokens import Codes
from vector_memory.web.access import Doors, TokenFile
from vector_memory.web.app import Gateway
from vector_memory.web.routes import ROUTES

LOOPBACK = "127.0.0.1"
HEAD_S = 10.0
"""How long a connection may be without a whole request."""
HEAD_BYTES = 16 * 1024
THREADS = 16
MOST_CONNECTIONS = 256
CARD_S = 60.0

Ready = Callable[[str], None]


class PatientProtocol(H11Protocol):
    """HTTP, without those who connect and say nothing, or no end: uvicorn waits for a first request for ever."""

    def connection_made(self, transport: Any) -> None:
        """Take a connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.close()
            return
        self._idle_timer: asyncio.TimerHandle = self.loop.call_later(HEAD_S, self._close_if_idle)
        self._seen: object = None

    def connection_lost(self, exc: Exception | None) -> None:
        """Let a connection go."""
        if hasattr(self, "_idle_timer"):
            self._idle_timer.cancel()
        super().connection_lost(exc)

    def _close_if_idle(self) -> None:
        """Close a connection on which no request came since the last look, and none is being answered."""
        is_new = self.cycle is not self._seen
        if not is_new and (self.cycle is None or self.cycle.response_complete):
            self.transport.close()
            return
        self._seen = self.cycle
        self._idle_timer = self.loop.call_later(HEAD_S, self._close_if_idle)


class GatewayServer(uvicorn.Server):
    """Uvicorn's server, which says when it listens, and ends in good order when it is told to or nobody comes."""

    def __init__(
        self, config: uvicorn.Config, doors: Doors, ready: Callable[[], None], idle_s: float
    ):
        super().__init__(config)
        self._doors = doors
        self._ready = ready
        self._idle_s = idle_s

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        """Tell, ten times a second, whether to end."""
        doors = self._doors
        is_idle = not doors.active and time.monotonic() - doors.last > self._idle_s
        return is_idle or await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End in good order on a signal: as somebody who was asked to, not as one who was killed."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def main(options: Json) -> int:
    """Serve as the command line says, and return the exit code. One line tells where it can be asked."""
    as_json = bool(options["json"])

    def ready(url: str) -> None:
        line = json.dumps({"url": url, "pid": os.getpid()}) if as_json else f"Listening at {url}"
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    home = Home(options["home"])
    try:
        (show if "opens" in options else serve)(home, options, ready)
    except VectorMemoryError as error:
        return _report_error(error, as_json)
    except OSError as error:
        refused = StoreFullError.advice_for(error)
        if refused is None:
            raise
        return _report_error(refused, as_json)
    return 0


def _report_error(error: VectorMemoryError, as_json: bool) -> int:
    """Say why it does not run, and return the exit code."""
    if as_json:
        sys.stdout.write(json.dumps({"error": error.message, "hint": error.hint}) + "\n")
    else:
        sys.stderr.write(f"{error}\n")
    return 1


def serve(home: Home, options: Json, ready: Ready) -> None:
    """Answer until told to end, or until nobody came for a while.

    Args:
        options: `folder`: what is stored without a project is about this folder's; `port`, 0 for any that is free;
            `socket`: a unix socket's file instead, "" for none; `idle_s`; `card`: what a signed agent card calls
            it, "" for none.
        ready: is told the address once it can be asked.

    Raises:
        BadInputError: it cannot listen there, or an agent would have a card signed.
    """
    path, card = options["socket"], options["card"]
    listening = _unix_socket(path) if path else _loopback_socket(options["port"])
    host = f"{LOOPBACK}:{listening.getsockname()[1]}" if not path else ""
    url = f"unix:{path}" if path else f"http://{host}"
    server = "http://localhost" if path else url
    daemon = DaemonClient(home)
    signed = signed_card(daemon, card, server) if card else None
    gateway = Gateway(daemon, options["folder"], server, signed)
    hosts = frozenset({host}) if host else None
    doors = Doors(gateway.app(), TokenFile(home.tokens), hosts, gateway.house())
    try:
        _listen(home, doors, listening, url, options["idle_s"], lambda: ready(url))
    finally:
        if path:
            delete_file(path, OSError)


def signed_card(daemon: DaemonClient, name: str, server: str) -> Json:
    """Return the agent card of a gateway at an address. It is no A2A endpoint, and says so: the protocol that it names
    is the gateway's own document.

    Raises:
        BadInputError: an agent started this process, or the key needs a passphrase.
    """
    docs = [route.doc for route in ROUTES if "memories" in route.marks]
    card_fields = {
        "name": name,
        "skill": docs,
        "url": server,
        "binding": f"{server}/v1/openapi.json",
    }
    secrets = {"passphrase": os.environ.get("VECTOR_MEMORY_KEY_PASSPHRASE", "")}
    request = {"action": "create", "actor": "user", **card_fields, **secrets}
    card: Json = daemon.ask("card", request, CARD_S)["card"]
    return card


def show(home: Home, options: Json, ready: Ready) -> None:
    """Answer the dashboard's pages until told to end, or until no page was open for a while.

    Args:
        options: `folder`: what a page asks without a project is about this folder's; `port`, 0 for any that is free;
            `idle_s`; `opens`: the user's browser is to open it.
        ready: is told the address once it can be asked.

    Raises:
        BadInputError: it cannot listen there.
    """
    from vector_memory.web.dashboard import Dashboard
    from vector_memory.web.sign_in import Visitors

    listening = _loopback_socket(options["port"])
    host = f"{LOOPBACK}:{listening.getsockname()[1]}"
    url = f"http://{host}"
    codes, visitors = Codes(), Visitors(home.tokens)
    daemon = DaemonClient(home)
    dashboard = Dashboard(daemon, options["folder"], codes, visitors)
    doors = Doors(dashboard.app(), visitors, frozenset({host}), dashboard.house())
    door = os.path.join(home.gateways, f"{os.getpid()}.html")

    def listens() -> None:
        # Met before whoever started it has ended: afterwards nobody could tell whose it is.
        with contextlib.suppress(VectorMemoryError):
            daemon.ask("privacy", {"cwd": options["folder"]})
        code = codes.make()
        browsers.write_door(door, url, code)
        ready(url)
        if options["opens"]:
            _open_in_browser(door)
        elif sys.stdout.isatty():
            sys.stdout.write(f"Open {url}/#code={code} within a minute; it is good once.\n")

    try:
        _listen(home, doors, listening, url, options["idle_s"], listens)
    finally:
        delete_file(door, OSError)


def _open_in_browser(door: str) -> None:
    """Have the user's browser open a file: the address with the code stands in no program's arguments."""

    def open_it() -> None:
        if not browsers.open_door(door):
            sys.stderr.write(f"No browser was found: open {door} in one.\n")

    threading.Thread(target=open_it, daemon=True).start()


def _listen(
    home: Home,
    doors: Doors,
    listening: socket.socket,
    url: str,
    idle_s: float,
    ready: Callable[[], None],
) -> None:
    """Answer until told to end, or until nobody came for a while; meanwhile a file tells where."""
    config = uvicorn.Config(
        doors,
        loop="asyncio",
        http=PatientProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        # What is cut off at its end is told to who asked, and not in the terminal.
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=HEAD_BYTES,
    )
    mark = os.path.join(home.gateways, f"{os.getpid()}.json")

    def listens() -> None:
        private.make_folder(home.gateways)
        write_durably(mark, json.dumps({"url": url}).encode("ascii"))
        ready()

    gc.freeze()
    try:
        running = GatewayServer(config, doors, listens, idle_s)
        asyncio.run(_serve(running, listening))
    finally:
        delete_file(mark, OSError)


async def _serve(server: GatewayServer, listening: socket.socket) -> None:
    from anyio.to_thread import current_default_thread_limiter

    current_default_thread_limiter().total_tokens = THREADS
    await server.serve(sockets=[listening])


def _loopback_socket(port: int) -> socket.socket:
    # The protocol is named so that asyncio switches Nagle's algorithm off: an answer's head and body are two
    # writes, and the second would wait forty milliseconds for a receipt of the first.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise BadInputError(
            f"Port {port} cannot be used: {error.strerror}.", "Say another --port."
        ) from error
    return listening


def _unix_socket(path: str) -> socket.socket:
    """Return a socket of this file, which this user alone may open."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _require_unused(path)
        previous_umask = os.umask(0o177)
        try:
            listening.bind(path)
        finally:
            os.umask(previous_umask)
    except OSError as error:
        listening.close()
        reason = error.strerror or error
        raise BadInputError(f"{path} cannot be used: {reason}.", "Say another --socket.") from error
    return listening


def _require_unused(path: str) -> None:
    """Remove a socket on which nobody listens any more.

    Raises:
        OSError: somebody does, or it is no socket.
    """
    try:
        is_socket = stat.S_ISSOCK(os.lstat(path).st_mode)
    except FileNotFoundError:
        return
    # A file of any other sort refuses a connection just as a socket does that nobody holds.
    if not is_socket:
        raise OSError("it is there already, and is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trying:
        try:
            trying.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)
            return
    raise OSError("it is there already")
