"""Folders that are this user's alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from vector_memory.errors import BadInputError
from vector_memory.system import private
from vector_memory.system.paths import Home


@pytest.fixture(params=[0, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """The loosest umask and the strictest."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: str | Path) -> int:
    """Return a path's rights."""
    return os.stat(path).st_mode & 0o777


def test_every_folder_on_the_way_is_closed(tmp_path: Path, umask: int) -> None:
    """Those above too, where they had to be made."""
    private.make_folder(str(tmp_path / "a" / "b" / "c"))
    assert [mode(tmp_path / one) for one in ("a", "a/b", "a/b/c")] == [0o700] * 3


def test_a_data_home_that_was_left_open_is_closed(tmp_path: Path, umask: int) -> None:
    """Whoever made it, as long as it is this user's."""
    home = Home(str(tmp_path / "x" / "home"))
    os.makedirs(home.run)
    os.chmod(home.root, 0o755)
    os.chmod(home.run, 0o777)
    home.make()
    assert {mode(home.path(name)) for name in ("", *home.FOLDERS)} == {0o700}


def test_the_user_s_home_folder_keeps_its_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should somebody make it the data home; the same goes for a place like /tmp."""
    for name, rights in (("me", 0o755), ("tmp", 0o1777)):
        folder = tmp_path / name
        folder.mkdir()
        folder.chmod(rights)
        monkeypatch.setenv("HOME", str(tmp_path / "me"))
        Home(str(folder)).make()
        assert folder.stat().st_mode & 0o7777 == rights
        assert mode(folder / "run") == 0o700


def test_a_folder_in_the_way_of_a_file_is_an_error(tmp_path: Path) -> None:
    """It is not silently taken for one."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="File exists|Not a directory"):
        private.make_folder(str(tmp_path / "file" / "below"))


def test_what_other_programs_left_open_is_closed(tmp_path: Path, umask: int) -> None:
    """Files and folders of any rights, at any depth; what may be run by its owner stays so, and what a
    link leads to is not touched."""
    outside = tmp_path / "outside"
    outside.write_text("x")
    outside.chmod(0o644)
    top = tmp_path / "runtime"
    for number in range(0o1000):
        folder = top / f"{number % 7}" / f"{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:o}").write_text("x")
        (folder / f"{number:o}").chmod(number)
    for folder in (top / "1", top / "2" / "1"):
        folder.chmod(0o777)
    (top / "link").symlink_to(outside)
    (top / "gone").symlink_to(top / "nothing")
    private.close_below(str(top))
    assert list(private.open_below(str(top))) == []
    for path in top.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert mode(path) == int(path.name, 8) & 0o700
    assert mode(outside) == 0o644
    assert {mode(path) for path in (top, top / "1", top / "2" / "1")} == {0o700}


def test_links_and_open_folders_are_not_closed_ones(tmp_path: Path) -> None:
    """The socket's folder is neither."""
    (tmp_path / "run").mkdir(mode=0o700)
    os.symlink(tmp_path / "run", tmp_path / "link")
    private.require_closed(str(tmp_path / "run"))
    with pytest.raises(BadInputError, match="link"):
        private.require_closed(str(tmp_path / "link"))
    os.chmod(tmp_path / "run", 0o750)
    with pytest.raises(BadInputError, match="open to others"):
        private.require_closed(str(tmp_path / "run"))


def test_somebody_else_s_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By whoever is not its owner; with what to do."""
    monkeypatch.setattr(private, "user_id", lambda: os.geteuid() + 1)
    with pytest.raises(BadInputError, match="another user") as caught:
        Home(str(tmp_path)).make()
    assert "VECTOR_MEMORY_HOME" in caught.value.hint
    assert os.listdir(tmp_path / "home") == []


def test_a_way_that_anybody_can_change_is_found(tmp_path: Path) -> None:
    """A sticky folder is none: there everybody's things stay in place."""
    base = tmp_path.resolve()
    loose, group = base / "loose", base / "group"
    for folder in (loose, group):
        (folder / "home").mkdir(parents=True)
    assert private.world_writable_above(str(loose / "home")) == ""
    loose.chmod(0o777)
    assert private.world_writable_above(str(loose / "home")) == str(loose)
    loose.chmod(0o1777)
    assert private.world_writable_above(str(loose / "home")) == ""
    group.chmod(0o770)
    assert private.world_writable_above(str(group / "home")) == ""
    assert private.group_writable_above(str(group / "home")) == str(group)
