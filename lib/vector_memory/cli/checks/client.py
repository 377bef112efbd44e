"""The client: whether it is on PATH and new enough."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator

from vector_memory.cli.checks import Case, CheckResult, ok, warn
from vector_memory.wire import version_tuple

OLDEST_TRIED = "2.1.329"
PROGRAM = "claude"


def check(case: Case) -> Iterator[CheckResult]:
    """Yield what version of the client is on PATH."""
    path = shutil.which(PROGRAM)
    if path is None:
        yield warn(
            f"`{PROGRAM}` is not on PATH.",
            "Needed in a terminal; an editor's extension brings its own.",
        )
        return
    try:
        result = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield warn(f"{path} does not run: {error}.", "Install it anew.")
        return
    yield version_finding(result.stdout)


def version_finding(words: str) -> CheckResult:
    """Return what the client's own words about its version mean."""
    version = re.search(r"\d+\.\d+\.\d+", words)
    if version is None:
        return warn(f"`{PROGRAM} --version` names no version.", "Update it.")
    if version_tuple(version.group()) < version_tuple(OLDEST_TRIED):
        message = f"Version {version.group()}; older than {OLDEST_TRIED} was never tried."
        return warn(message, "Update the client.")
    return ok(f"Version {version.group()}")
