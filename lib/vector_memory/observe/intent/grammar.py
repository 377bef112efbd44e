"""The words that limits are made of, and the patterns of sentences with them (`data/limit_*.txt`, `grammar.txt`)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from vector_memory.text import tables

HERE = os.path.dirname(__file__)


def _forms(verb: str) -> set[str]:
    """Return a verb as it stands after "don't", "without" and "must not be"."""
    stem = verb.removesuffix("e")
    short = stem[:-1] if verb.endswith("y") else stem
    forms = {verb, verb + "s", verb + "es", stem + "ing", stem + "ed", verb + verb[-1] + "ing"}
    return forms | {verb + verb[-1] + "ed", short + "ies", short + "ied", short + "ten"}


ACTS = tables.groups("limit_acts")
THINGS = tables.groups("limit_things")
RUNS = tables.groups("limit_runs", HERE)
PLACES = tables.groups("limit_places")
ALIASES = {"spec": "tests", "specs": "tests", "test": "tests", "documentation": "docs", "lock file": "lockfile", "lock files": "lockfile", "ci config": "workflows", "ci pipeline": "workflows"}  # fmt: skip
LANGUAGES = tables.groups("limit_languages")
ALIASES |= {form: place for place in PLACES for form in (place.removesuffix("s"), place + "s")}
PLACES |= LANGUAGES
VERBS = {
    form.replace("-", " "): (act, verb.replace("-", " "))
    for act, verbs in reversed(ACTS.items())
    for verb in verbs
    for form in _forms(verb)
}
NOUNS = {noun.replace("-", " "): act for act, nouns in THINGS.items() for noun in nouns}


def _grammar() -> dict[str, str]:
    """Return the patterns of `grammar.txt` by their names, with what they are made of put in."""
    text = "\n".join(tables.lines("grammar", HERE)).replace("\n|", "|")
    patterns = {
        "verb": any_of(VERBS),
        "makes": any_of({*ACTS["edit"], *ACTS["create"], *ACTS["delete"], *ACTS["move"]}),
        "noun": any_of(NOUNS),
        "place": any_of({*PLACES, *ALIASES} - {*LANGUAGES}),
        "language": any_of(LANGUAGES),
        **{kind: _longest_first(words) for kind, words in tables.groups("limit_words").items()},
        "program": any_of(
            {
                *tables.groups("installers"),
                *(row.split()[0] for rows in RUNS.values() for row in rows),
            }
            - {"*"}
        ),
    }
    for name, pattern in (line.split(" = ", 1) for line in text.splitlines()):
        patterns[name] = re.sub(r"(?<!\?P)<(\w+)>", lambda match: patterns[match[1]], pattern)
    return patterns


def any_of(words: Iterable[str]) -> str:
    """Return a pattern for one of these words, the longest first."""
    return _longest_first(map(re.escape, words)).replace("\\ ", "[ -]")


def _longest_first(expressions: Iterable[str]) -> str:
    return "|".join(sorted(expressions, key=len, reverse=True))


class _Patterns(dict[str, re.Pattern[str]]):
    """Patterns by their names, each compiled when it is first asked for: a daemon's start waits for none."""

    def __missing__(self, name: str) -> re.Pattern[str]:
        self[name] = re.compile(_GRAMMAR[name])
        return self[name]


_GRAMMAR = _grammar()
PATTERNS = _Patterns()
VERB_CONTEXT = tables.patterns("denials", HERE)
"""What stands around the verb of a request."""


def warm() -> None:
    """Compile all patterns now: it takes a third of a second, for which the first call of a daemon would wait."""
    for name in _GRAMMAR:
        PATTERNS[name]
