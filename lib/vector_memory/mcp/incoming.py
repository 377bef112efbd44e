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
_END_CHARS = 1000
"""How much of either end of a line is read where all of it cannot be."""


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
                is_error = isinstance(item, ValidationError)
                message, request = _read_again(item) if is_error else (None, Record())
                if request:
                    await writing.send(SessionMessage(_refusal(request["id"])))
                else:
                    await sending.send(SessionMessage(message) if message else item)


def _read_again(error: ValidationError) -> tuple[types.JSONRPCMessage | None, Record]:
    """Return the message of a line that could not be read, or else the request that it is; neither where nobody waits for
    an answer to it."""
    for flaw in error.errors(include_url=False):
        sent = flaw["input"]
        # What the SDK has read as JSON would say the same once more.
        if flaw["type"] == "json_invalid":
            line, sent = sent, _ends_of(sent)
            with contextlib.suppress(ValueError, RecursionError):
                sent = storable_json(load(line.encode("utf-8", "replace")))
                text = json.dumps(sent)
                return types.jsonrpc_message_adapter.validate_json(text, by_name=False), Record()
        if isinstance(sent, dict) and "method" in sent and type(sent.get("id")) in (int, str):
            return None, Record(sent)
    return None, Record()


def _ends_of(line: str) -> dict[str, Any]:
    """Return what stands before a message's parameters and behind them, as far as that can be read alone."""
    head = line[:_END_CHARS].partition('"params"')[0].strip(" ,")
    tail = line[-_END_CHARS:].strip().removesuffix("}")
    tail = tail[max(map(tail.rfind, "]}")) + 1 :].strip(" ,")
    ends: dict[str, Any] = {}
    # Where a line is cut off its tail is of some parameter.
    for part in (f"{{{tail}}}", f"{head}}}"):
        with contextlib.suppress(ValueError):
            ends |= storable_json(load(part.encode("utf-8", "replace")))
    return ends


def _refusal(id: Any) -> types.JSONRPCError:
    error = types.ErrorData(code=types.INVALID_REQUEST, message=UNREADABLE)
    return types.JSONRPCError(jsonrpc="2.0", id=id, error=error)
