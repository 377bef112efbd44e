"""`uninstall`: what goes, what stays, and that nobody but the user says so."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from vector_memory.cli.main import main
from vector_memory.setup import data_removal
from vector_memory.setup.snippet import PROGRAM, load, render
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


ROOT = str(Path(__file__).resolve().parents[3])


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


def test_each_form_of_wiring_is_taken_out(home: Home, tmp_path: Path) -> None:
    """The snippet's, the plugin's with its path written out, and the one that older snippets had."""
    settings = wire(home, tmp_path / "claude")
    for program in (home.shim, PROGRAM.replace("${CLAUDE_PLUGIN_ROOT}", "/a b/vector-memory")):
        settings.write_text(render(load(ROOT), program))
        assert main(["uninstall", "--yes"]) == 0
        assert json.loads(settings.read_text()) == {}


def test_memories_go_where_it_is_said(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """All that the layout knows, keys among it, and what was set aside of it; nothing that somebody else put there,
    which is named. What hooks of settings run stays, and is named, too."""
    for path in (
        home.keys,
        home.proofs,
        home.sharing,
        home.team,
        home.state_db + "-wal",
        home.state_db + ".replaced-20261128T153231586877",
        home.global_store + ".damaged-1",
    ):
        Path(path).mkdir()  # fmt: skip
        Path(path, "file").write_text("ours")
    Path(home.path("keys of mine")).write_text("not ours")
    assert main(["uninstall", "--yes", "--memories"]) == 0
    left = [str(path) for path in Path(home.root).rglob("*") if path.is_file()]
    mine = [home.path("keys of mine"), home.path("mine.txt")]
    assert sorted(left) == sorted([home.shim, *mine])
    out = capsys.readouterr().out
    assert "with all memories" in out
    assert f"This is not ours, and stays: {', '.join(mine)}" in out
    assert home.shim in out


def test_everything_of_the_layout_is_ours(home: Home) -> None:
    """A place that is new in it is none of somebody else's, and what is not made again is the user's."""
    for path in vars(home).values():
        if not os.path.lexists(path):
            os.makedirs(path)
    found = data_removal.entries(home)
    assert found.foreign == ["mine.txt"]
    assert set(found.made_again) == data_removal.MADE_AGAIN
    assert {"keys", "proofs", "state.db", "team", "tokens.json"} < set(found.memories)


def test_what_cannot_be_removed_is_told(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not called removed."""
    monkeypatch.setattr(data_removal, "_delete", lambda path: None)
    assert main(["uninstall", "--yes", "--memories", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["memories_deleted"] is False
    assert {home.runtime, home.global_store} < set(told["stuck"])
    assert main(["uninstall", "--yes", "--memories"]) == 0
    out = capsys.readouterr().out
    assert f"This could not be removed: {home.logs}" in out
    assert "with all memories" not in out


def test_a_dry_run_removes_nothing(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It shows what would go."""
    before = wire(home, tmp_path / "claude").read_text()
    assert main(["uninstall", "--dry-run"]) == 0
    assert "our hooks in" in capsys.readouterr().out
    assert Path(home.runtime).exists()
    assert (tmp_path / "claude" / "settings.json").read_text() == before


def test_memories_that_would_go_are_named(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    """By a dry run, too, which does not say that they stay."""
    assert main(["uninstall", "--dry-run", "--memories"]) == 0
    out = capsys.readouterr().out
    assert "your memories there, for good: global, " in out
    assert "Nothing was removed." in out
    assert "Your memories stay" not in out
    assert Path(home.global_store, "journal.db").exists()


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
