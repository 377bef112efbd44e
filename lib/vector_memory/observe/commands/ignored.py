"""Whether git ignores what a command deletes, as the project's `.gitignore` files say: no process is started for it.

What is tracked although it is ignored, and what `.git/info/exclude` says, is not known.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache

from vector_memory.observe.commands.findings import CallSite as Surroundings

MOST_LINES = 500
MOST_PATHS = 16
"""Paths of one command line that are looked up: each is held against every line, at every depth."""
ANY_DEPTH = "**"
Rule = tuple[bool, tuple[str, ...]]
"""Whether a line of a `.gitignore` keeps what fits it (`!`), and the forms of the names in a path, in order."""


@dataclass
class IgnoredPaths:
    """What git ignores of the paths that one command line names."""

    site: Surroundings
    _known: dict[str, bool] = field(default_factory=dict)
    _rules: dict[str, list[Rule]] = field(default_factory=dict)

    def has(self, path: str) -> bool:
        """Whether git ignores what lies at an absolute path of the project, or a folder that it lies in. After
        `MOST_PATHS` paths no other is looked up: False."""
        if path not in self._known and len(self._known) < MOST_PATHS:
            names = (self.site.within(path) or ".").split("/")
            depths = range(1, len(names) + 1)
            self._known[path] = any(self._is_excluded(names[:depth]) for depth in depths)
        return self._known.get(path, False)

    def _is_excluded(self, names: Sequence[str]) -> bool:
        """Whether the line that decides on a path has it ignored: the last that fits it, in the folder nearest to it."""
        for depth in reversed(range(len(names))):
            for is_kept, forms in reversed(self._rules_of("/".join(names[:depth]))):
                if _fits(names[depth:], forms):
                    return not is_kept
        return False

    def _rules_of(self, folder: str) -> list[Rule]:
        if folder not in self._rules:
            text = self.site.text_of(posixpath.join(self.site.root, folder, ".gitignore"))
            lines = map(str.strip, text.splitlines()[:MOST_LINES])
            entries = ((line[:1] == "!", line) for line in lines if line[:1] not in ("", "#"))
            self._rules[folder] = [
                (is_kept, tuple(_forms(line[is_kept:]))) for is_kept, line in entries
            ]
        return self._rules[folder]


def _forms(pattern: str) -> Iterator[str]:
    """Yield the forms of the names in a path, in order: one name alone may lie at any depth."""
    forms = pattern.rstrip("/").split("/")
    if len(forms) == 1:
        yield ANY_DEPTH
    yield from forms[forms[0] == "" :]


def _fits(names: Sequence[str], forms: Sequence[str]) -> bool:
    if forms[0] == ANY_DEPTH and len(forms) == 2:
        return bool(_matcher(forms[1])(names[-1]))
    places = {0}
    for form in forms:
        if form == ANY_DEPTH:
            places = set(range(min(places), len(names) + 1))
        else:
            matches = _matcher(form)
            places = {place + 1 for place in places if place < len(names) and matches(names[place])}
            if not places:
                return False
    return len(names) in places


@lru_cache(maxsize=4 * MOST_LINES)
def _matcher(form: str) -> Callable[[str], object]:
    is_pattern = any(sign in form for sign in "*?[")
    return re.compile(translate(form)).match if is_pattern else form.__eq__
