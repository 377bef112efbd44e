"""A question that needs no store opens none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from service_house import ServiceHouse

from vector_memory.daemon.events import Events


@pytest.mark.parametrize(
    ("event", "asked", "opened"),
    [
        ("UserPromptSubmit", {"prompt": "yes"}, 0),
        ("UserPromptSubmit", {"prompt": "Which database do we use for the jobs?"}, 1),
        ("PreToolUse", {"tool_name": "Read", "tool_input": {"file_path": "a.py"}}, 0),
        ("PostToolUse", {"tool_name": "Read", "tool_input": {"file_path": "a.py"}}, 0),
        ("PostToolUseFailure", {"tool_input": {"command": "ls"}, "is_interrupt": True}, 0),
    ],
)
def test_what_is_opened(
    house: ServiceHouse, tmp_path: Path, event: str, asked: dict[str, object], opened: int
) -> None:
    """A short word, a call that looks for nothing, a command that was broken off: nothing is opened. (The
    observer reads the user's rules at a session's first call.)"""
    house.ctx.settings = replace(house.ctx.settings, observer="off")
    events = Events(house.ctx, lambda work: work())
    message = {"session_id": "s", "cwd": str(tmp_path), "hook_event_name": event, **asked}
    events.answer(event, str(tmp_path).encode() + b"\0" + json.dumps(message).encode())
    assert len(house.ctx.opened_shelves()) == opened
