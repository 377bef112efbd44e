"""What the scripted model says: its replies, and how they look in the Messages API."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Block = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """A reply of plain text that ends the turn, unless it was cut off (`stopped`)."""

    text: str
    stopped: str = "end_turn"


@dataclass(frozen=True)
class Call:
    """A reply that calls one tool."""

    tool: str
    input: dict[str, Any] = field(default_factory=dict)


Reply = Say | Call
Answering = Callable[[Any], Reply]
"""A reply that depends on the request."""
Scripted = Reply | Answering | str
"""What a test may write down: a text stands for `Say`."""


def message(model: str, reply: Reply) -> dict[str, Any]:
    """Return the reply as one JSON message."""
    return {
        **_envelope(model),
        "content": [_block(reply)],
        "stop_reason": _stop_reason(reply),
        "usage": {"input_tokens": 1000, "output_tokens": 20},
    }


def stream(model: str, reply: Reply) -> bytes:
    """Return the reply as server-sent events."""
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        for event in _events(model, reply)
    )


def _events(model: str, reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": _envelope(model)}
    yield {"type": "content_block_start", "index": 0, "content_block": _empty(_block(reply))}
    yield {"type": "content_block_delta", "index": 0, "delta": _delta(reply)}
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop_reason(reply), "stop_sequence": None},
        "usage": {"output_tokens": 20},
    }
    yield {"type": "message_stop"}


def _envelope(model: str) -> dict[str, Any]:
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 1},
    }


def _stop_reason(reply: Reply) -> str:
    return reply.stopped if isinstance(reply, Say) else "tool_use"


def _block(reply: Reply) -> Block:
    if isinstance(reply, Say):
        return {"type": "text", "text": reply.text}
    identifier = f"toolu_{uuid.uuid4().hex[:24]}"
    return {"type": "tool_use", "id": identifier, "name": reply.tool, "input": reply.input}


def _empty(block: Block) -> Block:
    return {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}


def _delta(reply: Reply) -> Block:
    if isinstance(reply, Say):
        return {"type": "text_delta", "text": reply.text}
    return {"type": "input_json_delta", "partial_json": json.dumps(reply.input)}
