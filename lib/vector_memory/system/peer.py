"""Who is at the other end of a unix socket, as the kernel says. Standard library only."""

from __future__ import annotations

import os
import socket
import struct
import sys

_LOCAL_PEERPID = 0x002
"""macOS's option, at the level 0 of local sockets."""


def process_id(sock: socket.socket) -> int:
    """Return the number of the process that connected, 0 where the kernel does not tell."""
    try:
        if sys.platform == "linux":
            return _credentials(sock)[0]
        return sock.getsockopt(0, _LOCAL_PEERPID) if sys.platform == "darwin" else 0
    except (OSError, struct.error):
        return 0


def user_id(sock: socket.socket) -> int:
    """Return the number of the user whose process is at the other end.

    Raises:
        OSError: the kernel does not tell.
    """
    return _credentials(sock)[1] if sys.platform == "linux" else _user_by_library(sock.fileno())


def _credentials(sock: socket.socket) -> tuple[int, ...]:
    """Return process, user and group of the other end, as Linux knows them."""
    raw = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", raw)


def is_own(sock: socket.socket) -> bool:
    """Whether the other end is a process of this user; what cannot be told is a no."""
    try:
        return user_id(sock) == os.geteuid()
    except (OSError, AttributeError, struct.error):
        return False


def _user_by_library(descriptor: int) -> int:
    """Ask with `getpeereid`, which macOS and the BSDs have."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    user, group = ctypes.c_uint32(), ctypes.c_uint32()
    if library.getpeereid(descriptor, ctypes.byref(user), ctypes.byref(group)) != 0:
        raise OSError(ctypes.get_errno(), "the other end's user is unknown")
    return int(user.value)
