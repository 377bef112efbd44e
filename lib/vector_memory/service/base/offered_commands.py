"""Which commands a fix may offer: none that the observer would flag, wherever it would be run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from vector_memory.index.fixes.fix_drafts import RAN
from vector_memory.model import Memory
from vector_memory.text.words import codes_in

_FENCE = "```"
MOST_SIGNS = 8
"""Of one line: a command in a list that is quoted has three."""


def of_memory(memory: Memory) -> list[str]:
    """Return the command lines that a memory would have somebody run: those that were noted with it, else
    whatever it quotes as code."""
    commands = memory.extra.get(RAN)
    return list(map(str, commands)) if isinstance(commands, list) else codes_in(memory.text)


def is_harmless(memory: Memory, folder: str) -> bool:
    """Whether the observer would flag nothing of what a memory would have somebody run: what was noted with it, else
    whatever in its text may be a command. In doubt it is one: a fix that is not offered is missed, no more.

    Args:
        folder: where it would be run, "" where nobody knows.
    """
    if isinstance(memory.extra.get(RAN), list):
        return are_harmless(of_memory(memory), folder)
    pieces = dict.fromkeys(piece.strip() for piece in _pieces(memory.text))
    return are_harmless(filter(None, pieces), folder)


def _pieces(text: str) -> Iterator[str]:
    """Yield what may be commands in a text: what stands inside and outside of fences, as a whole and line by line, each
    with and without the signs before it, and what stands between back quotes."""
    for part in text.replace("~~~", _FENCE).split(_FENCE):
        lines = part.splitlines()
        script = "\n".join(map(_unsigned, lines)).replace("\\\n", " ")
        yield from (part, *lines, script, *script.splitlines())
        # Over two lines it may be one command or two.
        yield from (piece.replace("\n", " ") for piece in part.split("`"))
        yield from (_unsigned(piece) for line in lines for piece in line.split("`"))


def _unsigned(line: str) -> str:
    """Return a line without its indent and what it begins with that ends in a sign: a prompt, the mark of a list or a
    quotation, "Run:"."""
    bare = line.strip()
    for _ in range(MOST_SIGNS):
        word, _, behind = bare.partition(" ")
        if not word or word[-1].isalnum() or word[0] == "#" or "`" in word:
            break
        bare = behind.lstrip()
    return bare


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
