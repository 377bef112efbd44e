"""Git, asked so that neither a repository's configuration nor its hooks decide what is run."""

from __future__ import annotations

import os
import subprocess

from vector_memory.errors import BadInputError
from vector_memory.system import programs

TIMEOUT_S = 120.0
_CONFIGURED = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.symlinks=false", "commit.gpgSign=false",
    "gc.auto=0", "user.name=vector-memory", "user.email=vector-memory@localhost", "protocol.ext.allow=never",
)  # fmt: skip
_PASSED = ("PATH", "HOME", "SSH_AUTH_SOCK", "LANG", "TMPDIR")


def try_git(folder: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command of git in a folder, and return what came of it.

    Raises:
        BadInputError: there is no git, or it did not end.
    """
    settings = [word for setting in _CONFIGURED for word in ("-c", setting)]
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}
    environment |= {"LC_ALL": "C"}
    try:
        return programs.run(["git", *settings, *words], b"", TIMEOUT_S, folder, environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInputError(f"git {words[0]} did not end: {error}.", "Is git there?") from error


def run(folder: str, *words: str) -> bytes:
    """Run a command of git in a folder, and return what it printed.

    Raises:
        BadInputError: it failed: it says why.
    """
    result = try_git(folder, *words)
    if result.returncode:
        raise refused(words[0], result.stderr)
    return result.stdout


def refused(verb: str, stderr: bytes) -> BadInputError:
    """Return the error for a command that failed, with the last line of what git said."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return BadInputError(
        f"git {verb} failed: {(lines or ['it does not say why'])[-1][:300]}",
        "Bring the repository in order, then try again.",
    )
