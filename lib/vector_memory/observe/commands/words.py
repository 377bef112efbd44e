"""The words that judges look for, from the table `words.txt` beside this file."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator

from vector_memory.text import tables

HERE = os.path.dirname(__file__)
WORDS = {name: frozenset(words) for name, words in tables.groups("words", HERE).items()}
GLOBAL_OPTIONS = " ".join(
    option for option in tables.sets("command_words")["valued"] if option[:2] == "--"
)
"""Options that take a word of whatever program has them: short ones mean something else to each."""


def entries(table: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each program of each line of a table beside this file, and the line's other columns."""
    for entry in tables.lines(table, HERE):
        programs, *columns = entry.split("\t")
        for name in programs.split(","):
            for program in sorted(WORDS.get(name[1:], {name}) if name[0] == "*" else {name}):
                yield program, columns


_MADE_AGAIN = re.compile("|".join(map(fnmatch.translate, sorted(WORDS["made-again"]))))
"""A `*` stands for any letters. As one expression: it is asked of every name that a command line deletes."""


def is_like(group: str, text: str) -> bool:
    """Whether a text has one of the forms of a group; a `*` stands for any letters."""
    return any(fnmatch.fnmatchcase(text, form) for form in WORDS[group])


def is_name_made_again(name: str) -> bool:
    """Whether tools make again what has this name, in whatever folder it lies."""
    return bool(_MADE_AGAIN.match(name) or _MADE_AGAIN.match(name.rstrip("*")))
