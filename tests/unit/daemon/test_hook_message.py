"""A hook's message as the daemon reads it."""

from __future__ import annotations

import json

import pytest

from vector_memory import wire
from vector_memory.daemon import hook_message


@pytest.mark.parametrize("depth", [700, 100_000])
def test_what_is_nested_too_deep_is_no_json(depth: int) -> None:
    """It comes through a pipe that the server reads itself: whatever it is, the daemon lives."""
    data = b'{"prompt": "x", "y": ' + b"[" * depth + b"]" * depth + b"}"
    with pytest.raises(ValueError, match=r".+"):
        hook_message.read(wire.encode_hook(b"", b"", data))
    assert hook_message.read(wire.encode_hook(b"", b"", json.dumps({"a": 1}).encode()))
