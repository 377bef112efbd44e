"""A server's process: it speaks the protocol on stdin and stdout until stdin closes."""

from __future__ import annotations

import gc
import logging
import os
import sys
from typing import Any

from vector_memory.client.link import DaemonClient
from vector_memory.mcp import sdk
from vector_memory.mcp.caller import ACTOR, Caller
from vector_memory.system import paths

PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
SESSION_VARIABLE = "CLAUDE_CODE_SESSION_ID"
PARENT_S = 5.0
"""How often it looks whether who started it is still there: one that was killed may have left the other
end of stdin open in another process."""


def main() -> int:
    """Serve until stdin closes, and return the exit code. No daemon is asked before the first call."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="vector-memory: %(message)s"
    )
    parent = os.getppid()
    # What is imported stays: nothing of it has to be looked at again and again.
    gc.disable()
    sdk.load()
    from vector_memory.mcp import incoming, server

    protocol_server = server.make(caller())
    gc.freeze()
    gc.enable()
    import anyio
    from mcp.server.stdio import stdio_server

    async def watch() -> None:
        while os.getppid() == parent:
            await anyio.sleep(PARENT_S)
        # The thread that reads stdin could not be told: it waits for a line that may never come.
        os._exit(0)

    async def serve() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            async with stdio_server() as (reading, writing):
                sending, messages = anyio.create_memory_object_stream[Any]()
                group.start_soon(incoming.relay, reading, sending, writing)
                await protocol_server.run(
                    messages, writing, protocol_server.create_initialization_options()
                )
            group.cancel_scope.cancel()

    try:
        anyio.run(serve)
    finally:
        sys.stderr.flush()
    # A call that still waits for the daemon, or the thread that reads, must not keep this process.
    os._exit(0)


def caller(actor: str = ACTOR, folder: str = "") -> Caller:
    """Return the way to the daemon of the session that started this process.

    Args:
        actor: who asks.
        folder: the folder that is asked from; by default the client's project.
    """
    folder = folder or os.environ.get(PROJECT_VARIABLE) or os.getcwd()
    session = os.environ.get(SESSION_VARIABLE) or ""
    home = paths.Home()
    return Caller(
        DaemonClient(home),
        os.path.abspath(folder),
        session or os.urandom(8).hex(),
        bool(session),
        actor=actor,
    )
