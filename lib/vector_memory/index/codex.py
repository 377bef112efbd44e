"""Rollouts of the Codex client, translated into the lines that the rest of this package reads."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from vector_memory.index.tools import patched_files
from vector_memory.index.transcript import LONGEST_LINE_BYTES, Entry, parse_objects
from vector_memory.index.typists import HEADLESS
from vector_memory.system.files import open_plain

_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_AT_THE_KEYBOARD = ("cli", "vscode")
_LEARN = re.compile(rb'"(?:session_meta|turn_context)"')
_HEAD_BYTES = 200
"""Where a line's type stands."""


def is_rollout(data: dict[str, Any]) -> bool:
    """Whether an entry is of a Codex rollout."""
    # A list, which a frozen set could not look up, may stand there as well.
    return str(data.get("type")) in _TYPES and isinstance(data.get("payload"), dict)


def translate(entries: Iterable[Entry], known: dict[str, Any] | None = None) -> Iterator[Entry]:
    """Return the entries with those of Codex rollouts translated; others pass as they are.

    Args:
        entries: the entries, in order.
        known: what `learned` gives, where they do not begin at the file's start.
    """
    common = dict(known or {})
    for entry in entries:
        if not is_rollout(entry.data):
            yield entry
            continue
        payload = entry.data["payload"]
        if entry.data["type"] in ("session_meta", "turn_context"):
            _learn(common, payload)
        content = _content(entry.data["type"], payload)
        if content is not None:
            yield entry._replace(data={**common, **_line(entry, *content)})


def learned(path: str, offset: int) -> dict[str, Any]:
    """Return what a rollout's lines before a byte offset say of all that follow: session, folder and
    branch stand on lines of their own. Nothing for other files."""
    common: dict[str, Any] = {}
    with open_plain(path) as file:
        if not any(map(is_rollout, parse_objects(file.readline(LONGEST_LINE_BYTES)))):
            return common
        file.seek(0)
        while file.tell() < offset:
            line = file.readline(LONGEST_LINE_BYTES)
            if _LEARN.search(line, 0, _HEAD_BYTES):
                for data in filter(is_rollout, parse_objects(line)):
                    _learn(common, data["payload"])
    return common


def _learn(common: dict[str, Any], payload: dict[str, Any]) -> None:
    if isinstance(payload.get("id"), str):
        common["sessionId"] = payload["id"]
    if isinstance(payload.get("cwd"), str):
        common["cwd"] = payload["cwd"]
    started = payload.get("source")
    if isinstance(started, dict) or payload.get("thread_source") not in (None, "user"):
        common["origin"] = {"kind": "program"}
    elif isinstance(started, str) and started not in _AT_THE_KEYBOARD:
        common["entrypoint"] = HEADLESS
    git = payload.get("git")
    if isinstance(git, dict) and isinstance(git.get("branch"), str):
        common["gitBranch"] = git["branch"]


def _line(entry: Entry, role: str, content: Any) -> dict[str, Any]:
    return {
        "type": role,
        "uuid": "",
        "timestamp": entry.data.get("timestamp"),
        "message": {"role": role, "content": content},
    }


def _content(type_: str, payload: dict[str, Any]) -> tuple[str, Any] | None:
    """Return (role, content) of what was said or done; None for the rest."""
    kind = payload.get("type")
    if type_ == "event_msg":
        if kind == "user_message":
            return "user", payload.get("message")
        return ("assistant", [_text(payload)]) if kind == "agent_message" else None
    if type_ != "response_item":
        return None
    if kind in ("function_call", "custom_tool_call"):
        return "assistant", _calls(payload)
    if kind in ("function_call_output", "custom_tool_call_output"):
        return "user", [_result(payload)]
    return None


def _text(payload: dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": str(payload.get("message") or "")}


def _calls(payload: dict[str, Any]) -> list[dict[str, Any]]:
    call: dict[str, Any] = {
        "type": "tool_use",
        "id": payload.get("call_id"),
        "name": "",
        "input": {},
    }
    if payload.get("name") == "apply_patch":
        files = patched_files(str(payload.get("input") or ""))
        return [{**call, "name": "Edit", "input": {"file_path": path}} for path in files]
    given = _arguments(payload.get("arguments"))
    command = given.get("cmd") or given.get("command") or ""
    words = _script(command) if isinstance(command, list) else str(command)
    return [{**call, "name": "Bash", "input": {"command": words}}] if words else []


def _script(command: list[Any]) -> str:
    """Return a command line given as a list; what a shell is given as a script is that script."""
    words = [str(word) for word in command]
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)


def _arguments(raw: Any) -> dict[str, Any]:
    try:
        given = json.loads(raw) if isinstance(raw, str) else raw
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def _result(payload: dict[str, Any]) -> dict[str, Any]:
    output = payload.get("output")
    text = output if isinstance(output, str) else json.dumps(output)
    head, mark, body = text.partition("Output:\n")
    failed = "exited with code" in head and "exited with code 0" not in head
    told = _arguments(text) if text.startswith("{") else {}
    if isinstance(told.get("output"), str):
        # Older clients: the output beside its exit code, as JSON.
        metadata = told.get("metadata")
        failed = isinstance(metadata, dict) and bool(metadata.get("exit_code"))
        mark, body = "JSON", told["output"]
    return {
        "type": "tool_result",
        "tool_use_id": payload.get("call_id"),
        "content": body if mark else text,
        "is_error": failed,
    }
