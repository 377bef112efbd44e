"""Whether git ignores what a command deletes, as the project's `.gitignore` files say: no process is started for it.

What is tracked although it is ignored, and what `.git/info/exclude` says, is not known.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from vector_memory.observe.commands.findings import CommandSurroundings as Surroundings

MOST_LINES = 500
ANY_DEPTH = "**"


def is_ignored(path: str, around: Surroundings) -> bool:
    """Whether git ignores what lies at an absolute path of the project, or a folder that it lies in."""
    names = (around.within(path) or ".").split("/")
    return any(_is_told(names[:depth], around) for depth in range(1, len(names) + 1))


def _is_told(names: Sequence[str], around: Surroundings) -> bool:
    """Whether the last line that speaks of a path, in the folder nearest to it, has it ignored."""
    told = False
    for depth in range(len(names)):
        folder = posixpath.join(around.root, *names[:depth])
        for line in around.text_of(f"{folder}/.gitignore").splitlines()[:MOST_LINES]:
            pattern = line.strip()
            is_kept = pattern.startswith("!")
            if pattern[:1] not in ("", "#") and _fits(names[depth:], _forms(pattern[is_kept:])):
                told = not is_kept
    return told


def _forms(pattern: str) -> Iterator[str]:
    """Yield the forms of the names in a path, in order: one name alone may lie at any depth."""
    forms = pattern.rstrip("/").split("/")
    if len(forms) == 1:
        yield ANY_DEPTH
    yield from forms[forms[0] == "" :]


def _fits(names: Sequence[str], forms: Iterator[str]) -> bool:
    places = {0}
    for form in forms:
        if form == ANY_DEPTH and places:
            places = set(range(min(places), len(names) + 1))
        else:
            fitting = (at for at in places if at < len(names) and fnmatchcase(names[at], form))
            places = {at + 1 for at in fitting}
    return len(names) in places
