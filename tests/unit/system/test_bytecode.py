"""Bytecode that a full disk cut short is made again, and none is written where there is no space for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from vector_memory.system import bytecode

LIB = Path(__file__).parents[3] / "lib"
PROGRAM = f"""
import sys
sys.path[:0] = [{str(LIB)!r}, sys.argv[1]]
from vector_memory.system.bytecode import guarded
def run():
    import needed
    print(needed.ANSWER, sys.dont_write_bytecode)
    return 7
sys.exit(guarded(run))
"""


class Disk(NamedTuple):
    """What the system tells of a disk, of which blocks are bytes here."""

    f_bavail: int
    f_frsize: int = 1


def run(folder: Path) -> tuple[int, str]:
    """Run a program whose module lies in `folder`; return its exit code and what it printed."""
    prefix = f"pycache_prefix={folder}/data/run/pycache"
    words = [sys.executable, "-I", "-X", prefix, "-c", PROGRAM, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def cut(folder: Path) -> None:
    """Cut the module's bytecode in two, as a full disk does."""
    for path in (folder / "data" / "run" / "pycache").rglob("needed.*.pyc"):
        path.write_bytes(path.read_bytes()[:40])


def test_a_program_goes_on_where_its_bytecode_was_cut_short(tmp_path: Path) -> None:
    """The first import after it finds half a file: the program is run all the same, and so is the next."""
    (tmp_path / "data").mkdir()
    (tmp_path / "needed.py").write_text("ANSWER = 'it is there'\n")
    assert run(tmp_path) == (7, "it is there False\n")
    cut(tmp_path)
    assert run(tmp_path) == (7, "it is there True\n")
    assert run(tmp_path) == (7, "it is there False\n")


def test_another_end_of_a_file_is_no_damage(tmp_path: Path) -> None:
    """A program that meets the end of its input fails as ever, and its bytecode stays."""
    (tmp_path / "data").mkdir()
    (tmp_path / "needed.py").write_text("raise EOFError('no more')\n")
    for _ in range(2):
        code, told = run(tmp_path)
        assert code == 1
        assert told.rstrip().endswith("EOFError: no more")
    assert list((tmp_path / "data").rglob("needed.*.pyc"))


@pytest.mark.parametrize(("free", "writes"), [(0, False), (bytecode.LEAST_FREE_BYTES, True)])
def test_a_full_disk_gets_no_bytecode(
    free: int, writes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What would be cut short is not begun."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "run" / "pycache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(os, "statvfs", lambda _: Disk(free))
    bytecode.write_with_space_only()
    assert sys.dont_write_bytecode is not writes


def test_an_error_that_came_of_itself_is_looked_at_once() -> None:
    """One that is kept and raised again may stand among its own causes."""
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__context__ = second, first
    assert bytecode.cut_short(first) is None
