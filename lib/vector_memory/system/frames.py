"""Frames on a pipe between the daemon and a process of its own that works for it: four bytes of length,
big-endian, and the content."""

from __future__ import annotations

import os
import struct
from typing import IO

NICENESS = 10
"""Of such a process: prompts come first."""
LENGTH = struct.Struct(">I")


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Return the next frame's content, or None when the other side has gone."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(header)
    content = stream.read(length)
    return content if len(content) == length else None


def write_frame(stream: IO[bytes], content: bytes) -> None:
    """Write a frame."""
    stream.write(LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def take_stdout() -> IO[bytes]:
    """Keep stdout for the frames: what a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers
