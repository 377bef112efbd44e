"""Which commands a fix may offer: none that the observer would flag, wherever it would be run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import groupby

from vector_memory.index.fixes.fix_drafts import RAN
from vector_memory.model import Memory
from vector_memory.text.words import codes_in

_SIGNS = frozenset({"$", "%", ">", "-", "*", "+"})
MOST_SIGNS = 4
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
    """Yield what may be commands in a text: a fenced block, whole and by lines, lines that are indented or stand
    behind a sign or a colon, and what is quoted. Other lines are talk: "git reset --hard was the cause"."""
    for is_fenced, lines in _parts(text):
        bare = [_unsigned(line) for line in lines]
        if is_fenced:
            yield "\n".join(lines)
            marked = bare
        else:
            marked = [
                stripped
                for before, line, stripped in zip(["", *lines], lines, bare, strict=False)
                if stripped != line.rstrip() or before.rstrip().endswith(":")
            ]
            yield from _quoted(bare)
        yield from ("\n".join(marked), *marked)


def _parts(text: str) -> Iterator[tuple[bool, list[str]]]:
    """Yield the fenced blocks of a text, and the paragraphs between them: whether it is fenced, and its lines."""
    fence, lines = "", list[str]()
    for line in text.splitlines():
        bare = _unsigned(line)
        behind = bare.lstrip(bare[:1])
        opens = bare[:3] in ("```", "~~~") and "`" not in behind
        if bare.startswith(fence) if fence else opens:
            yield bool(fence), lines
            fence, lines = ("", [behind]) if fence else (bare[:3], [])
        elif bare or fence:
            lines.append(line)
        else:
            yield False, lines
            lines = []
    yield bool(fence), lines


def _unsigned(line: str) -> str:
    """Return a line without its indent and the signs of a prompt, a list or a quotation that it begins with."""
    bare = line.strip()
    for _ in range(MOST_SIGNS):
        sign, _, behind = bare.partition(" ")
        if sign not in _SIGNS and not (sign[:-1].isdigit() and sign[-1] in ".)"):
            break
        bare = behind.lstrip()
    return bare


def _quoted(lines: Iterable[str]) -> Iterator[str]:
    """Yield what stands between back quotes in a paragraph; between any two where one of them is a mark of no code."""
    paragraph = "\0".join(lines)
    marks = sum(is_mark for is_mark, _ in groupby(paragraph, "`".__eq__))
    codes = paragraph.split("`")[1:-1] if marks % 2 else codes_in(paragraph)
    for piece in (piece for code in codes for piece in code.split("`")):
        # Over two lines it may be one command or two.
        yield from (_unsigned(piece.replace("\0", " ")), piece.replace("\0", "\n"))


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
