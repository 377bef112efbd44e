"""Which commands a fix may offer: none that the observer would flag, wherever it would be run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from vector_memory.index.fixes.fix_drafts import RAN
from vector_memory.model import Memory

_QUOTED = re.compile(r"(`+)([^`\n]{1,1000})\1")
"""Short ones too, and with all of their marks: what is left of one would be taken for the beginning of the next."""


def of_memory(memory: Memory) -> list[str]:
    """Return the command lines that a memory would have somebody run: those that were noted with it, else
    whatever it quotes as code."""
    noted = memory.extra.get(RAN)
    if isinstance(noted, list):
        return list(map(str, noted))
    return [code for _, code in _QUOTED.findall(memory.text)]


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
