"""What tools of other MCP servers do is held against limits as what the client's own do."""

from __future__ import annotations

from typing import Any

import pytest

from vector_memory.observe.commands.findings import CommandSurroundings
from vector_memory.observe.intent import broken_limits, changes, limits

PLACE = CommandSurroundings("/home/dev/shop", "/home/dev/shop", exists=lambda path: True)


@pytest.mark.parametrize(
    ("said", "tool", "given", "is_broken"),
    [
        ("Don't touch config/.", "fs__write_file", {"path": "config/a.yml", "content": "x"}, True),
        ("Don't touch config/.", "ide__replace_text", {"pathInProject": "config/a.yml"}, True),
        ("Don't touch config/.", "gh__push_files", {"files": [{"path": "config/a.yml"}]}, True),
        ("Don't touch config/.", "fs__move_file", {"source": "config/a", "destination": "b"}, True),
        ("Don't touch config/.", "shell__run", {"cmd": "sed -i s/a/b/ a.yml", "cwd": "config"}, True),
        ("Don't delete anything.", "fs__delete_file", {"path": "docs/a.md"}, True),
        ("Don't push.", "gh__push_files", {"files": [], "branch": "dev"}, True),
        ("Don't commit.", "git__git_commit", {"repo_path": "/home/dev/shop", "message": "a"}, True),
        ("Don't deploy.", "cloud__deploy_to_cloud", {"project": "a"}, True),
        ("Don't touch config/.", "fs__read_file", {"path": "config/a.yml"}, False),
        ("Don't touch config/.", "fs__list_directory", {"path": "config"}, False),
        ("Don't touch config/.", "fs__write_file", {"path": "b.md", "content": "config/a"}, False),
        ("Only touch src/.", "git__git_status", {"repo_path": "/home/dev/shop"}, False),
        ("Don't push.", "gh__list_pushes", {"branch": "dev"}, False),
        ("Don't deploy.", "cloud__get_deploy_status", {"project": "a"}, False),
        ("Don't touch config/.", "ssh__exec", {"host": "a", "command": "rm config/a.yml"}, False),
    ],
)  # fmt: skip
def test_a_limit_reaches_tools_of_servers(
    said: str, tool: str, given: dict[str, Any], is_broken: bool
) -> None:
    """By the verbs in their names and the names of what they are given; not where they only look, or elsewhere."""
    view = changes.of_call(f"mcp__{tool}", given, PLACE)
    assert bool(list(broken_limits.broken(limits.read(said), view, PLACE))) == is_broken
