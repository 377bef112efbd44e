"""What tools of other MCP servers do is held against limits as what the client's own do."""

from __future__ import annotations

from typing import Any

import pytest

from vector_memory.observe.commands.findings import CallSite
from vector_memory.observe.intent import broken_limits, changes, limits

_THERE = {
    f"/home/dev/shop/{path}"
    for path in ("config", "config/a", "config/a.yml", "docs", "docs/a.md", "a.py", "b.md")
}
PLACE = CallSite("/home/dev/shop", "/home/dev/shop", exists=_THERE.__contains__)


@pytest.mark.parametrize(
    ("said", "tool", "given", "is_broken"),
    [
        ("Don't touch config/.", "fs__write_file", {"path": "config/a.yml", "content": "x"}, True),
        ("Don't touch config/.", "ide__replace_text_in_file", {"pathInProject": "config/a"}, True),
        ("Don't touch config/.", "fs__edit_files", {"files": [{"path": "config/a.yml"}]}, True),
        ("Don't touch config/.", "fs__move_file", {"destination": "b", "source": "config/a"}, True),
        ("Don't touch config/.", "fs__remove_directory", {"path": "config/a"}, True),
        ("Don't touch config/.", "fs__create_directory", {"path": "config"}, False),
        ("Don't touch config/.", "shell__run", {"cmd": "sed -i s/a/b/ a.yml", "cwd": "config"}, True),
        ("Don't touch config/.", "fs__write_file", {"path": "config/new/b.yml", "content": "x"}, True),
        ("Don't create files in config/.", "fs__create_file", {"path": "./config/b", "content": ""}, True),
        ("Only touch docs/.", "fs__write_file", {"path": "config/b.yml", "content": "x"}, True),
        ("Only touch docs/.", "fs__write_file", {"path": "new.py", "content": "x"}, False),
        ("Only touch docs/.", "fs__write_file", {"path": "a.py", "content": "x"}, True),
        ("Only touch docs/.", "figma__update_file", {"file": "a1b2c3"}, False),
        ("Only touch docs/.", "google-drive__update_file", {"file": "Report.docx"}, False),
        ("Only touch docs/.", "fs__write_file", {"path": "docs/new.md", "content": "x"}, False),
        ("Only touch config/.", "notes__write_file", {"path": "docs/new.md", "content": "x"}, False),
        ("Only touch config/.", "notes__write_file", {"path": "docs/a.md", "content": "x"}, True),
        ("Don't touch config/.", "kube__exec_in_pod", {"command": "rm config/a.yml"}, False),
        ("Don't delete anything.", "fs__delete_file", {"path": "docs/a.md"}, True),
        ("Don't commit.", "git__git_commit", {"repo_path": "/home/dev/shop", "message": "a"}, True),
        ("Don't push to main.", "git__git_push", {"branch": "main", "remote": "origin"}, True),
        ("Don't push to main.", "git__git_push", {"branch": "dev", "remote": "origin"}, False),
        ("Don't push.", "git__git_push", {"dryRun": True}, False),
        ("Don't commit.", "git__git_commit_log", {}, False),
        ("Don't touch config/.", "fs__read_file", {"path": "config/a.yml"}, False),
        ("Don't touch config/.", "fs__list_directory", {"path": "config"}, False),
        ("Don't touch config/.", "fs__write_file", {"path": "b.md", "content": "config/a"}, False),
        ("Don't touch config/.", "fs__edit_file", {"path": "config/a", "dryRun": True}, False),
        ("Don't touch config/.", "fs__copy_file", {"source": "config/a", "destination": "/b"}, False),
        ("Don't touch config/.", "fs__create_chart", {"source": "config/a.csv"}, False),
        ("Don't touch config/.", "cms__remove_pages", {"source": "a", "path": "config/a"}, False),
        ("Don't touch config/.", "gh__create_review", {"comments": [{"path": "config/a"}]}, False),
        ("Don't touch config/.", "gh__update_file", {"repo": "a", "path": "config/a"}, False),
        ("Don't touch config/.", "dbg__create_breakpoint_in_file", {"path": "config/a"}, False),
        ("Don't touch config/.", "ssh__exec", {"command": "rm config/a.yml"}, False),
        ("Only touch src/.", "wiki__create_page", {"path": "Team/Notes"}, False),
        ("Only touch src/.", "git__git_status", {"repo_path": "/home/dev/shop"}, False),
        ("Don't merge.", "sheets__merge_cells", {"range": "A1:B2"}, False),
        ("Don't push.", "metrics__push_metrics", {"x": 1}, False),
        ("Don't commit.", "queue__commit_offsets", {"x": 1}, False),
        ("Don't deploy.", "cloud__cancel_deploy", {"project": "a"}, False),
        ("Don't restart anything.", "ide__restart_language_server", {}, False),
    ],
)  # fmt: skip
def test_a_limit_reaches_tools_of_servers(
    said: str, tool: str, given: dict[str, Any], is_broken: bool
) -> None:
    """By their names and those of what they are given; not where they look, try, comment, or write elsewhere."""
    view = changes.of_call(f"mcp__{tool}", given, PLACE)
    assert bool(list(broken_limits.broken(limits.read(said), view, PLACE))) == is_broken


def test_a_path_in_a_vault_is_no_file_here() -> None:
    """A relative path counts where its folder is there, but in no vault."""
    around = CallSite("/home/dev/shop", "/home/dev/shop", exists=lambda path: False)
    for server, path, is_broken in [
        ("vault", "a.md", False), ("fs", "a.md", False), ("fs", "daily/a.md", False), ("vault", "/home/dev/shop/a.md", True),
    ]:  # fmt: skip
        view = changes.of_call(f"mcp__{server}__create_file", {"filepath": path}, around)
        found = list(broken_limits.broken(limits.read("Only touch src/."), view, around))
        assert bool(found) == is_broken
