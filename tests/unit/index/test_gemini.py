"""Chats of the Gemini CLI, in both of their forms, are read as other transcripts are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vector_memory.index import reader
from vector_memory.index.memories import Draft

HEADER = {
    "sessionId": "0f8d2c4e-1111-4222-8333-944455566677",
    "projectHash": "ab" * 32,
    "startTime": "2026-04-17T15:23:55.515Z",
    "lastUpdated": "2026-04-17T15:27:05.630Z",
    "kind": "main",
}


def message(id: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "timestamp": "2026-04-17T15:24:00.000Z",
        "type": kind,
        "content": content,
        **more,
    }


def call(
    id: str, name: str, args: dict[str, str], output: str, status: str = "success"
) -> dict[str, Any]:
    response = {"functionResponse": {"id": id, "name": name, "response": {"output": output}}}
    return {"id": id, "name": name, "args": args, "status": status, "result": [response]}


FAILED = "Command: npm test\nDirectory: (root)\nOutput: 2 failing: totals are rounded\nError: (none)\nExit Code: 1\nSignal: 0"
MESSAGES = [
    message("c0", "user", [{"text": "<session_context>\nToday is Friday.\n</session_context>"}]),
    message("u1", "user", [{"text": "Why are the totals of the invoices wrong?"}]),
    message("g1", "gemini", "They are rounded before they are summed."),
    message(
        "g2",
        "gemini",
        "",
        toolCalls=[
            call("t1", "run_shell_command", {"command": "npm test"}, FAILED),
            call(
                "t2",
                "replace",
                {"file_path": "/w/shop/src/totals.js", "old_string": "a", "new_string": "b"},
                "ok",
            ),
        ],
    ),
    message("u2", "user", "We round after summing from now on."),
    message("g3", "gemini", [{"text": "Noted: sums first, then rounding."}]),
    message("i1", "info", "Checkpoint saved."),
]


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    """The folder of a project's chats, whose client says which project it is."""
    folder = tmp_path / "tmp" / "shop" / "chats"
    folder.mkdir(parents=True)
    (folder.parent / ".project_root").write_text("/w/shop")
    (folder.parent / "logs.json").write_text("[]")
    return folder


def write(path: Path, messages: list[dict[str, Any]]) -> str:
    if path.suffix == ".json":
        path.write_text(json.dumps({**HEADER, "messages": messages}, indent=2))
    else:
        # A message comes once more when its calls are done.
        lines: list[dict[str, Any]] = [HEADER]
        for one in messages:
            if "toolCalls" in one:
                lines.append({**one, "toolCalls": []})
            lines += [one, {"$set": {"lastUpdated": "2026-04-17T15:27:05.630Z"}}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def drafts_of(path: str) -> list[Draft]:
    return reader.read_new(path, None, final=True).drafts


@pytest.mark.parametrize("name", ["session-2026-04-17T15-23-0f8d2c4e.jsonl", "session-old.json"])
def test_a_chat_becomes_drafts(chats: Path, name: str) -> None:
    path = write(chats / name, MESSAGES)
    assert reader.transcripts_below(str(chats.parent.parent)) == [path]
    assert reader.head_of(path) == (HEADER["sessionId"], "/w/shop")
    first, second = reader.read_exchanges(path, final=True)
    assert first.prompt == "Why are the totals of the invoices wrong?"
    assert first.answer == "They are rounded before they are summed."
    assert first.session == HEADER["sessionId"]
    assert (first.cwd, first.files) == ("/w/shop", ("src/totals.js",))
    (run, edit) = first.calls
    assert (run.command, run.failed, run.output) == (
        "npm test",
        True,
        "2 failing: totals are rounded",
    )
    assert (edit.tool, edit.failed) == ("Edit", False)
    assert second.prompt == "We round after summing from now on."
    assert second.answer == "Noted: sums first, then rounding."
    said = "\n".join(str(one.text) for one in drafts_of(path))
    assert "session_context" not in said
    assert "Checkpoint" not in said


@pytest.mark.parametrize("name", ["session-a.jsonl", "session-a.json"])
def test_reading_on_gives_what_reading_once_gives(chats: Path, name: str) -> None:
    path = chats / name
    found: dict[str, str] = {}
    cursor = None
    for end in range(1, len(MESSAGES) + 1):
        write(path, MESSAGES[:end])
        turn = reader.read_new(str(path), cursor, final=end == len(MESSAGES))
        cursor = turn.cursor
        found.update((one.external_id, str(one.text)) for one in turn.drafts)
    assert found == {one.external_id: str(one.text) for one in drafts_of(str(path))}
    assert reader.read_new(str(path), cursor, final=True).drafts == []


def test_what_is_no_chat_is_left_out(chats: Path) -> None:
    """Other files beside the chats, a document that is half written, and a folder that is not said."""
    (chats / "notes.json").write_text('{"a": 1}')
    (chats / "session-half.json").write_text('{"sessionId": "x", "projectHash": "y", "messages": [')
    refused: list[OSError] = []
    assert reader.transcripts_below(str(chats), refused) == []
    # What is half written is told, since it names itself a chat.
    (half,) = refused
    assert half.filename == str(chats / "session-half.json") and "cut off" in str(half)
    (chats.parent / ".project_root").write_text("not a path")
    path = write(chats / "session-b.json", MESSAGES)
    assert reader.head_of(path) == (HEADER["sessionId"], "")
