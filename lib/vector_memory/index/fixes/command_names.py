"""By what name a command line is known again from run to run: as it is called here, without what stands
around it and how much it tells."""

from __future__ import annotations

from vector_memory.index import tools
from vector_memory.index.fixes import commands

LONGEST = 90
_PASSING = frozenset({
    "git", "gh", "glab", "hg", "jj", "rm", "mkdir", "mv", "cp", "ln", "touch", "chmod", "chown", "sed",
    "patch", "curl", "wget", "http", "ssh", "scp", "rsync", "tar", "unzip", "zip", "claude", "kill", "killall",
    "brew", "apt", "apt-get",
})  # fmt: skip
"""Programs whose outcome is of the moment: nothing is expected of the next time."""
_MANNERS = frozenset({
    "-q", "-qq", "-v", "-vv", "-vvv", "-x", "-s", "--quiet", "--verbose", "--silent", "--no-color",
    "--exitfirst", "2>&1",
})  # fmt: skip


def command_name(command: str) -> str:
    """Return by what name a command line is known; "" for one whose outcome is of the moment, that is
    several commands, or whose exit code is lost."""
    told = commands.acting(command)
    if len(told) != 1 or told[0].is_masked or told[0].is_inline or told[0].program in _PASSING:
        return ""
    said = commands.bare(command)
    if len(said) > LONGEST or "<<" in said:
        return ""
    words = tools.clip(said, LONGEST).split()
    kept = [word for word in words if word not in _MANNERS and not word.startswith("--tb")]
    return " ".join(kept)
