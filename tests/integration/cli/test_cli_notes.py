"""`import` of Markdown at the command line, and `export` to it: shown, asked, stored."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_daemon import FakeDaemon, fake_daemon

from vector_memory import wire
from vector_memory.cli.main import main
from vector_memory.errors import BadInputError
from vector_memory.system.paths import Home

STEP = {
    "action": "new",
    "kind": "decision",
    "priority": "HIGH",
    "tags": ["notes", "deploy"],
    "title": "Deploy",
    "text": "We use Postgres \x1b[31m14",
}
FIGURES = {
    "files": 1,
    "read": 3,
    "stored": 0,
    "unchanged": 1,
    "gone": 1,
    "errors": [],
    "seconds": 0,
}


def imported(payload: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Answer as the daemon does: steps in a dry run, then the figures."""
    if payload["dry_run"]:
        yield wire.ITEM, STEP
        yield wire.ITEM, {**STEP, "action": "gone"}
        yield wire.ANSWER, FIGURES
    else:
        yield wire.PROGRESS, {"done": 0, "total": 1, "doing": "reading"}
        yield wire.ANSWER, {**FIGURES, "stored": 1, "forgotten": int(payload["prune"])}


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    with fake_daemon(Home(str(tmp_path / "data"))) as running:
        running.handlers["import_notes"] = imported
        yield running


@pytest.fixture
def note(tmp_path: Path) -> str:
    path = tmp_path / "NOTES.md"
    path.write_text("# Deploy\n\nWe use Postgres 14\n")
    return str(path)


def at_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    """Let stdin be a terminal on which something is typed."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(typed))


def dry_runs(daemon: FakeDaemon) -> list[bool]:
    """Return which of the questions were dry runs."""
    return [payload["dry_run"] for payload in daemon.payloads("import_notes")]


def test_it_shows_asks_and_stores(
    daemon: FakeDaemon,
    note: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The text cannot steer the terminal; what is gone is mentioned."""
    at_terminal(monkeypatch, "y\n")
    assert main(["import", note]) == 0
    out, err = capsys.readouterr()
    assert "Deploy: We use Postgres 14" in out
    assert "1 file: 1 new, 1 gone, 1 unchanged" in out
    assert "1 no longer in their files" in out
    assert "Import this?" in err
    assert "1 stored" in out
    assert dry_runs(daemon) == [True, False]


def test_no_is_no(
    daemon: FakeDaemon,
    note: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit 0: it was asked and answered."""
    at_terminal(monkeypatch, "n\n")
    assert main(["import", note]) == 0
    assert "Nothing was stored." in capsys.readouterr().err
    assert dry_runs(daemon) == [True]


def test_what_cannot_be_read_is_told_once(
    daemon: FakeDaemon, note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the preview; afterwards only what went wrong since."""
    errors = [{"file": "/n/a.md", "error": "It is a link."}]

    def failing(payload: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
        for frame, body in imported(payload):
            later = [] if payload["dry_run"] else [{"file": "/n/b.md", "error": "It is gone."}]
            yield frame, {**body, "errors": [*errors, *later]} if frame == wire.ANSWER else body

    daemon.handlers["import_notes"] = failing
    assert main(["import", note, "--yes"]) == 0
    assert capsys.readouterr().err == "/n/a.md: It is a link.\n/n/b.md: It is gone.\n"


def test_without_a_terminal_it_only_shows(
    daemon: FakeDaemon, note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says what to say."""
    assert main(["import", note]) == 0
    assert "--yes" in capsys.readouterr().err
    assert main(["import", note, "--dry-run"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["import", note, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (len(shown["preview"]), shown["stored"]) == (2, 0)
    assert main(["import", note, "--json", "--yes", "--dry-run"]) == 0
    assert dry_runs(daemon) == [True, True, True, True]


def test_yes_does_not_ask(
    daemon: FakeDaemon, note: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --json there is nothing but the answer; --prune forgets what is gone."""
    assert main(["import", note, str(tmp_path), "--yes", "--json", "--prune", "--no-wait"]) == 0
    assert json.loads(capsys.readouterr().out)["stored"] == 1
    assert main(["import", note, "-y", "--global"]) == 0
    first, _, last = daemon.payloads("import_notes")
    assert first["paths"] == [note, str(tmp_path)]
    assert (first["prune"], first["wait"], first["global"]) == (True, False, False)
    assert (last["prune"], last["wait"], last["global"]) == (False, True, True)


def test_nothing_to_do_asks_nothing(
    daemon: FakeDaemon, note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unchanged file."""
    daemon.handlers["import_notes"] = lambda payload: {"files": 1, "unchanged": 3, "errors": []}
    assert main(["import", note, "--yes"]) == 0
    assert capsys.readouterr().out == "1 file: 3 unchanged\n"
    assert dry_runs(daemon) == [True]


def test_what_a_file_holds_decides(
    daemon: FakeDaemon, note: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON lines are JSON lines whatever the file is called; the two are not mixed."""
    daemon.handlers["import"] = lambda payload: {"read": 1, "stored": 1, "errors": []}
    lines = tmp_path / "lines.md"
    lines.write_text('{"text": "one"}\n')
    assert main(["import", str(lines), "--json"]) == 0
    assert daemon.payloads("import_notes") == []
    capsys.readouterr()
    for words in ([note, str(lines)], [str(lines), "--prune"], [note, "--verbatim"]):
        assert main(["import", *words]) == 2
    assert main(["import", str(tmp_path / "none.md")]) == 1
    assert len(daemon.asked) == 1


def test_init_asks_whether_to_look_at_what_it_found(
    daemon: FakeDaemon,
    note: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At a terminal; what is looked at is not stored before another yes."""
    daemon.handlers["init"] = lambda payload: {"store": "s", "moved": 0, "found": [note]}
    for typed, questions in (("n\n", 0), ("y\nn\n", 1), ("y\ny\n", 3)):
        at_terminal(monkeypatch, typed)
        assert main(["init", str(tmp_path)]) == 0
        assert len(dry_runs(daemon)) == questions
    assert daemon.payloads("import_notes")[0]["project"] == str(tmp_path)
    assert "Look at them now?" in capsys.readouterr().err


def test_an_error_of_the_daemon_is_an_expected_one(daemon: FakeDaemon, note: str) -> None:
    """Such as a file that is too long."""

    def refused(payload: dict[str, Any]) -> dict[str, Any]:
        raise BadInputError("too long")

    daemon.handlers["import_notes"] = refused
    assert main(["import", note]) == 1


def test_markdown_is_exported_as_it_comes(
    daemon: FakeDaemon, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To stdout, to a file, or within one JSON document."""

    def exported(payload: dict[str, Any]) -> Iterator[tuple[bytes, dict[str, Any]]]:
        assert payload["format"] == "markdown"
        yield wire.ITEM, {"markdown": "# Memories\n"}
        yield wire.ITEM, {"markdown": "- é\n"}
        yield wire.ANSWER, {"exported": 1}

    daemon.handlers["export"] = exported
    words = ["export", "--format", "markdown"]
    assert main(words) == 0
    assert capsys.readouterr().out == "# Memories\n- é\n"
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"exported": 1, "markdown": "# Memories\n- é\n"}
    assert main([*words, "-o", str(tmp_path / "out.md")]) == 0
    assert (tmp_path / "out.md").read_text(encoding="utf-8") == "# Memories\n- é\n"
