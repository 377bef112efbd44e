"""Which commands a fix may offer: none that the observer would flag, wherever it would be run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

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
    whatever stands in its text as a command does.

    Args:
        folder: where it would be run, "" where nobody knows.
    """
    if isinstance(memory.extra.get(RAN), list):
        return are_harmless(of_memory(memory), folder)
    pieces = dict.fromkeys(piece.strip() for piece in _pieces(memory.text))
    return are_harmless(filter(None, pieces), folder)


def _pieces(text: str) -> Iterator[str]:
    """Yield what may be commands in a text: every line, and several as one command; of a line with back quotes outside
    fenced blocks what is quoted: "git reset --hard was the cause, `npm ci` mends it"."""
    for place, part in enumerate(text.replace("~~~", _FENCE).split(_FENCE)):
        lines = part.splitlines()
        if not place % 2:
            for paragraph in "\n".join(map(_unsigned, lines)).split("\n\n"):
                yield from _quoted(paragraph.splitlines())
            lines = [line for line in lines if "`" not in line]
        script = "\n".join(map(_unsigned, lines)).replace("\\\n", " ")
        yield from ("\n".join(lines), *lines, script, *script.splitlines())


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


def _quoted(lines: list[str]) -> Iterator[str]:
    """Yield what stands between back quotes in a paragraph; all of it but its ends where one of them is a mark of no
    code, and all of a line that has such a one."""
    paragraph = "\0".join(lines)
    codes = codes_in(paragraph) if _is_paired(paragraph) else paragraph.split("`")[1:-1]
    for piece in (piece for code in codes for piece in code.split("`")):
        # Over two lines it may be one command or two.
        yield from (_unsigned(piece.replace("\0", " ")), piece.replace("\0", "\n"))
    yield from (piece for line in lines if not _is_paired(line) for piece in line.split("`"))


def _is_paired(text: str) -> bool:
    runs = ("".join(run) for is_mark, run in groupby(text, "`".__eq__) if is_mark)
    return not any(number % 2 for number in Counter(runs).values())


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
