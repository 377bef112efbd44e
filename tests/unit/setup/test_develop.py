"""`./bootstrap.sh test`: what failed beside other tests runs once more, alone."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import develop
import pytest

FLAKY = """
import os

def test_fails_beside_others():
    mark = os.environ["MARK"]
    if not os.path.exists(mark):
        open(mark, "w").close()
        raise AssertionError("late")

def test_passes():
    pass
"""
BROKEN = "def test_is_wrong():\n    assert 1 == 2\n"


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "root").mkdir()
    monkeypatch.setattr(develop, "WHOLE", ("-q",))
    monkeypatch.setattr(
        develop,
        "ALONE",
        tuple(a for a in develop.ALONE if "numprocesses" not in a),
    )
    site = SimpleNamespace(root=str(tmp_path / "root"), lib=str(tmp_path / "root"))
    return cast(Any, SimpleNamespace(python=sys.executable, site=site))


def run(kit: Any, tmp_path: Path, test: str) -> int:
    (tmp_path / "root" / "test_it.py").write_text(test)
    environ = {"PATH": "", "MARK": str(tmp_path / "mark"), "PYTHONDONTWRITEBYTECODE": "1"}
    # None of the plugins is needed, and to load them takes most of the time.
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return develop._run_whole(kit, environ, str(tmp_path / "cache"))


@pytest.mark.parametrize("code", [0, 1])
def test_what_runs_beside_is_told_afterwards_and_red_where_it_fails(
    kit: Any, tmp_path: Path, capsys: Any, code: int
) -> None:
    kit.python = str(tmp_path / "python")
    tool = tmp_path / "tool"
    tool.write_text(f'#!/bin/sh\necho "looked at $1"; exit {code}\n')
    tool.chmod(0o700)
    failed: list[tuple[str, ...]] = []
    with develop._beside(kit, ("tool", "all"), {}, failed):
        sys.stdout.write("tests\n")
    assert capsys.readouterr().out == "tests\n$ tool all\nlooked at all\n"
    assert failed == [("tool", "all")] * code


def test_what_passes_alone_is_not_red(kit: Any, tmp_path: Path, capfd: Any) -> None:
    assert run(kit, tmp_path, FLAKY) == 0
    printed = capfd.readouterr().out
    assert "1 failed, 1 passed" in printed
    assert "1 passed" in printed.splitlines()[-1]


def test_what_fails_alone_too_is_red(kit: Any, tmp_path: Path) -> None:
    assert run(kit, tmp_path, BROKEN) == 1


def test_what_cannot_be_collected_is_red_at_once(kit: Any, tmp_path: Path, capfd: Any) -> None:
    assert run(kit, tmp_path, "import nothing_of_that_name\n") != 0
    assert "once more" not in capfd.readouterr().out


def test_with_many_failures_the_machine_is_not_to_blame(
    kit: Any, tmp_path: Path, capfd: Any
) -> None:
    many = "\n".join(f"def test_{n}():\n    assert 0" for n in range(develop.MOST_ALONE + 1))
    assert run(kit, tmp_path, many) == 1
    assert "once more" not in capfd.readouterr().out
