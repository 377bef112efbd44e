"""The labelled turns of real transcripts, without a word of them: `labels.json` says where a labelled
text stands (file, line, object in the line, number among its texts, characters from and to).

What a person marked: which sentences are worth remembering and with what intent, at which turns another
topic begins, and which failing command was fixed by what.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import ROOT  # noqa: F401 - puts the library on the path

from vector_memory.index import tools
from vector_memory.index.codex import translate
from vector_memory.index.fixes.errors import error_line
from vector_memory.index.noise import plain_prompt, strip_tags
from vector_memory.index.reader import transcripts_below
from vector_memory.index.transcript import read_entries

LABELS = Path(__file__).with_name("labels.json")
PROBES = Path(__file__).with_name("probes.json")
USER, REPLY, ASSISTANT = "user", "user-on-tool", "assistant"
TASK, ACTION, ERROR = "task", "action", "tool-error"


@dataclass(frozen=True)
class Said:
    """One thing said or done in a transcript: `who` is one of the words above."""

    file: str
    line: int
    part: int
    who: str
    text: str
    n: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return dict(self.__dict__)


def turns(folder: str) -> list[Said]:
    """Return what was said and done in all transcripts of a folder, by file and line; `n` counts."""
    found: list[Said] = []
    for path in sorted(transcripts_below(folder)):
        found += _of_file(path, os.path.relpath(path, folder))
    return [Said(one.file, one.line, one.part, one.who, one.text, n) for n, one in enumerate(found)]


def _of_file(path: str, name: str) -> Iterator[Said]:
    called: dict[Any, str] = {}
    for entry in translate(read_entries(path, final=True)):
        data = entry.data
        message = data.get("message")
        skipped = data.get("isMeta") or data.get("isCompactSummary")
        if isinstance(message, dict) and not skipped and data.get("type") in ("user", "assistant"):
            said = _user if data["type"] == "user" else _assistant
            for who, text in said(data, _blocks(message.get("content")), called):
                yield Said(name, entry.line, entry.part, who, text)


def _user(
    data: dict[str, Any], blocks: list[dict[str, Any]], called: dict[Any, str]
) -> Iterator[tuple[str, str]]:
    for block in blocks:
        if block.get("type") == "tool_result":
            text = _text(_blocks(block.get("content")))
            failed = block.get("is_error") is True
            words = tools.user_words(text, called.get(block.get("tool_use_id"), ""), failed)
            if words:
                yield REPLY, words
            elif failed:
                yield ERROR, error_line(text)
    prompt = plain_prompt(_text(blocks))
    if prompt:
        yield (TASK if data.get("isSidechain") else USER), prompt


def _assistant(
    data: dict[str, Any], blocks: list[dict[str, Any]], called: dict[Any, str]
) -> Iterator[tuple[str, str]]:
    for block in blocks:
        if block.get("type") == "text":
            text = strip_tags(str(block.get("text") or "")).strip()
            if text:
                yield ASSISTANT, text
        elif block.get("type") == "tool_use":
            name, given = str(block.get("name")), block.get("input")
            called[block.get("id")] = name
            given = given if isinstance(given, dict) else {}
            action = tools.describe(name, given, str(data.get("cwd") or ""))
            if action:
                yield ACTION, action


def _blocks(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks = content if isinstance(content, list) else []
    return [one if isinstance(one, dict) else {"type": "text", "text": str(one)} for one in blocks]


def _text(blocks: list[dict[str, Any]]) -> str:
    return "\n".join(
        one["text"]
        for one in blocks
        if one.get("type") == "text" and isinstance(one.get("text"), str)
    )


def keys(said: list[Said]) -> dict[tuple[Any, ...], int]:
    """Return the number `n` of each turn by what names it in `labels.json`."""
    seen: dict[tuple[Any, ...], int] = {}
    named: dict[tuple[Any, ...], int] = {}
    for one in said:
        place = (one.file, one.line, one.part)
        seen[place] = seen.get(place, -1) + 1
        named[(*place, seen[place])] = one.n
    return named


def probes(folder: str, path: Path = PROBES) -> list[dict[str, Any]]:
    """Return questions as a later session would ask them, each with the exact words that answer it.

    Raises:
        KeyError: the folder lacks a transcript that they are about.
    """
    said = turns(folder)
    named = keys(said)
    found = []
    for one in json.loads(path.read_text(encoding="utf-8")):
        start, end = one["span"]
        text = said[named[tuple(one["at"])]].text
        found.append({"question": one["question"], "answer": text[start:end], "kind": one["kind"]})
    return found


def load(folder: str, path: Path = LABELS) -> tuple[list[Said], dict[str, Any]]:
    """Return all turns, and the labels by their numbers: `turns` [n], `ideas` [{"n", "quote",
    "intent"}], `boundaries` [n], `fixes` [{"error", "fix", "success", "certain"}].

    Raises:
        KeyError: the folder lacks a labelled transcript.
    """
    said = turns(folder)
    named = keys(said)
    raw = json.loads(path.read_text(encoding="utf-8"))
    files = raw["files"]

    def number(place: list[int]) -> int:
        return named[(files[place[0]], *place[1:])]

    return said, {
        "turns": [number(one) for one in raw["turns"]],
        "boundaries": [number(one) for one in raw["boundaries"]],
        "ideas": [
            {"n": n, "quote": said[n].text[start:end], "intent": intent}
            for n, start, end, intent in (
                (number(place), start, end, intent) for place, start, end, intent in raw["ideas"]
            )
        ],
        "fixes": [
            {
                "error": number(one["error"]),
                "fix": [number(place) for place in one["fix"]],
                "success": number(one["success"]),
                "certain": one["certain"],
            }
            for one in raw["fixes"]
        ],
    }
