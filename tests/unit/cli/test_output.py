"""What the CLI prints."""

from __future__ import annotations

import json

import pytest

from vector_memory.cli import output, resume
from vector_memory.cli.answers import Row


def test_stored_text_cannot_steer_a_terminal() -> None:
    """Escape sequences and direction marks go; newlines, tabs and other scripts stay."""
    text = "a\x1b[31mred\x1b[0m\x07\u202eb\x9b2J\nnext\té漢"
    assert output.plain(text) == "aredb\nnext\té漢"


def test_a_cell_is_one_bounded_line() -> None:
    """White space folds, and what is too long ends with an ellipsis."""
    assert output.one_line("a\n\n b\tc") == "a b c"
    assert output.one_line("x" * 400, limit=10) == "x" * 9 + "…"


def test_a_list_shows_what_each_memory_says(capsys: pytest.CaptureFixture[str]) -> None:
    """Several of one turn have its title."""
    memories = [
        Row({"id": "a", "kind": "decision", "title": "Fix it", "text": "We use WAL mode."}),
        Row({"id": "b", "kind": "topic", "title": "The queue", "text": "Talk about it."}),
    ]
    assert output.listing(memories, output.MEMORY)
    shown = capsys.readouterr().out
    assert "We use WAL mode." in shown
    assert "The queue" in shown
    assert "Fix it" not in shown


def test_a_table_shows_cells_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Brackets in stored text are no markup."""
    output.table(("id", "text"), [("1", "[bold]not markup[/bold] [/]")])
    assert "[bold]not markup[/bold] [/]" in capsys.readouterr().out


def test_a_document_survives_lone_surrogates(capsys: pytest.CaptureFixture[str]) -> None:
    """What UTF-8 cannot hold comes back as the same character from JSON."""
    output.prepare()
    output.document({"text": "caf\u00e9 \udc80 \U0001f600"})
    assert json.loads(capsys.readouterr().out) == {"text": "caf\u00e9 \udc80 \U0001f600"}


@pytest.mark.parametrize(
    ("memory", "name"),
    [
        ({"project": "/home/dev/ledger/"}, "ledger"),
        ({"project": {"id": "p1", "name": "ledger"}}, "ledger"),
        ({"project": ""}, "global"),
        ({}, "global"),
    ],
)
def test_a_project_is_called_by_its_name(memory: dict[str, object], name: str) -> None:
    """A path is its last part; no project is the global one."""
    assert output.project_name(Row(memory)) == name


def test_a_narrow_terminal_keeps_the_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is no room beside the other columns, it stands below them, without a blank line."""
    monkeypatch.setattr(output, "NO_TERMINAL_WIDTH", 46)
    text = "The build uses just, because make is missing on the boxes."
    rows = [("ae81c9adbe74", "2026-11-23", "note", "ledger", text), ("b", "c", "d", "e", "")]
    output.table(("id", "date", "kind", "project", "text"), rows)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert " ".join(" ".join(lines[1:-1]).split()) == text
    assert lines[0].split() == ["ae81c9adbe74", "2026-11-23", "note", "ledger"]
    assert all(lines) and max(map(len, lines)) <= 46


def test_a_table_has_no_blank_lines(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither above nor below."""
    output.table(("id", "text"), [("1", "a"), ("2", "b")])
    assert all(line.strip() for line in capsys.readouterr().out.splitlines())


def test_a_memory_that_comes_again_says_when() -> None:
    assert output.warning(Row({"every": "month"})) == "[every month] "
    both = Row({"due_on": "2026-12-01", "every": "month"})
    assert output.warning(both) == "[due 2026-12-01; every month] "


def test_what_is_open_says_until_when(capsys: pytest.CaptureFixture[str]) -> None:
    resume._show(Row({"open": [{"id": "a", "text": "Send it.", "due_on": "2026-12-01"}]}))
    assert "[due 2026-12-01] Send it." in capsys.readouterr().out


def test_a_memory_of_somebody_else_says_whose() -> None:
    assert output.warning(Row({"author": {"name": "ann"}})) == "[shared by ann] "
