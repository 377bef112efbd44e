"""What the client sends, before the SDK's server has it. A line that the SDK cannot read it drops without an answer, and
the client waits for one: such a line is read once more here."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from vector_memory.system.json_in import Record, load, storable_json

UNREADABLE = "This message cannot be read: nested too deep, or no JSON-RPC."


async def relay(reading: Any, sending: Any, writing: Any) -> None:
    """Pass messages on until no more come. Halves of surrogate pairs become U+FFFD, as everywhere; a request that
    cannot be read all the same is answered with an error.

    Args:
        reading: the SDK's stream of messages and exceptions.
        sending: where they go on.
        writing: where answers go.
    """
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with reading, sending:
            async for item in reading:
                request = _request_of(item) if isinstance(item, ValidationError) else Record()
                message = _message_of(request) if request else None
                if request and message is None:
                    await writing.send(SessionMessage(_refusal(request["id"])))
                else:
                    await sending.send(SessionMessage(message) if message else item)


def _request_of(error: ValidationError) -> Record:
    """Return the request that could not be read, empty where the line is none that waits for an answer."""
    for flaw in error.errors(include_url=False):
        sent = flaw["input"]
        if flaw["type"] == "json_invalid":
            with contextlib.suppress(ValueError):
                sent = storable_json(load(sent.encode("utf-8", "replace")))
        if isinstance(sent, dict) and "method" in sent and type(sent.get("id")) in (int, str):
            return Record(sent)
    return Record()


def _message_of(request: Record) -> types.JSONRPCMessage | None:
    with contextlib.suppress(ValueError, RecursionError):
        return types.jsonrpc_message_adapter.validate_json(json.dumps(request), by_name=False)
    return None


def _refusal(id: Any) -> types.JSONRPCError:
    error = types.ErrorData(code=types.INVALID_REQUEST, message=UNREADABLE)
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=error)
