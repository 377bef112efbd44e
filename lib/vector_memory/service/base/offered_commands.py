"""Which commands a fix may offer: none that the observer would flag, wherever it would be run."""

from __future__ import annotations

import os
from collections.abc import Iterable

from vector_memory.index.fixes.fix_drafts import RAN
from vector_memory.model import Memory
from vector_memory.text.words import codes_in


def of_memory(memory: Memory) -> list[str]:
    """Return the command lines that a memory would have somebody run: those that were noted with it, else
    whatever it quotes as code."""
    commands = memory.extra.get(RAN)
    return list(map(str, commands)) if isinstance(commands, list) else codes_in(memory.text)


def is_harmless(memory: Memory, folder: str) -> bool:
    """Whether the observer would flag nothing of what a memory would have somebody run. Where no commands were noted, each
    line of its text counts, and each piece between backticks: any of them may be a command, however it is marked.

    Args:
        folder: where it would be run, "" where nobody knows.
    """
    if isinstance(memory.extra.get(RAN), list):
        return are_harmless(of_memory(memory), folder)
    pieces = (piece.strip() for line in memory.text.splitlines() for piece in line.split("`"))
    return are_harmless(filter(None, pieces), folder)


def are_harmless(commands: Iterable[str], folder: str) -> bool:
    """Whether the observer would flag none of these command lines.

    Args:
        folder: where they would be run, "" where nobody knows.
    """
    # Imported here: a reading process that finds no fix needs no observer.
    from vector_memory.observe.commands import judge
    from vector_memory.observe.commands.findings import CallSite

    home = os.path.expanduser("~")
    around = CallSite(folder or "/project", folder or "/project", home)
    return not any(judge.of_command(command, around) for command in commands)
