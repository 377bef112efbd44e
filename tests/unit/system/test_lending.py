"""What is made in a folder that others reach."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vector_memory.system import lending

GROUP = 54_321


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder of another group, whose members may write there."""
    if os.geteuid():
        pytest.skip("only root gives a folder to any group")
    folder = tmp_path / "shared"
    folder.mkdir()
    os.chown(folder, -1, GROUP)
    folder.chmod(0o775)
    return folder


def rights(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_gid, about.st_mode & 0o7777


def test_it_is_of_the_same_group(shared: Path) -> None:
    lending.make_folder(str(shared / "a"), str(shared))
    assert rights(shared / "a") == (GROUP, 0o775)


def test_another_group_has_the_rights_of_all_others(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where this user is none of the folder's group."""

    def refuse(*_: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    lending.make_folder(str(shared / "a"), str(shared))
    assert rights(shared / "a") == (os.getegid(), 0o755)


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o700)
    tmp_path.chmod(0o755)
    lending.make_folder(str(tmp_path / "a"), str(tmp_path))
    assert rights(tmp_path / "a")[1] == 0o700
