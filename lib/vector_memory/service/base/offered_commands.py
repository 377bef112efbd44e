"""Which commands a fix may offer: none that the observer would flag, wherever it would be run."""

from __future__ import annotations

import os
from collections.abc import Iterable

from vector_memory.index.fixes.fix_drafts import RAN
from vector_memory.model import Memory


def of_memory(memory: Memory) -> list[str]:
    """Return the command lines that a memory would have somebody run: those that were noted with it, else
    whatever it may quote as code. A mark may belong to none, so what stands between two codes counts, too."""
    noted = memory.extra.get(RAN)
    if isinstance(noted, list):
        return list(map(str, noted))
    codes, is_fenced = list[str](), False
    for line in memory.text.splitlines():
        is_fence = line.lstrip().startswith(("```", "~~~"))
        codes += [line] if is_fenced and not is_fence else line.split("`")[1:]
        is_fenced ^= is_fence
    return [code.strip() for code in codes if code.strip()]


def are_harmless(commands: Iterable[str], folder: str) -> bool:
    """Whether the observer would flag none of these command lines.

    Args:
        folder: where they would be run, "" where nobody knows.
    """
    # A reading process that finds no fix has no use for it.
    from vector_memory.observe.commands import judge
    from vector_memory.observe.commands.findings import CommandSurroundings

    home = os.path.expanduser("~")
    around = CommandSurroundings(folder or "/project", folder or "/project", home)
    return not any(judge.of_command(command, around) for command in commands)
