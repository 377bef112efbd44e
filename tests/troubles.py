"""Files that make trouble for who opens them by their name alone, for tests."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SECRET = "what lies outside"
Maker = Callable[[Path, Path], None]


def _to(target: str) -> Maker:
    return lambda path, _: os.symlink(target, path)


def _socket(path: Path, _: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            # An address holds a short path alone.
            made.bind(path.name)
    finally:
        os.chdir(here)


def _hole(path: Path, _: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 40)


def _large(path: Path, outside: Path) -> None:
    whole = outside.parent / ".much"
    if not whole.exists():
        whole.write_bytes(b"x" * (64 << 20))
    os.link(whole, path)


def _pipe_behind(path: Path, outside: Path) -> None:
    os.mkfifo(path.parent / ".pipe")
    os.symlink(".pipe", path)


def _outside(path: Path, outside: Path) -> None:
    os.symlink(outside, path)


def _relative(path: Path, outside: Path) -> None:
    os.symlink(os.path.relpath(outside, os.path.realpath(path.parent)), path)


def _chain(path: Path, outside: Path) -> None:
    os.symlink(outside, path.parent / ".one")
    os.symlink(".one", path.parent / ".two")
    os.symlink(path.parent / ".two", path)


def _locked(path: Path, _: Path) -> None:
    path.write_text("nobody may")
    path.chmod(0)


TROUBLES: dict[str, Maker] = {
    "a terminal": _to("/dev/ptmx"),
    "this terminal": _to("/dev/tty"),
    "zeros": _to("/dev/zero"),
    "a full disk": _to("/dev/full"),
    "random": _to("/dev/urandom"),
    "the standard input": _to("/dev/stdin"),
    "an environment": _to("/proc/self/environ"),
    "the kernel's log": _to("/proc/kmsg"),
    "a process's memory": _to("/proc/self/mem"),
    "settings of the kernel": _to("/sys/kernel/profiling"),
    "a folder of the kernel": _to("/proc"),
    "itself": lambda path, _: os.symlink(path.name, path),
    "nothing": _to("/nowhere/at/all"),
    "a pipe": lambda path, _: os.mkfifo(path),
    "a pipe behind a link": _pipe_behind,
    "a socket": _socket,
    "a folder": lambda path, _: path.mkdir(),
    "a hole": _hole,
    "much": _large,
    "outside": _outside,
    "outside, relative": _relative,
    "outside, through others": _chain,
    "locked": _locked,
    "no UTF-8": lambda path, _: path.write_bytes(b"\xff\xfe\x80## Privacy\n\xc3") and None,
    "NUL": lambda path, _: path.write_bytes(b"\0" * 5_000) and None,
    "empty": lambda path, _: path.write_bytes(b"") and None,
}
LEADING_OUT = frozenset({"outside", "outside, relative", "outside, through others"})
NAMES = ("a\0b", "\ud800", "x" * 300, "/dev/fd/0", "/proc/self/fd/0", "")
"""What is no name, or none of a file that was meant."""


@contextmanager
def at_once(what: str, seconds: float = 20.0) -> Iterator[None]:
    """Fail where something is waited for within this block."""

    def late(_: int, __: FrameType | None) -> None:
        raise AssertionError(f"it waits for ever: {what}")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
