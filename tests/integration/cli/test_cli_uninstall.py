"""`uninstall`: what goes, what stays, and that nobody but the user says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vector_memory.cli.main import main
from vector_memory.system.paths import Home

OTHER = {"hooks": [{"type": "command", "command": "notify-send done"}]}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A data home with a runtime, a memory and somebody's own file."""
    monkeypatch.delenv("CLAUDECODE", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("VECTOR_MEMORY_HOME", str(tmp_path / "data"))
    home = Home(str(tmp_path / "data")).make()
    Path(home.runtime, "packages.json").write_text("{}")
    Path(home.global_store, "journal.db").write_text("memories")
    Path(home.path("mine.txt")).write_text("not ours")
    return home


def wire(home: Home, folder: Path) -> Path:
    """Wire the hooks by hand, beside somebody else's, and return the file."""
    ours = {"type": "command", "command": "sh", "args": [home.path("app", "hook"), "stop"]}
    hooks = {"Stop": [OTHER, {"hooks": [ours]}], "SessionEnd": [{"hooks": [ours]}]}
    folder.mkdir()
    path = folder / "settings.json"
    path.write_text(json.dumps({"model": "é", "hooks": hooks}), encoding="utf-8")
    return path


def test_memories_stay_and_the_wiring_goes(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--yes alone keeps the memories, says so, and leaves all that is not ours as it is."""
    settings = wire(home, tmp_path / "claude")
    assert main(["uninstall", "--yes"]) == 0
    assert not Path(home.runtime).exists()
    assert Path(home.global_store, "journal.db").read_text() == "memories"
    left = json.loads(settings.read_text(encoding="utf-8"))
    assert left == {"model": "é", "hooks": {"Stop": [OTHER]}}
    out = capsys.readouterr().out
    assert "extraKnownMarketplaces" in out
    assert str(settings) in out
    assert f"Your memories stay in {home.root}" in out


def test_memories_go_where_it_is_said(home: Home) -> None:
    """And nothing that somebody else put there."""
    assert main(["uninstall", "--yes", "--memories"]) == 0
    assert [path.name for path in Path(home.root).iterdir()] == ["mine.txt"]


def test_a_dry_run_removes_nothing(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It shows what would go."""
    before = wire(home, tmp_path / "claude").read_text()
    assert main(["uninstall", "--dry-run"]) == 0
    assert "our hooks in" in capsys.readouterr().out
    assert Path(home.runtime).exists()
    assert (tmp_path / "claude" / "settings.json").read_text() == before


@pytest.mark.parametrize("words", [["uninstall"], ["uninstall", "--memories"]])
def test_without_a_terminal_nothing_goes(home: Home, words: list[str]) -> None:
    """Nobody said yes."""
    assert main(words) == 1
    assert Path(home.runtime).exists()


def test_no_agent_uninstalls(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it says."""
    monkeypatch.setenv("CLAUDECODE", "1")
    assert main(["uninstall", "--yes", "--memories"]) == 1
    assert Path(home.runtime).exists()


def test_the_client_is_told_to_let_the_plugin_go(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where it is not on PATH, the command is named: else the next session would set all up again."""
    (tmp_path / "claude").mkdir()
    enabled = {"enabledPlugins": {"vector-memory@mine": True, "other@mine": True}}
    (tmp_path / "claude" / "settings.json").write_text(json.dumps(enabled))
    assert main(["uninstall", "--yes"]) == 0
    err = capsys.readouterr().err
    assert "claude plugin uninstall vector-memory@mine" in err
    assert "other@mine" not in err
