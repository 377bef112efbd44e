"""memory-gateway: which gateways run, whether each answers, and which tokens let programs in."""

from __future__ import annotations

import socket
from contextlib import closing
from http.client import HTTPConnection, HTTPException

from vector_memory import tokens
from vector_memory.journal.job_rows import FAILED, WAITS
from vector_memory.service.base.context import Context
from vector_memory.service.jobs.step import JobRun, Step
from vector_memory.system import gateways

WAIT_S = 3.0


def step(ctx: Context, run: JobRun) -> Step:
    """Ask every gateway of this data home how it is.

    Returns:
        What it did, and where the next step begins.
    """
    folder = ctx.home.gateways
    marks = list(gateways.running(folder, sweeps=not run.dry_run))
    # A dashboard leaves the same mark, but lets no program in.
    urls = [url for pid, url in marks if not gateways.is_dashboard(folder, pid)]
    silent = [url for url in urls if not _answers(url)]
    known_tokens = tokens.load(ctx.home.tokens)
    report = {
        "running": bool(urls),
        "gateways": urls,
        "silent": silent,
        "tokens": len(known_tokens),
        "ended": sum(not token.holds(run.now) for token in known_tokens),
    }
    if not urls:
        return Step(report, message="No gateway runs: `vector-memory serve`.", outcome=WAITS)
    if silent:
        return Step(report, message=f"No answer from {', '.join(silent)}.", outcome=FAILED)
    return Step(report, message=f"{len(urls)} answer.")


def _answers(url: str) -> bool:
    """Whether a gateway says that it is well."""
    scheme, _, place = url.partition(":")
    host = "localhost" if scheme == "unix" else place.removeprefix("//")
    try:
        with closing(HTTPConnection(host, timeout=WAIT_S)) as connection:
            if scheme == "unix":
                connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                connection.sock.settimeout(WAIT_S)
                connection.sock.connect(place)
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
