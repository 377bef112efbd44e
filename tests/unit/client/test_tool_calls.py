"""Which tool calls are told to the daemon, by a look at their bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vector_memory.client import exchange, tool_calls


def stdin(tool: str, **given: object) -> bytes:
    return json.dumps(
        {"session_id": "s", "cwd": "/home/u/grep stuff", "tool_name": tool, "tool_input": given},
        separators=(",", ":"),
    ).encode()


@pytest.mark.parametrize(
    "command",
    ["grep -rn x .", "cd a && rg x", "cd a\nrg x", "\tls *.py", "a|xargs -0 grep x", "git grep x",
     "/usr/bin/find . -name x", "(fd x)", "FOO=1 ag x", "bash -c 'ack x'", 'bash -c "grep \\"x\\""', "find\\\n .",
     "git ls-files '*x*'"],
)  # fmt: skip
def test_no_search_is_missed(command: str) -> None:
    """Wherever in the line the program stands."""
    assert tool_calls.may_search(stdin("Bash", command=command))


@pytest.mark.parametrize(
    "command",
    ["make test", "echo regrep x", "cat flags ", "finder x", "tools x", "npm run ls-lint"],
)
def test_others_cost_nothing(command: str) -> None:
    """A name within a word is none."""
    assert not tool_calls.may_search(
        json.dumps({"tool_name": "Bash", "tool_input": {"command": command}}).encode()
    )


def test_tools_that_search_do() -> None:
    """However the object is spaced; other tools do not, whatever is in them."""
    assert tool_calls.may_search(stdin("Grep", pattern="x"))
    assert tool_calls.may_search(json.dumps({"tool_name": "Glob"}).encode())
    assert not tool_calls.may_search(stdin("Write", content="grep x"))
    assert not tool_calls.may_search(b"no object")


@pytest.mark.parametrize(
    ("wishes", "event", "tool", "done"),
    [
        ("search watch", "PreToolUse", "Grep", "asked"),
        ("search watch", "PreToolUse", "Edit", "told"),
        ("search", "PreToolUse", "Edit", ""),
        ("watch warn", "PreToolUse", "Edit", "asked"),
        ("errors search watch warn", "PostToolUse", "Bash", "asked"),
        ("errors search watch warn", "PostToolUse", "Grep", ""),
        ("search watch warn", "PostToolUse", "Bash", ""),
        ("errors", "PreToolUse", "Bash", ""),
        ("", "PreToolUse", "Grep", ""),
        (None, "PreToolUse", "Grep", ""),
    ],
)
def test_the_daemon_says_what_it_wants(
    wishes: str | None,
    event: str,
    tool: str,
    done: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody is waited for who has nothing to say."""
    (tmp_path / "run").mkdir()
    if wishes is not None:
        (tmp_path / "run" / "tools").write_text(wishes)
    heard: list[str] = []
    monkeypatch.setattr(exchange, "ask", lambda *_: heard.append("asked"))
    monkeypatch.setattr(exchange, "tell", lambda *_: heard.append("told"))
    call = exchange.HookEvent(event, str(tmp_path))
    call.stdin = stdin(tool, pattern="x", command="make | tail", printed="Error 2")
    assert tool_calls.answer(call) == b""
    assert heard == ([done] if done else [])


@pytest.mark.parametrize(
    ("command", "printed", "hides"),
    [
        ("pytest | tail", "1 failed", True),
        ("make; echo done", "fatal: no rule", True),
        ("pytest | tail", "3 passed", False),
        ("pytest", "1 failed", False),
    ],
)
def test_what_may_hide_an_error(command: str, printed: str, hides: bool) -> None:
    """A line of a shell that goes on after what failed, and something that sounds like a failure."""
    result = {
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "tool_response": {"stdout": printed},
    }
    assert tool_calls.may_hide_error(json.dumps(result).encode()) is hides
    result["tool_name"] = "Read"
    assert not tool_calls.may_hide_error(json.dumps(result).encode())
