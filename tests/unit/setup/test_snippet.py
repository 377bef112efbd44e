"""The settings that are made from the plugin's hooks."""

from __future__ import annotations

import json

from vector_memory.setup import snippet


def test_only_the_program_changes() -> None:
    """Events, matchers and timeouts stay; the program is the one that was named."""
    hook = {"type": "command", "command": "sh", "args": [snippet.PROGRAM, "stop"], "timeout": 5}
    made = json.loads(snippet.render({"Stop": [{"matcher": "m", "hooks": [hook]}]}, "/a b/hook"))
    expected = {**hook, "args": ["/a b/hook", "stop"]}
    assert made == {"hooks": {"Stop": [{"matcher": "m", "hooks": [expected]}]}}
