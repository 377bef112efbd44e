"""The name by which a command line is recognised from run to run: the command without what stands around it, and
without options that only change how much it prints."""

from __future__ import annotations

from vector_memory.index import tools
from vector_memory.index.fixes import commands

LONGEST = 90
_PASSING_PROGRAMS = frozenset({
    "git", "gh", "glab", "hg", "jj", "rm", "mkdir", "mv", "cp", "ln", "touch", "chmod", "chown", "sed",
    "patch", "curl", "wget", "http", "ssh", "scp", "rsync", "tar", "unzip", "zip", "claude", "kill", "killall",
    "brew", "apt", "apt-get",
})  # fmt: skip
"""Programs whose outcome is of the moment: nothing is expected of the next time."""
_REPORTING_OPTIONS = frozenset({
    "-q", "-qq", "-v", "-vv", "-vvv", "-x", "-s", "--quiet", "--verbose", "--silent", "--no-color",
    "--exitfirst", "2>&1",
})  # fmt: skip


def command_name(command: str) -> str:
    """Return by what name a command line is known; "" for one whose outcome is of the moment, that is
    several commands, or whose exit code is lost."""
    parts = commands.acting_parts(command)
    if (
        len(parts) != 1
        or parts[0].is_masked
        or parts[0].is_inline
        or parts[0].program in _PASSING_PROGRAMS
    ):
        return ""
    line = commands.bare_line(command)
    if len(line) > LONGEST or "<<" in line:
        return ""
    words = tools.clip(line, LONGEST).split()
    telling_words = [
        word for word in words if word not in _REPORTING_OPTIONS and not word.startswith("--tb")
    ]
    return " ".join(telling_words)
