"""What tools did is told in a line; what users said when refusing is kept word for word."""

from __future__ import annotations

from typing import Any

import pytest

from vector_memory.index.fixes.errors import error_line
from vector_memory.index.tools import describe, user_words

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). "
)


@pytest.mark.parametrize(
    ("name", "given", "line"),
    [
        ("Edit", {"file_path": "/home/dev/app/src/x.py"}, "Edit src/x.py"),
        ("Write", {"file_path": "/etc/hosts"}, "Write /etc/hosts"),
        ("Bash", {"command": "pytest -q\n# and more"}, "Bash: pytest -q …"),
        ("Task", {"description": "find it", "prompt": "long"}, "Task: find it"),
        ("WebFetch", {"url": "https://x.test"}, "WebFetch: https://x.test"),
        ("mcp__db__query", {"sql": "select"}, "mcp__db__query"),
        ("mcp__plugin_vector-memory_memory__memory_store", {"text": "x"}, ""),
        ("Read", {"file_path": "/home/dev/app/a.py"}, ""),
        ("TodoWrite", {"todos": []}, ""),
        ("Bash", {"command": None}, "Bash"),
    ],
)
def test_describe(name: str, given: dict[str, Any], line: str) -> None:
    """Changes and commands are told, looking around is not."""
    assert describe(name, given, "/home/dev/app") == line


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("Exit code 127\n/bin/bash: line 1: python: command not found", "python: command not found"),
        ("Traceback (most recent call last):\n  File x\nValueError: no such port\n", "ValueError: no such port"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "File has not been read yet."),
        ("=====\ncollected 3\nE  assert failed here\n=====", "E assert failed here"),
        ("\x1b[31mfatal: bad\x1b[0m", "bad"),
        ("", ""),
    ],
)  # fmt: skip
def test_the_line_that_says_why(output: str, line: str) -> None:
    """The line that says why is picked out of a failed tool's output."""
    assert error_line(output) == line


@pytest.mark.parametrize(
    ("text", "tool", "failed", "words"),
    [
        (REFUSED + "The user provided the following reason for the rejection:  use pnpm", "Bash", True, "use pnpm"),
        (REFUSED + "To tell you how to proceed, the user said:\nuse pnpm\n\nNote: The user's next message may", "Bash", True, "use pnpm"),
        (REFUSED + "STOP what you are doing and wait for the user to tell you how to proceed.", "Edit", True, ""),
        ("please add transformer.js too first", "Bash", True, ""),
        ("File has not been read yet. Read it first before writing to it.", "Edit", True, ""),
        (REFUSED + "To tell you how to proceed, the user said:\nThe user wants to clarify these questions.", "AskUserQuestion", True, ""),
        ("Exit code 1\nfailed", "Bash", True, ""),
        ('User has answered your questions: "Which?"="The first". You can now continue with the', "AskUserQuestion", False, '"Which?"="The first"'),
        ("User has answered your questions: x. You can now continue", "Bash", False, ""),
    ],
)  # fmt: skip
def test_user_words(text: str, tool: str, failed: bool, words: str) -> None:
    """Reasons and answers are the user's; everything else is a machine's."""
    assert user_words(text, tool, failed) == words
