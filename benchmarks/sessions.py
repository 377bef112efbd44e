"""Many different sessions for the benchmarks: copies of real transcripts under new ids and with other
words, so that no two say the same, or made up where there are none."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterator
from typing import Any

from common import text

from vector_memory.index.reader import transcripts_below

PROJECTS = 20
TURNS = 12
BEGAN = 1_750_000_000
_IDS = ("sessionId", "uuid", "parentUuid", "leafUuid", "agentId")
_WORD = re.compile(r"\b[a-z]{6,14}\b")


def write_sessions(folder: str, count: int, project: str, source: str = "") -> int:
    """Write `count` transcripts below a folder and return their bytes.

    Args:
        folder: where they go, in folders of a project each.
        project: one in PROJECTS of them is of this project, the others of neighbours of it.
        source: a folder of transcripts to copy from; made up without one.
    """
    originals = (
        [path for path in transcripts_below(source) if os.path.getsize(path)] if source else []
    )
    words = _vocabulary(originals)
    size = 0
    for number in range(count):
        home = project if number % PROJECTS == 0 else f"{project}-{number % PROJECTS}"
        lines = (
            _copied(originals[number % len(originals)], number, home, words)
            if originals
            else _made_up(number, home)
        )
        path = os.path.join(folder, os.path.basename(home), f"session-{number}.jsonl")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            size += sum(file.write(line + "\n") for line in lines)
        # Long over: one that is written to now would be left open.
        os.utime(path, (BEGAN + number * 3_600,) * 2)
    return size


def _copied(path: str, number: int, cwd: str, words: list[str]) -> Iterator[str]:
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                data = json.loads(line)
            except ValueError:
                yield line.rstrip("\n")
                continue
            if isinstance(data, dict):
                yield json.dumps(_rekeyed(data, number, cwd, words))


def _rekeyed(data: dict[str, Any], number: int, cwd: str, words: list[str]) -> dict[str, Any]:
    """Return a line of another session that says the like in other words."""
    for name in _IDS:
        if isinstance(data.get(name), str):
            data[name] = f"{data[name]}-{number}"
    if "cwd" in data:
        data["cwd"] = cwd
    message = data.get("message")
    if isinstance(message, dict):
        message["content"] = _varied(message.get("content"), number, words)
    return data


def _varied(content: Any, number: int, words: list[str]) -> Any:
    if isinstance(content, str):
        return _WORD.sub(lambda found: _other(found[0], number, words), content)
    if isinstance(content, list):
        return [_varied(one, number, words) for one in content]
    if isinstance(content, dict) and isinstance(content.get("text"), str):
        return {**content, "text": _varied(content["text"], number, words)}
    return content


def _other(word: str, number: int, words: list[str]) -> str:
    """Return a word, or, for one in four, another that this session always says in its place."""
    chance = random.Random(f"{word} {number}")
    return chance.choice(words) if chance.random() < 0.25 else word


def _vocabulary(paths: list[str]) -> list[str]:
    found: set[str] = set()
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            found.update(_WORD.findall(file.read(200_000)))
    return sorted(found)


def _made_up(number: int, cwd: str) -> Iterator[str]:
    chance = random.Random(number)
    for turn in range(TURNS):
        for step, role in enumerate(("user", "assistant")):
            words = " ".join(text(number * TURNS + turn, chance) for _ in range(1 + 3 * step))
            yield json.dumps(
                {
                    "type": role,
                    "uuid": f"u-{number}-{turn}-{step}",
                    "sessionId": f"session-{number}",
                    "cwd": cwd,
                    "timestamp": f"2026-05-03T10:{turn:02}:{step:02}.000Z",
                    "message": {"role": role, "content": [{"type": "text", "text": words}]},
                }
            )
