"""Tables of words, which stand in files of `data/` beside the code: one entry a line, `#` begins a line
that explains. Standard library only, Python 3.9: hooks read the stop words.
"""

import os

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


def pairs(name: str, folder: str = FOLDER) -> "dict[str, str]":
    """Return the entries of a table whose lines are `name | words`, by name, in the order of the file."""
    return dict(entry.split(" | ", 1) for entry in lines(name, folder))
