"""Which knowledge graphs `init` offers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vector_memory.cli.init import graphs

ENTITY = '{"type":"entity","name":"Ana","entityType":"person","observations":["Ana likes tea"]}\n'


def test_the_memory_server_s_graphs_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the project's or the user's settings say that it keeps one, and in the folder; nothing that is
    not there, or is something else."""
    project, user = tmp_path / "my project", tmp_path / "user"
    project.mkdir()
    user.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(user))
    for path in (project / "memory.json", project / "notes.jsonl", user / "graph.json"):
        path.write_text(ENTITY)
    (project / "memory.jsonl").write_text('{"text": "a memory"}\n')

    def server(path: Path) -> dict[str, object]:
        return {"memory": {"command": "npx", "env": {"MEMORY_FILE_PATH": str(path)}}}

    (project / ".mcp.json").write_text(json.dumps({"mcpServers": server(Path("notes.jsonl"))}))
    settings = {
        "mcpServers": server(user / "graph.json"),
        "projects": {str(project): {"mcpServers": server(tmp_path / "gone.json")}},
    }
    (user / ".claude.json").write_text(json.dumps(settings))
    found = [project / "memory.json", project / "notes.jsonl", user / "graph.json"]
    assert graphs(str(project)) == [str(path) for path in found]


def test_broken_settings_name_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing fails for them."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / ".mcp.json").write_text("{")
    assert graphs(str(tmp_path)) == []
