"""Runs other programs: their output goes to the log, and its end into the error."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence

from vector_memory.errors import SetupError

TAIL_LINES = 12


class CommandError(SetupError):
    """A program of the set-up failed. `tail` is the end of what it said."""

    def __init__(self, message: str, hint: str, tail: str) -> None:
        super().__init__(message, hint)
        self.tail = tail


def run(
    command: Sequence[str],
    log: str,
    *,
    doing: str,
    hint: str,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
) -> str:
    """Run a program to its end and return what it printed, on both streams.

    Args:
        log: the file that its output is appended to.
        doing: what it is for, as in "could not <doing>".
        hint: what the user can do when it fails.

    Raises:
        CommandError: it could not start, or did not exit with 0.
    """
    _append(log, "$ " + shlex.join(command) + "\n")
    try:
        result = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=None if environ is None else dict(environ),
            cwd=cwd,
            check=False,
        )
    except OSError as error:
        raise CommandError(f"Could not {doing}: {error}.", hint, "") from error
    output = result.stdout.decode("utf-8", "replace")
    _append(log, output)
    if result.returncode != 0:
        message = f"Could not {doing} (exit {result.returncode})."
        raise CommandError(message, hint, tail(output))
    return output


def works(command: Sequence[str]) -> bool:
    """Whether a program runs and exits with 0."""
    try:
        return not subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode
    except OSError:
        return False


def tail(output: str, lines: int = TAIL_LINES) -> str:
    """Return the last lines that say something."""
    return "\n".join([line for line in output.splitlines() if line.strip()][-lines:])


def file_tail(path: str) -> str:
    """Return the last lines of a file that say something; "" where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return tail(file.read()[-100_000:])
    except OSError:
        return ""


def _append(log: str, text: str) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(text)
