"""Small files that a hook leaves for a daemon that is not there yet: what happened, never any text.

Standard library only, Python 3.9.
"""

import contextlib
import errno
import hashlib
import json
import os
import time

from vector_memory.system import json_in, private
from vector_memory.system.paths import Home

_ENDING = ".json"
CLAIM_S = 2.0
"""Two equal inputs within this time are one event that was wired twice."""


def write_spool(
    home: Home,
    event: str,
    data: "dict[str, object]",
    folder: str,
    shown: "list[str] | None" = None,
    configuration: str = "",
    is_kept: bool = True,
    mark: str = "",
) -> str:
    """Write one event durably and return its file's path.

    Only the event's name, its session, its transcript's path, its folder and the client's configuration
    that it ran under are kept, and whether what was said may be.

    Args:
        mark: how the file's name ends, by which it is known again (`has_marked`); "" for this process's number.
    """
    entry = {
        "event": event,
        "session": json_in.session_id(data.get("session_id")),
        "transcript": str(data.get("agent_transcript_path") or data.get("transcript_path") or ""),
        "folder": folder or str(data.get("cwd") or ""),
        "at": time.time(),
    }
    if shown:
        entry["shown"] = shown
    if configuration:
        entry["configuration"] = configuration
    if not is_kept:
        entry["kept"] = False
    name = "%016x-%s%s" % (time.time_ns(), mark or os.getpid(), _ENDING)
    path = os.path.join(home.spool, name)
    private.make_folder(home.spool)
    temporary = os.path.join(home.spool, "." + name)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            write_all(fd, json.dumps(entry).encode("ascii"))
            os.fsync(fd)
        finally:
            os.close(fd)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path


def write_all(fd: int, content: bytes) -> None:
    """Write everything: on a disk that is nearly full a write may take a part of it only."""
    while content:
        count = os.write(fd, content)
        if not count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        content = content[count:]


def read_spool(home: Home) -> "list[tuple[str, dict[str, object]]]":
    """Return the spooled events, oldest first, as (path, entry); unreadable ones have no entry."""
    return _entries(home.spool)


def read_aside(home: Home) -> "list[tuple[str, dict[str, object]]]":
    """Return the events that were set aside after they had failed too often, each with its `reason`."""
    return _entries(home.spool_aside)


def read_entry(path: str) -> "dict[str, object]":
    """Return a spooled event; {} where it cannot be read."""
    try:
        with open(path, encoding="ascii") as file:
            entry = json_in.storable_json(json.load(file))
    except (OSError, ValueError):
        return {}
    return entry if isinstance(entry, dict) else {}


def spooled_paths(folder: str) -> "list[str]":
    """Return the files of a folder's events, oldest first."""
    try:
        names = sorted(name for name in os.listdir(folder) if _ENDING in name[1:])
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if not name.startswith(".")]


def has_marked(home: Home, mark: str) -> bool:
    """Whether an event with a mark waits that was not begun yet."""
    return any(path.endswith("-%s%s" % (mark, _ENDING)) for path in spooled_paths(home.spool))


def _entries(folder: str) -> "list[tuple[str, dict[str, object]]]":
    return [(path, read_entry(path)) for path in spooled_paths(folder)]


def claim(home: Home, stdin: bytes) -> bool:
    """Whether this process is the first with this input; decides without a daemon. Where nothing can
    be written, both are: better twice than not at all."""
    try:
        return _claim(home, stdin)
    except OSError:
        return True


def _claim(home: Home, stdin: bytes) -> bool:
    private.make_folder(home.claims)
    path = os.path.join(home.claims, hashlib.sha256(stdin).hexdigest()[:32])
    for _ in range(2):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            return True
        except FileExistsError:
            if abs(time.time() - os.stat(path).st_mtime) < CLAIM_S:
                return False
            # The same words said again much later are another event; a claim of the future was made
            # before the clock was set back.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
    return False
