"""What a session's transcript tells of it to a daemon that was not there: its prompts, and files it touched.

Only a transcript's beginning and end are read, once, when the first call of a session that nobody knows comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from vector_memory.index.noise import is_command, plain_prompt
from vector_memory.index.transcript import parse_objects
from vector_memory.system.files import open_plain

HEAD_BYTES = 512_000
TAIL_BYTES = 256_000
MOST_LINE_BYTES = 100_000
MOST_FIRST, MOST_LAST = 4, 12
MOST_FILES = 400


class Earlier(NamedTuple):
    """The first and last prompts of a session, in order, and the files that its calls named."""

    prompts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read(path: str) -> Earlier:
    """Return what a transcript tells; nothing of one that is not there or cannot be read."""
    prompts: list[str] = []
    files: dict[str, None] = {}
    try:
        for entry in _entries(path):
            if said := prompt_of(entry):
                prompts.append(said)
            files.update(dict.fromkeys(_files(entry)))
    except OSError:
        return Earlier()
    if len(prompts) > MOST_FIRST + MOST_LAST:
        prompts = prompts[:MOST_FIRST] + prompts[-MOST_LAST:]
    return Earlier(tuple(prompts), tuple(files)[-MOST_FILES:])


def _entries(path: str) -> Iterator[Mapping[str, object]]:
    if not path:
        return
    with open_plain(path) as file:
        start = file.read(HEAD_BYTES)
        lines = start.split(b"\n")
        if len(start) == HEAD_BYTES:
            lines.pop()
            size = file.seek(0, 2)
            file.seek(max(HEAD_BYTES, size - TAIL_BYTES))
            # Where it begins is the middle of a line.
            lines += file.read(TAIL_BYTES).split(b"\n")[1:]
    for line in lines:
        if len(line) < MOST_LINE_BYTES and (b'"user"' in line or b'"tool_use"' in line):
            yield from parse_objects(line)


def prompt_of(entry: Mapping[str, object]) -> str:
    """Return what the user typed, "" for anything else that stands as his words."""
    if entry.get("type") != "user" or any(
        entry.get(mark) for mark in ("isMeta", "isSidechain", "isCompactSummary")
    ):
        return ""
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        blocks = [one for one in content if isinstance(one, dict)]
        if any(block.get("type") == "tool_result" for block in blocks):
            return ""
        content = "\n".join(
            str(block.get("text") or "") for block in blocks if block.get("type") == "text"
        )
    said = plain_prompt(content) if isinstance(content, str) else ""
    return "" if is_command(said) else said


def _files(entry: Mapping[str, object]) -> Iterator[str]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for one in content if isinstance(content, list) else ():
        given = (
            one.get("input") if isinstance(one, dict) and one.get("type") == "tool_use" else None
        )
        if isinstance(given, dict):
            for name in ("file_path", "notebook_path", "path"):
                if isinstance(given.get(name), str):
                    yield given[name]
