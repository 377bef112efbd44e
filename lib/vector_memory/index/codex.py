"""Rollouts of the Codex client, translated into the lines that the rest of this package reads."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator

from vector_memory.index import transcript
from vector_memory.index.tools import patched_files
from vector_memory.index.transcript import TranscriptEntry
from vector_memory.index.typists import HEADLESS
from vector_memory.system.files import open_plain
from vector_memory.system.json_in import Record

_TYPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_AT_THE_KEYBOARD = ("cli", "vscode")
_LEARN = (b'"session_meta"', b'"turn_context"')
_HEAD_BYTES = 200
"""Where a line's type stands."""


def is_rollout(data: Record) -> bool:
    """Whether an entry is of a Codex rollout."""
    # A list, which a frozen set could not look up, may stand there as well.
    return str(data.get("type")) in _TYPES and isinstance(data.get("payload"), dict)


def translate(
    entries: Iterable[TranscriptEntry], known: Record | None = None
) -> Iterator[TranscriptEntry]:
    """Return the entries with those of Codex rollouts translated; others pass as they are.

    Args:
        entries: the entries, in order.
        known: what `learned` gives, where they do not begin at the file's start.
    """
    common = Record(known or {})
    for entry in entries:
        if not is_rollout(entry.data):
            yield entry
            continue
        payload, kind = entry.data.part("payload"), entry.data.text("type")
        if kind in ("session_meta", "turn_context"):
            _learn(common, payload)
        content = _content(kind, payload)
        if content is not None:
            line = transcript.talk_line(*content, entry.data.get("timestamp"))
            yield entry._replace(data=Record({**common, **line}))


def learned(path: str, offset: int) -> Record:
    """Return what a rollout's lines before a byte offset say of all that follow: session, folder and
    branch stand on lines of their own. Nothing for other files."""
    common = Record()
    with open_plain(path) as file:
        if not any(
            map(is_rollout, transcript.parse_objects(file.readline(transcript.LONGEST_LINE_BYTES)))
        ):
            return common
        file.seek(0)
        while file.tell() < offset:
            line = file.readline(transcript.LONGEST_LINE_BYTES)
            if any(mark in line[:_HEAD_BYTES] for mark in _LEARN):
                for data in filter(is_rollout, transcript.parse_objects(line)):
                    _learn(common, data.part("payload"))
    return common


def _learn(common: Record, payload: Record) -> None:
    told = (
        ("sessionId", payload.get("id")),
        ("cwd", payload.get("cwd")),
        ("gitBranch", payload.part("git").get("branch")),
        ("model", payload.get("model")),
    )
    common.update((name, value) for name, value in told if isinstance(value, str))
    started = payload.get("source")
    if isinstance(started, dict) or payload.get("thread_source") not in (None, "user"):
        common["origin"] = {"kind": "program"}
    elif isinstance(started, str) and started not in _AT_THE_KEYBOARD:
        common["entrypoint"] = HEADLESS


def _content(kind: str, payload: Record) -> tuple[str, object] | None:
    """Return (role, content) of what was said or done; None for the rest."""
    about = payload.get("type")
    if kind == "event_msg" and about == "user_message":
        return "user", payload.get("message")
    if kind == "event_msg" and about == "agent_message":
        return "assistant", [Record(type="text", text=str(payload.get("message") or ""))]
    if kind == "response_item" and about in ("function_call", "custom_tool_call"):
        return "assistant", _calls(payload)
    if kind == "response_item" and about in ("function_call_output", "custom_tool_call_output"):
        return "user", [_result(payload)]
    return None


def _calls(payload: Record) -> list[Record]:
    id = payload.get("call_id")
    if payload.get("name") == "apply_patch":
        files = patched_files(str(payload.get("input") or ""))
        return [transcript.tool_use(id, "Edit", {"file_path": path}) for path in files]
    given = _arguments(payload.get("arguments"))
    command = given.get("cmd") or given.get("command") or ""
    words = _script(command) if isinstance(command, list) else str(command)
    return [transcript.tool_use(id, "Bash", {"command": words})] if words else []


def _script(command: list[object]) -> str:
    """Return a command line given as a list; what a shell is given as a script is that script."""
    words = [str(word) for word in command]
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return words[2]
    return shlex.join(words)


def _arguments(raw: object) -> Record:
    try:
        given = json.loads(raw) if isinstance(raw, str) else raw
    except ValueError:
        return Record()
    return Record(given) if isinstance(given, dict) else Record()


def _result(payload: Record) -> Record:
    output = payload.get("output")
    text = output if isinstance(output, str) else json.dumps(output)
    head, mark, body = text.partition("Output:\n")
    failed = "exited with code" in head and "exited with code 0" not in head
    told = _arguments(text) if text.startswith("{") else Record()
    if isinstance(told.get("output"), str):
        # Older clients: the output beside its exit code, as JSON.
        failed = bool(told.part("metadata").get("exit_code"))
        mark, body = "JSON", told.text("output")
    return transcript.tool_result(payload.get("call_id"), body if mark else text, failed)
