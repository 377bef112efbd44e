"""Files that take the place of others."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from vector_memory.system import durable_files


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def failing(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Let folders not be synced."""

    def fails(path: str) -> None:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(durable_files, "sync_file", fails)


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o400])
def test_rights_are_kept_where_that_is_asked(tmp_path: Path, mode: int) -> None:
    """All of them, whatever the user's mask is; and what is new, or need not, has its own."""
    path = tmp_path / "note.md"
    mask = os.umask(0o077)
    try:
        durable_files.write_durably(str(path), b"new", keep_mode=True)
        assert rights(path) == 0o600
        path.chmod(mode)
        durable_files.write_durably(str(path), b"newer", keep_mode=True)
        assert (rights(path), path.read_bytes()) == (mode, b"newer")
        durable_files.write_durably(str(path), b"newest", 0o644)
        assert rights(path) == 0o600
    finally:
        os.umask(mask)


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_disk_that_cannot_sync_folders_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """What was written is there, with its rights."""
    path = tmp_path / "note.md"
    path.touch()
    path.chmod(0o664)
    failing(monkeypatch, number)
    durable_files.write_durably(str(path), b"new", keep_mode=True)
    assert (rights(path), path.read_bytes()) == (0o664, b"new")
    assert [one.name for one in tmp_path.iterdir() if one.is_file()] == ["note.md"]


def test_a_disk_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nobody has lost their rights over it."""
    path = tmp_path / "note.md"
    path.touch()
    path.chmod(0o664)
    failing(monkeypatch, errno.EIO)
    with pytest.raises(OSError, match="note.md|Input/output"):
        durable_files.write_durably(str(path), b"new", keep_mode=True)
    assert rights(path) == 0o664


def test_what_cannot_be_written_is_called_by_its_name(tmp_path: Path) -> None:
    """Not by that of the file beside it, which nobody has asked for."""
    path = tmp_path / "gone" / "note.md"
    with pytest.raises(FileNotFoundError) as caught:
        durable_files.write_durably(str(path), b"new")
    assert str(caught.value).endswith(f"'{path}'")
