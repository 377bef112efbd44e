"""What a session is for: what the user asked, the limits that he set, the rules that he pinned.

Only the user's own words make an objective: never what a tool, a file or the web said.
"""

from __future__ import annotations

import posixpath
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vector_memory.observe.intent import limits
from vector_memory.observe.intent.grammar import SAYS
from vector_memory.observe.intent.limits import Limit
from vector_memory.text import analysis, prompts, tables
from vector_memory.text.mentions import mentions
from vector_memory.text.words import clauses_in

MOST_CHARS = 4_000
SHORT_CHARS = 140
LEAST_TERMS = 3
_GENERIC = frozenset(analysis.stem(word) for word in tables.words("words_of_tasks"))


@dataclass(frozen=True)
class Objectives:
    """What a session is for.

    Attributes:
        in_short: what was asked first, and last, in a line.
        terms: stems of what they are about, without what every task has.
        files: paths and names of files that they name, in small letters.
        limits: the limits that hold now.
    """

    in_short: str = ""
    terms: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()
    is_wide: bool = False
    """Whether something is asked for wherever it may be."""

    @property
    def is_specific(self) -> bool:
        """Whether enough is said to tell what has nothing to do with it."""
        if self.is_wide:
            return False
        return bool(self.files) or len(self.terms) >= LEAST_TERMS


def of_session(said: Sequence[str], standing: Sequence[Limit] = ()) -> Objectives:
    """Return the objectives of a session.

    Args:
        said: the user's prompts, the oldest first.
        standing: the limits that rules, preferences and constraints of the user set in every session.
    """
    asking = [one for one in said if is_asking(one)]
    held = list(standing)
    for prompt in said:
        held = limits.after(held, prompt[:MOST_CHARS])
    plain = [" ".join(one[:MOST_CHARS].split("```")[::2]) for one in asking]
    return Objectives(
        " \u2026 ".join(dict.fromkeys(shortened(one) for one in [*plain[:1], *plain[-1:]])),
        frozenset(term for one in plain for term in terms_of(one)),
        _files(plain),
        tuple(dict.fromkeys(held)),
        any(SAYS["wide"].search(one) for one in plain),
    )


def is_asking(prompt: str) -> bool:
    """Whether a prompt says what to do, rather than "yes" or "go on"."""
    return bool(prompt.strip()) and not prompts.Prompt(prompt).needs_nothing


def terms_of(text: str) -> frozenset[str]:
    """Return the stems of what a text is about."""
    found = analysis.analyse(text)
    return frozenset(
        one for one in found if len(one) > 2 and one not in _GENERIC and not one.isdigit()
    )


def _files(texts: Iterable[str]) -> tuple[str, ...]:
    named = (file.strip("./").lower() for text in texts for file in mentions(text).files)
    return tuple(dict.fromkeys(file for file in named if len(file) > 2))


def shortened(text: str) -> str:
    """Return the first sentence that says something, cut to a line."""
    parts = [one.strip() for one in clauses_in(text) if one.strip()]
    first = next((part for part in parts if len(part) > 12), "".join(parts[:1]))
    return textwrap.shorten(first, SHORT_CHARS, placeholder="\u2026")


def is_about(objectives: Objectives, path: str, text: str) -> bool:
    """Whether a path within the project, or words, have to do with what was asked."""
    inner = f"/{path.lower()}/"
    places = {place for file in objectives.files for place in (file, posixpath.dirname(file))}
    if any(place and f"/{place}/" in inner for place in places):
        return True
    found = terms_of(path.replace("/", " ")) | terms_of(text)
    return not objectives.terms.isdisjoint(found)
