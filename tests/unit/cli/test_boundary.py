"""The error boundary: which exit code and which words belong to what went wrong."""

from __future__ import annotations

import errno
import json
import os
import py_compile
import stat
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import NoReturn

import pytest
import typer

from vector_memory.cli import boundary
from vector_memory.cli.main import main
from vector_memory.errors import DaemonUnavailableError


def raising(error: BaseException) -> NoReturn:
    raise error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DaemonUnavailableError("No daemon.", "Start it."), 1),
        (BrokenPipeError(), 1),
        (typer.BadParameter("Wrong."), 2),
        (typer.TyperException("Wrong."), 1),
        (ValueError("a bug"), 3),
        (KeyboardInterrupt(), 130),
        (typer.Abort(), 130),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    error: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expected 1, usage 2, bug 3, interrupted 130."""
    monkeypatch.setattr(boundary.output, "abandon", lambda stream: None)
    assert boundary.run(lambda: raising(error), []) == code


def test_bytecode_that_was_cut_short_is_no_interruption(tmp_path: Path) -> None:
    """typer makes an Abort of it; the launcher gets the error itself, and starts the command anew."""
    (tmp_path / "cut.py").write_text("")
    path = py_compile.compile(str(tmp_path / "cut.py"))
    assert path is not None
    Path(path).write_bytes(Path(path).read_bytes()[:20])

    def command() -> None:
        try:
            SourceFileLoader("cut", str(tmp_path / "cut.py")).get_code("cut")
        except EOFError as error:
            raise typer.Abort from error

    with pytest.raises(EOFError):
        boundary.run(command, [])


@pytest.mark.parametrize(("result", "code"), [(None, 0), (0, 0), (1, 1), ("text", 0)])
def test_a_command_s_number_is_the_exit_code(result: object, code: int) -> None:
    """Commands return their exit code; nothing means that all went well."""
    assert boundary.run(lambda: result, []) == code


def test_an_expected_error_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    """For people: message and hint on stderr, nothing on stdout."""
    boundary.run(lambda: raising(DaemonUnavailableError("No daemon.", "Start it.")), [])
    assert capsys.readouterr() == ("", "No daemon.\nStart it.\n")


@pytest.mark.parametrize(
    ("number", "remedy"), [(errno.ENOSPC, "Free space"), (errno.EROFS, "Make it yours")]
)
def test_what_the_system_refuses_is_no_bug(
    capsys: pytest.CaptureFixture[str], number: int, remedy: str
) -> None:
    """A full disk and a folder that can only be read: the file, the reason, and what to do."""
    error = OSError(number, os.strerror(number), "/srv/config.json")
    assert boundary.run(lambda: raising(error), []) == 1
    out, told = capsys.readouterr()
    assert out == ""
    assert told.startswith(f"/srv/config.json: {os.strerror(number)}.\n{remedy}")


def test_a_wrong_choice_is_told_without_python_s_name_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["remember", "x", "--priority", "urgent"]) == 2
    told = capsys.readouterr().err
    assert "'--priority': 'urgent' is not one of" in told


def test_programs_get_errors_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """With --json: one document on stdout, nothing on stderr."""
    boundary.run(lambda: raising(DaemonUnavailableError("No daemon.", "Start it.")), ["--json"])
    out, err = capsys.readouterr()
    assert json.loads(out) == {"error": "No daemon.", "hint": "Start it."}
    assert err == ""


def test_a_bug_leaves_a_log_without_secrets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The log has frames and types, is 0600, and holds nothing that the user wrote."""
    secret = "AKIA" + "Q" * 16
    words = ["remember", secret, "--tag=" + secret, "--kind", secret]
    assert boundary.run(lambda: raising(ValueError(secret)), words) == 3
    (log,) = (tmp_path / "data" / "logs").iterdir()
    text = log.read_text(encoding="utf-8")
    assert "in raising" in text
    assert "ValueError" in text
    assert "remember --kind --tag" in text
    assert secret not in text
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    err = capsys.readouterr().err
    assert str(log) in err
    assert secret not in err


def test_a_bug_where_no_log_can_be_written_is_still_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A data home that is a file cannot take a log; the exit code stays 3."""
    home = tmp_path / "file"
    home.write_text("")
    monkeypatch.setenv("VECTOR_MEMORY_HOME", os.fspath(home))
    assert boundary.run(lambda: raising(KeyError("x")), []) == 3
    assert "could not be written" in capsys.readouterr().err
