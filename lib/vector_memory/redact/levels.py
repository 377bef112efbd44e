"""How sensitive a text is, and under whose law it is kept, by the rules of CLAUDE.md: under a heading about
sensitivity or jurisdiction a line names a level, or one of `model.JURISDICTIONS`, and what has it.

    ## Sensitivity
    - confidential: src/payroll/**, salaries
    - restricted: Project Heron
    - EU: src/customers/**

What has a `/` or a `*` is a path, all else words. A rule only ever raises a level, and takes nothing from under a law."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from vector_memory.model import JURISDICTIONS, Memory, Sensitivity, strictest
from vector_memory.redact import policy
from vector_memory.system.files import read_text
from vector_memory.text.headings import lines_below
from vector_memory.text.words import words_in

_ABOUT = frozenset(("sensitivity", "classification", "jurisdiction"))
_LEVELS = ("internal", "confidential", "restricted")
_BEFORE_MARK = " \t-+*_`"
_MARKS = " \t\"'`*_."
MOST_RULES = 200


class LevelRule(NamedTuple):
    """What a file says is of a level, or under a law (`mark`): a `path` pattern, or `words` where that is ""."""

    mark: str
    path: str
    words: str

    def holds(self, text: str, files: Iterable[str]) -> bool:
        """Whether a text, or one of the files that it is about, is meant."""
        if not self.path:
            return (
                re.search(rf"(?<!\w){re.escape(self.words)}(?!\w)", text, re.IGNORECASE) is not None
            )
        forms = (self.path, f"*/{self.path}")
        return any(fnmatchcase(file, form) for file in files for form in forms)


def raised(memory: Memory, more: Sequence[str] = ()) -> Memory:
    """Return a memory that is about to be stored as sensitive as the rules in force here make it, and under the law
    that the first one of them names, if it has none.

    Args:
        more: words and files that it keeps beside its text.
    """
    text = "\n".join((memory.title, memory.text, *memory.tags, *more))
    marks = [rule.mark for rule in active() if rule.holds(text, (*memory.files, *more))]
    level = strictest(
        memory.sensitivity, *(Sensitivity(mark) for mark in marks if mark not in JURISDICTIONS)
    )
    law = memory.jurisdiction or next((mark for mark in marks if mark in JURISDICTIONS), "")
    if (level, law) == (memory.sensitivity, memory.jurisdiction):
        return memory
    return replace(memory, sensitivity=level, jurisdiction=law)


def restricting() -> Callable[[object], bool]:
    """Return what says whether the rules in force here restrict any of the words and files in a value, see
    `strings_in`."""
    rules = [rule for rule in active() if rule.mark == Sensitivity.RESTRICTED]

    def restricts(value: object) -> bool:
        words = list(strings_in(value)) if rules else []
        return any(rule.holds("\n".join(words), words) for rule in rules)

    return restricts


def strings_in(value: object) -> Iterator[str]:
    """Yield the texts in a value of JSON's kinds, in their order; what a mapping's values are called, too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from strings_in([*value.keys(), *value.values()])
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings_in(item)


def active() -> Sequence[LevelRule]:
    """Return the rules in force here: the user's, and those of the project whose texts are cleaned."""
    return tuple(rule for file in policy.active_files() for rule in rules_of(*file))


def rules_of(path: str, root: str) -> Sequence[LevelRule]:
    """Return the rules of a file; `root` is the project's folder, "" for a file of the user's."""
    return _read(path, root, policy.stamp_of(path))


@lru_cache(maxsize=256)
def _read(path: str, root: str, stamp: tuple[int, int]) -> tuple[LevelRule, ...]:
    try:
        return tuple(parse(read_text(path, policy.MOST_BYTES, root))) if stamp[1] >= 0 else ()
    except OSError:
        return ()


def parse(markdown: str) -> list[LevelRule]:
    """Return the rules that a file holds, the first two hundred."""
    rules: list[LevelRule] = []
    for _, line, is_meant in lines_below(
        markdown, lambda title: not _ABOUT.isdisjoint(words_in(title))
    ):
        label, _, items = line.partition(":")
        mark = label.strip(_BEFORE_MARK)
        mark = mark if mark in JURISDICTIONS else mark.lower()
        if is_meant and mark in (*JURISDICTIONS, *_LEVELS):
            rules += [_rule(mark, item) for item in items.split(",") if item.strip(_MARKS)]
    return rules[:MOST_RULES]


def _rule(mark: str, item: str) -> LevelRule:
    if "/" in item or "*" in item:
        return LevelRule(mark, item.strip(" \t\"'`"), "")
    return LevelRule(mark, "", item.strip(_MARKS))
