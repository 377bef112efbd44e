"""Small files that a hook leaves for a daemon that is not there yet: what happened, never any text.

Standard library only, Python 3.9.
"""

import contextlib
import errno
import hashlib
import json
import os
import time

from vector_memory import private
from vector_memory.paths import Home

CLAIM_S = 2.0
"""Two equal inputs within this time are one event that was wired twice."""


def write_spool(
    home: Home, event: str, data: "dict[str, object]", folder: str, shown: "list[str] | None" = None
) -> str:
    """Write one event durably and return its file's path.

    Only the event's name, its session, its transcript's path and its folder are kept.
    """
    entry = {
        "event": event,
        "session": str(data.get("session_id") or ""),
        "transcript": str(data.get("agent_transcript_path") or data.get("transcript_path") or ""),
        "folder": folder or str(data.get("cwd") or ""),
        "at": time.time(),
    }
    if shown:
        entry["shown"] = shown
    name = "%016x-%d.json" % (time.time_ns(), os.getpid())
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
        written = os.write(fd, content)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        content = content[written:]


def read_spool(home: Home) -> "list[tuple[str, dict[str, object]]]":
    """Return the spooled events, oldest first, as (path, entry); unreadable ones have no entry."""
    try:
        names = sorted(name for name in os.listdir(home.spool) if not name.startswith("."))
    except OSError:
        return []
    return [(os.path.join(home.spool, name), _load(home, name)) for name in names]


def _load(home: Home, name: str) -> "dict[str, object]":
    try:
        with open(os.path.join(home.spool, name), encoding="ascii") as file:
            entry = json.load(file)
    except (OSError, ValueError):
        return {}
    return entry if isinstance(entry, dict) else {}


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
