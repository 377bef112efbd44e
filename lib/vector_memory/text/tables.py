"""Tables of words, which stand in files of `data/` beside the code: one entry a line, `#` begins a line
that explains. Standard library only, Python 3.9: hooks read the stop words.
"""

import os
import re

from vector_memory.system.paths import PACKAGE_ROOT

FOLDER = os.path.join(PACKAGE_ROOT, "data")


def lines(name: str, folder: str = FOLDER) -> "list[str]":
    """Return the entries of a table in the order of its file.

    Args:
        name: the file's name, without its ending.
        folder: where it lies; `data/` holds words, rules lie beside the code that knows how to read them.
    """
    with open(os.path.join(folder, name + ".txt"), encoding="utf-8") as file:
        entries = (line.strip() for line in file)
        return [entry for entry in entries if entry and not entry.startswith("# ")]


def words(name: str) -> "frozenset[str]":
    """Return the entries of a table as a set."""
    return frozenset(lines(name))


def sections(name: str, folder: str = FOLDER) -> "dict[str, list[str]]":
    """Return the entries of a table in parts, each below its name in brackets."""
    parts: dict[str, list[str]] = {}
    for line in lines(name, folder):
        title = line[1:-1]
        if line == f"[{title}]" and title.replace("_", "").replace(" ", "").isalpha():
            entries = parts.setdefault(title, [])
        else:
            entries.append(line)
    return parts


def sets(name: str, folder: str = FOLDER) -> "dict[str, frozenset[str]]":
    """Return the words of a table's parts, of which a line may hold several."""
    parts = sections(name, folder).items()
    return {title: frozenset(" ".join(words).split()) for title, words in parts}


def groups(name: str, folder: str = FOLDER) -> "dict[str, list[str]]":
    """Return what a table says of each name, in lines `name: word word`, or `name: some words; others`; a name may
    stand several times."""
    values_by_name: dict[str, list[str]] = {}
    for line in lines(name, folder):
        key, _, values = line.partition(": ")
        values_by_name.setdefault(key, []).extend(values.split("; " if "; " in values else None))
    return values_by_name


def patterns(name: str, folder: str, flags: int = re.IGNORECASE) -> "dict[str, re.Pattern[str]]":
    """Return an expression for each part of a table beside the code that reads it, that finds any of its entries."""
    return {
        title: re.compile("|".join(phrases), flags)
        for title, phrases in sections(name, folder).items()
    }


def pairs(name: str, folder: str = FOLDER) -> "dict[str, str]":
    """Return the entries of a table whose lines are `name | words`, by name, in the order of the file."""
    return dict(entry.split(" | ", 1) for entry in lines(name, folder))
