"""A gateway as a process of its own before a daemon of its own, and a client of plain HTTP, for tests."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from daemon_rig import Rig

from vector_memory.system import paths

LIB = os.path.dirname(paths.PACKAGE_ROOT)
CODE = (
    f"import sys; sys.path.insert(0, {LIB!r})\n"
    "from vector_memory.cli.main import main\nsys.exit(main())"
)
JSON = "application/json"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        """What it says."""
        return json.loads(self.raw)


class Gateway:
    """One gateway.

    Args:
        rig: its daemon's home.
        folder: where it is started.
        more: options of `serve`.
        verb: what runs instead of `serve`.
    """

    def __init__(self, rig: Rig, folder: Path, *more: str, verb: str = "serve") -> None:
        self.rig = rig
        self.folder = folder
        environ = {**os.environ, "VECTOR_MEMORY_HOME": rig.home.root}
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE, verb, "--json", *more],
            stdout=subprocess.PIPE,
            cwd=folder,
            env=environ,
            text=True,
        )
        assert self.process.stdout
        with self.process.stdout as lines:
            self.told = json.loads(lines.readline())
        self.url = str(self.told.get("url", ""))
        self.host = self.url.partition("//")[2]
        self.port = int(self.host.partition(":")[2] or 0)

    def token(self, *rights: str, **more: Any) -> str:
        """Return a new token."""
        name = more.pop("name", f"t{os.urandom(4).hex()}")
        asked = {"action": "new", "name": name, "right": list(rights), **more}
        return str(self.rig.daemon.ask("token", asked)["token"])

    def call(
        self,
        method: str,
        path: str,
        token: str = "",
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Return what comes back for one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if raw is not None:
            sent["Content-Type"] = JSON
        with contextlib.closing(connection):
            connection.request(method, path, raw, {**sent, **(headers or {})})
            back = connection.getresponse()
            named = {name.lower(): value for name, value in back.getheaders()}
            return Answer(back.status, named, back.read())

    def post(self, path: str, token: str, body: Any, **headers: str) -> Answer:
        """Post a JSON object."""
        return self.call("POST", path, token, body, headers)

    def get(self, path: str, token: str, **headers: str) -> Answer:
        """Get what is at an address."""
        return self.call("GET", path, token, None, headers)

    def raw(self, data: bytes) -> socket.socket:
        """Return a connection on which some bytes were said."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        connection.sendall(data)
        return connection

    def end(self) -> int:
        """End it, and return its exit code."""
        self.process.terminate()
        return self.process.wait(30)


@contextlib.contextmanager
def gateway(folder: Path, *more: str, verb: str = "serve") -> Iterator[Gateway]:
    """Run a gateway in a project's folder, with a daemon and a home of their own."""
    rig = Rig(folder / "data")
    project = folder / "project"
    project.mkdir(exist_ok=True)
    made = Gateway(rig, project, *more, verb=verb)
    try:
        yield made
    finally:
        made.end()
        rig.daemon.stop()
