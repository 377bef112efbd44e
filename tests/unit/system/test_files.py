"""Opening files that others name: what is opened is looked at, not the name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import socket
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.system import files

LINE = b'{"text": "plain"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder by its real path."""
    return tmp_path.resolve()


def refusal(path: Path | str) -> str:
    """Return why a file is refused."""
    with pytest.raises(files.RefusedError) as caught:
        files.open_plain(str(path)).close()
    assert caught.value.hint
    return caught.value.message


def test_a_plain_file_is_opened_from_its_start(folder: Path) -> None:
    """Having looked at it leaves no trace in where it is read from."""
    path = folder / "plain"
    path.write_bytes(LINE)
    with files.open_plain(str(path)) as file:
        assert file.read() == LINE


def test_links_are_refused_wherever_they_stand(folder: Path) -> None:
    """In the file's place, in a folder's above it, dangling, and in a circle."""
    real = folder / "real"
    real.mkdir()
    (real / "file").write_bytes(LINE)
    os.symlink(real / "file", folder / "link")
    os.symlink(real, folder / "way")
    os.symlink(folder / "nowhere", folder / "dangling")
    os.symlink(folder / "circle", folder / "circle")
    for name in ("link", "dangling", "circle"):
        assert "is a link" in refusal(folder / name)
    assert "through a link" in refusal(folder / "way" / "file")


def test_a_way_that_a_user_named_may_have_links(folder: Path) -> None:
    """Folders above are resolved once; the file's own name is not."""
    real = folder / "real"
    real.mkdir()
    (real / "file").write_bytes(LINE)
    os.symlink(real, folder / "way")
    os.symlink(real / "file", real / "link")
    found = files.with_real_folder(str(folder / "way" / "file"))
    assert found == str(real / "file")
    files.open_plain(found).close()
    assert "is a link" in refusal(files.with_real_folder(str(folder / "way" / "link")))


def test_what_is_swapped_after_a_look_is_refused(folder: Path) -> None:
    """A file or a folder that gives way to a link between finding and opening leads nowhere."""
    (folder / "inside").mkdir()
    (folder / "secret").mkdir()
    (folder / "inside" / "t.jsonl").write_bytes(LINE)
    (folder / "secret" / "t.jsonl").write_bytes(b"not yours\n")
    found = files.with_real_folder(str(folder / "inside" / "t.jsonl"))
    os.rename(folder / "inside", folder / "gone")
    os.symlink(folder / "secret", folder / "inside")
    assert "through a link" in refusal(found)
    os.unlink(folder / "inside")
    (folder / "inside").mkdir()
    os.symlink(folder / "secret" / "t.jsonl", found)
    assert "is a link" in refusal(found)


def test_pipes_devices_sockets_and_folders_are_refused_at_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them is waited for, or opened where that could do something."""
    os.mkfifo(folder / "pipe")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("sock")
        for path in (folder / "pipe", folder / "sock", folder, "/dev/null", "/dev/zero"):
            assert "no regular file" in refusal(path)


def test_a_pipe_that_comes_after_the_look_is_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is opened without waiting, and what was opened tells what it is."""
    os.mkfifo(folder / "pipe")
    plain = os.lstat(__file__)
    monkeypatch.setattr(files.os, "lstat", lambda path: plain)
    assert "no regular file" in refusal(folder / "pipe")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize("path", ["/proc/PID/environ", "/proc/version", "/proc/meminfo"])
def test_files_that_the_kernel_makes_up_are_refused(path: str) -> None:
    """They look regular, and say what no note says."""
    assert "no file of a disk" in refusal(path.replace("PID", str(os.getpid())))


def test_holes_are_refused_and_filled_files_are_not(folder: Path) -> None:
    """A terabyte that takes no room would be read for an hour."""
    hole, filled = folder / "hole", folder / "filled"
    with open(hole, "wb") as file:
        file.write(LINE)
        file.truncate(files.HOLLOW_BYTES * 4)
    assert "a hole" in refusal(hole)
    with open(filled, "wb") as file:
        for _ in range(files.HOLLOW_BYTES // (1 << 20)):
            file.write(b"x" * (1 << 20))
    files.open_plain(str(filled)).close()


def test_endless_files_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Past the limit nothing is read at all."""
    monkeypatch.setattr(files, "MOST_BYTES", 10)
    (folder / "long").write_bytes(b"x" * 11)
    assert "longer than" in refusal(folder / "long")


def archive(kind: str) -> bytes:
    """Return a small archive."""
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as made:
            made.writestr("a.jsonl", LINE)
    elif kind == "tar":
        with tarfile.open(fileobj=out, mode="w") as tar:
            about = tarfile.TarInfo("a.jsonl")
            about.size = len(LINE)
            tar.addfile(about, io.BytesIO(LINE))
    else:
        squeeze = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind]
        return squeeze(LINE)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar", "gz", "bz2", "xz"])
def test_archives_are_told_by_what_they_hold(folder: Path, kind: str) -> None:
    """Whatever the name says; the user is told to unpack it."""
    (folder / "notes.jsonl").write_bytes(archive(kind))
    with pytest.raises(BadInputError, match="archive|compressed") as caught:
        files.open_found(str(folder / "notes.jsonl"))
    assert "Unpack" in caught.value.hint


def test_missing_and_forbidden_files_are_told_apart(folder: Path) -> None:
    """Each with what to do."""
    with pytest.raises(NotFoundError):
        files.open_found(str(folder / "none"))
    error = PermissionError(13, "Permission denied")
    assert "rights" in files.readable_error("x", error).hint


def test_git_s_own_links_are_followed_and_its_pipes_are_not(folder: Path) -> None:
    """`open_regular` is for files whose links are somebody else's affair."""
    (folder / "config").write_bytes(LINE)
    os.symlink(folder / "config", folder / "link")
    os.mkfifo(folder / "pipe")
    with files.open_regular(str(folder / "link")) as file:
        assert file.read() == LINE
    with pytest.raises(files.RefusedError):
        files.open_regular(str(folder / "pipe"))
