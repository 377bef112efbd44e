"""What stands in a transcript as a user's words and is not: reminders, our own injections, wrappers
of commands, outputs, notices of the client."""

from __future__ import annotations

import os
import re

from vector_memory.model import EXTRACTION_MARK
from vector_memory.text import tables

_TABLE = tables.sections("noise", os.path.dirname(__file__))
_OPENING = re.compile("<(" + "|".join(_TABLE["dropped"]) + r")(?=[\s>])[^<>]{0,400}>")
_TO_THE_END = frozenset({"vector-memory"})
_OWN_COMMANDS = frozenset(_TABLE["own_commands"])
_MARKS = re.compile(
    r"\[(?:Request interrupted[^\]\n]{0,80}|Image(?: #\d+)?(?::[^\]\n]{0,400})?|Pasted text[^\]\n]{0,40})\]"
)
_NOTICES = tuple(_TABLE["notices"])
_WARM_UPS = frozenset({"warmup", "no response requested."})


def plain_prompt(text: str) -> str:
    """Return the words that the user typed: "" when there are none, `/name args` for a command,
    `! command` for a shell escape."""
    text = strip_tags(text).strip()
    if text.startswith(EXTRACTION_MARK):
        # As it is: a command quoted in it must not take its place and hide whose prompt this is.
        return text
    command, shell = _within(text, "command-name"), _within(text, "bash-input")
    if command and len(command.split()) == 1:
        arguments = _within(text, "command-args") or ""
        return f"/{command.removeprefix('/')} {arguments}".strip()
    if shell is not None:
        return f"! {shell}"
    text = _MARKS.sub("", text).strip()
    if text.startswith(_NOTICES) or text.lower() in _WARM_UPS:
        return ""
    return text


def _within(text: str, tag: str) -> str | None:
    """Return the words of an element in which no other tag stands, None without one."""
    words, closed, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
    return words.strip() if closed and "<" not in words else None


def is_warm_up(text: str) -> bool:
    """Whether the client sent it to have a subagent ready: what that answers is of no task."""
    return text.strip().lower() in _WARM_UPS


def is_command(prompt: str) -> bool:
    """Whether a plain prompt is a slash command or a shell escape: nothing by itself."""
    return prompt.startswith(("/", "! "))


def is_own_command(prompt: str) -> bool:
    """Whether a plain prompt asks this memory itself: what it answered is no memory."""
    return prompt.startswith("/vector-memory:") or prompt.partition(" ")[0] in _OWN_COMMANDS


def strip_tags(text: str) -> str:
    """Return the text without the blocks that the client or this plugin put into it.

    An injected block that is never closed reaches to the end; of other tags, only the tag goes.
    """
    if "<" not in text:
        return text
    parts: list[str] = []
    position = 0
    unclosed: set[str] = set()
    for opened in _OPENING.finditer(text):
        if opened.start() < position:
            continue
        parts.append(text[position : opened.start()])
        position = _block_end(text, opened, unclosed)
    parts.append(text[position:])
    return "".join(parts)


def _block_end(text: str, opened: re.Match[str], unclosed: set[str]) -> int:
    """Return where a block ends, and remember tags that are never closed any more."""
    tag = opened[1]
    closed = -1 if tag in unclosed else text.find(f"</{tag}", opened.end())
    if closed < 0:
        unclosed.add(tag)
        return len(text) if tag in _TO_THE_END else opened.end()
    end = text.find(">", closed)
    return end + 1 if end >= 0 else len(text)
