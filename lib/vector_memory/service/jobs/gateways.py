"""memory-gateway: which gateways run, whether each answers, and which tokens let programs in."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress

from vector_memory import tokens
from vector_memory.journal.job_rows import FAILED, WAITS
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import JobRun, Step

WAIT_S = 3.0
_ASKED = b"GET /healthz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"


def step(ctx: Context, run: JobRun) -> Step:
    """Ask every gateway of this data home how it is.

    Returns:
        What it did, and where the next step begins.
    """
    urls = _running(ctx.home.gateways, run.dry_run)
    silent = [url for url in urls if not _answers(url)]
    held = tokens.load(ctx.home.tokens)
    report = {
        "running": bool(urls),
        "gateways": urls,
        "silent": silent,
        "tokens": len(held),
        "ended": sum(not token.holds(run.now) for token in held),
    }
    if not urls:
        return Step(report, message="No gateway runs: `vector-memory serve`.", outcome=WAITS)
    if silent:
        return Step(report, message=f"No answer from {', '.join(silent)}.", outcome=FAILED)
    return Step(report, message=f"{len(urls)} answer.")


def _running(folder: str, dry_run: bool) -> list[str]:
    """Return the addresses of the gateways that run; the marks of those that were killed go."""
    urls = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        with suppress(OSError, ValueError, KeyError, TypeError):
            if _lives(int(name.removesuffix(".json"))):
                with open(path, encoding="ascii") as file:
                    urls.append(str(json.load(file)["url"]))
            elif not dry_run:
                os.unlink(path)
    return urls


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # Somebody else's by now.
        return False
    return True


def _answers(url: str) -> bool:
    """Whether a gateway says that it is well."""
    scheme, _, place = url.partition(":")
    host, _, port = place.removeprefix("//").partition(":")
    try:
        with _connected(place if scheme == "unix" else "", host, port) as connection:
            named = "localhost" if scheme == "unix" else f"{host}:{port}"
            connection.sendall(_ASKED % named.encode("ascii"))
            return b" 200 " in connection.recv(64)
    except (OSError, ValueError):
        return False


def _connected(path: str, host: str, port: str) -> socket.socket:
    if not path:
        return socket.create_connection((host, int(port)), WAIT_S)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(WAIT_S)
    connection.connect(path)
    return connection
