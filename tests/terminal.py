"""A program on a terminal of its own: what it shows, and keys typed into it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence

STEERING = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
WAIT_S = 60.0


class Terminal:
    """A running program.

    Args:
        process: the program.
        controller: the other end of its terminal.
    """

    def __init__(self, process: subprocess.Popen[bytes], controller: int) -> None:
        self.process = process
        self._controller = controller
        self.raw = ""

    def read_until(self, words: str) -> str:
        """Return what was shown from the last key on, when it holds some words, without what steers a terminal.

        Raises:
            AssertionError: they do not come, or the program ends.
        """
        shown, until = b"", time.monotonic() + WAIT_S
        while words not in _plain(shown):
            left = until - time.monotonic()
            assert left > 0, f"{words!r} did not come: {_plain(shown)!r}"
            piece = b""
            if select.select([self._controller], [], [], left)[0]:
                with contextlib.suppress(OSError):
                    piece = os.read(self._controller, 65_536)
            assert piece or words in _plain(shown), f"it ended without {words!r}: {_plain(shown)!r}"
            shown += piece
        self.raw += shown.decode("utf-8", "replace")
        return _plain(shown)

    def press(self, keys: str) -> None:
        """Type keys."""
        os.write(self._controller, keys.encode())


def _plain(shown: bytes) -> str:
    return STEERING.sub("", shown.decode("utf-8", "replace")).replace("\r\n", "\n")


@contextlib.contextmanager
def on_terminal(
    words: Sequence[str], environ: Mapping[str, str], columns: int = 80, rows: int = 24
) -> Iterator[Terminal]:
    """Run a program on a terminal of some size; it is ended if it has not ended by itself."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        words,
        env=dict(environ),
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        # Else Ctrl-C would be nobody's.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(terminal)
    try:
        yield Terminal(process, controller)
    finally:
        process.kill()
        process.wait()
        os.close(controller)
