"""What a session's transcript tells of it to a daemon that was not there: its prompts, and files it touched.

Only a transcript's beginning and end are read, once, when the first call of a session that nobody knows comes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from vector_memory.index.noise import is_command, plain_prompt
from vector_memory.index.transcript import Lines, TranscriptEntry
from vector_memory.system.json_in import Record

HEAD_BYTES = 512_000
TAIL_BYTES = 256_000
MOST_FIRST, MOST_LAST = 4, 12
MOST_FILES = 400


class EarlierSession(NamedTuple):
    """The first and last prompts of a session, in order, and the files that its calls named."""

    prompts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read(path: str) -> EarlierSession:
    """Return what a transcript tells; nothing of one that is not there or cannot be read."""
    prompts: list[str] = []
    files: dict[str, None] = {}
    try:
        for entry in _entries(path):
            prompts.append(prompt_of(entry.data))
            files.update(dict.fromkeys(_files(entry.data)))
    except OSError:
        return EarlierSession()
    typed = [prompt for prompt in prompts if prompt]
    if len(typed) > MOST_FIRST + MOST_LAST:
        typed = typed[:MOST_FIRST] + typed[-MOST_LAST:]
    return EarlierSession(tuple(typed), tuple(files)[-MOST_FILES:])


def _entries(path: str) -> Iterator[TranscriptEntry]:
    yield from takewhile(lambda entry: entry.end <= HEAD_BYTES, Lines(path))
    size = os.path.getsize(path)
    if size > HEAD_BYTES:
        # It begins in the midst of a line.
        yield from Lines(path, max(HEAD_BYTES, size - TAIL_BYTES))


def prompt_of(entry: Record) -> str:
    """Return what the user typed, "" for anything else that stands as his words."""
    if entry.get("type") != "user" or any(
        entry.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary")
    ):
        return ""
    message = entry.part("message")
    blocks = message.parts("content")
    if any(block.get("type") == "tool_result" for block in blocks):
        return ""
    texts = [block.text("text") for block in blocks if block.get("type") == "text"]
    typed = plain_prompt(message.text("content") or "\n".join(texts))
    return "" if is_command(typed) else typed


def _files(entry: Record) -> Iterator[str]:
    for block in entry.part("message").parts("content"):
        tool_input = block.part("input") if block.get("type") == "tool_use" else Record()
        yield from filter(None, map(tool_input.text, ("file_path", "notebook_path", "path")))
