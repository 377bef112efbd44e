"""The system's table of processes: who started whom, from where, and with which environment. Linux tells it
in /proc, macOS by libproc. Standard library only."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import time
from typing import NamedTuple

INIT = 1
_MOST_BYTES = 1 << 20
_MOST_PROCESSES = 16_384
_BSD_INFO = struct.Struct("=3I2I7I16s32s6I2Q")
_PROC_PIDTBSDINFO, _CTL_KERN, _KERN_PROCARGS2 = 3, 1, 49
_NO_DEVICE = 0xFFFFFFFF


class Process(NamedTuple):
    """A process as it is now. `started` is a time in the system's own unit: with `pid` it names the process,
    whose number alone is given to another one later. `group` and `session` are the numbers of their leaders;
    0 is one that this process's own namespace does not hold."""

    pid: int
    parent: int
    group: int
    session: int
    has_terminal: bool
    started: int
    user: int


class Program(NamedTuple):
    """What a process runs: the file, its arguments, and the names of its first environment's variables."""

    path: str
    arguments: tuple[str, ...] = ()
    variables: frozenset[str] = frozenset()


def process(pid: int) -> Process | None:
    """Return a process, None where there is none, only its zombie, or where the system does not tell."""
    try:
        return _process_of_linux(pid) if sys.platform == "linux" else _process_of_mac(pid)
    except (OSError, ValueError, AttributeError, struct.error):
        return None


def program(pid: int, with_variables: bool = True) -> Program:
    """Return what a process runs; empty where it is another user's.

    Args:
        with_variables: its variables are asked for too. On Linux they are a file of their own, and to read it
            waits for the process where that is just starting.
    """
    try:
        if sys.platform == "linux":
            return _program_of_linux(pid, with_variables)
        return _program_of_mac(pid)
    except (OSError, ValueError, AttributeError, struct.error):
        return Program("")


def executable(pid: int) -> str:
    """Return the path of the file that a process runs; "" where it is another user's."""
    try:
        return os.readlink(f"/proc/{pid}/exe") if sys.platform == "linux" else program(pid).path
    except OSError:
        return ""


def own_processes() -> list[int]:
    """Return the numbers of this user's processes, as far as the system tells."""
    try:
        if sys.platform == "linux":
            with os.scandir("/proc") as entries:
                return [
                    int(entry.name) for entry in entries if entry.name.isdigit() and _is_own(entry)
                ]
        library = ctypes.CDLL("/usr/lib/libproc.dylib", use_errno=True)
        numbers = (ctypes.c_int * _MOST_PROCESSES)()
        return list(numbers[: max(0, library.proc_listallpids(numbers, ctypes.sizeof(numbers)))])
    except (OSError, AttributeError):
        return []


def process_clock() -> int:
    """Return the time in the unit of `Process.started`."""
    if sys.platform == "linux":
        return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
    return int(time.time() * 1e6)


def cgroup(pid: int) -> str:
    """Return the control group of a process, "" where there is none."""
    try:
        return _read(f"/proc/{pid}/cgroup").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def boot() -> str:
    """Return what names the time since the system was started, within which `started` counts."""
    try:
        return _read("/proc/sys/kernel/random/boot_id").decode("ascii", "replace").strip()
    except OSError:
        return ""


def stdin_is_socket(pid: int) -> bool:
    """Whether a process reads from a socket; what cannot be told is a yes."""
    if sys.platform != "linux":
        return True
    try:
        return os.readlink(f"/proc/{pid}/fd/0").startswith("socket:")
    except OSError:
        return False


def _is_own(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.stat().st_uid == os.geteuid()
    except OSError:
        return False


def _process_of_linux(pid: int) -> Process | None:
    path = f"/proc/{pid}/stat"
    # Its name may hold anything, brackets and spaces included.
    fields = _read(path).rpartition(b")")[2].split()
    if fields[0] in (b"Z", b"X"):
        return None
    parent, group, session, terminal = map(int, fields[1:5])
    owner = os.stat(path).st_uid
    return Process(pid, parent, group, session, terminal != 0, int(fields[19]), owner)


def _program_of_linux(pid: int, with_variables: bool) -> Program:
    words = _read(f"/proc/{pid}/cmdline").split(b"\0")[:-1]
    environment = _read(f"/proc/{pid}/environ") if with_variables else b""
    return _program_of(os.readlink(f"/proc/{pid}/exe"), words, environment.split(b"\0"))


def _program_of(path: str, words: list[bytes], environment: list[bytes]) -> Program:
    names = (entry.partition(b"=")[0] for entry in environment)
    decoded = frozenset(os.fsdecode(name) for name in names if name)
    return Program(path, tuple(map(os.fsdecode, words)), decoded)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_MOST_BYTES)


def _process_of_mac(pid: int) -> Process | None:
    library = ctypes.CDLL("/usr/lib/libproc.dylib", use_errno=True)
    buffer = ctypes.create_string_buffer(_BSD_INFO.size)
    length = library.proc_pidinfo(
        pid, _PROC_PIDTBSDINFO, ctypes.c_uint64(0), buffer, _BSD_INFO.size
    )
    if length != _BSD_INFO.size:
        return None
    fields = _BSD_INFO.unpack(buffer.raw)
    parent, user, group, device = fields[4], fields[5], fields[15], fields[17]
    started = fields[20] * 1_000_000 + fields[21]
    return Process(pid, parent, group, os.getsid(pid), device != _NO_DEVICE, started, user)


def _program_of_mac(pid: int) -> Program:
    library = ctypes.CDLL(None, use_errno=True)
    names = (ctypes.c_int * 3)(_CTL_KERN, _KERN_PROCARGS2, pid)
    size = ctypes.c_size_t(_MOST_BYTES)
    buffer = ctypes.create_string_buffer(_MOST_BYTES)
    if library.sysctl(names, 3, buffer, ctypes.byref(size), None, 0) != 0:
        return Program("")
    (count,) = struct.unpack_from("=i", buffer.raw)
    path, _, strings = buffer.raw[4 : size.value].partition(b"\0")
    words = strings.lstrip(b"\0").split(b"\0")
    return _program_of(os.fsdecode(path), words[:count], words[count:])
