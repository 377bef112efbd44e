"""What a session is for: what the user asked, the limits that he set, the rules that he pinned.

Only the user's own words make an objective: never what a tool, a file or the web said.
"""

from __future__ import annotations

import posixpath
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vector_memory.observe.intent import limits
from vector_memory.observe.intent.grammar import PATTERNS
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


def of_session(user_prompts: Sequence[str], standing: Sequence[Limit] = ()) -> Objectives:
    """Return the objectives of a session.

    Args:
        user_prompts: the oldest first.
        standing: the limits that rules, preferences and constraints of the user set in every session.
    """
    requests = [prompt for prompt in user_prompts if is_asking(prompt)]
    active_limits = list(standing)
    for prompt in user_prompts:
        active_limits = limits.after(active_limits, prompt[:MOST_CHARS])
    plain_texts = [" ".join(prompt[:MOST_CHARS].split("```")[::2]) for prompt in requests]
    return Objectives(
        " \u2026 ".join(
            dict.fromkeys(shortened(text) for text in [*plain_texts[:1], *plain_texts[-1:]])
        ),
        frozenset(term for text in plain_texts for term in terms_of(text)),
        _files(plain_texts),
        tuple(dict.fromkeys(active_limits)),
        any(PATTERNS["wide"].search(text) for text in plain_texts),
    )


def is_asking(prompt: str) -> bool:
    """Whether a prompt says what to do, rather than "yes" or "go on"."""
    return bool(prompt.strip()) and not prompts.Prompt(prompt).needs_nothing


def terms_of(text: str) -> frozenset[str]:
    """Return the stems of what a text is about."""
    terms = analysis.analyse(text)
    return frozenset(
        term for term in terms if len(term) > 2 and term not in _GENERIC and not term.isdigit()
    )


def _files(texts: Iterable[str]) -> tuple[str, ...]:
    files = (file.strip("./").lower() for text in texts for file in mentions(text).files)
    return tuple(dict.fromkeys(file for file in files if len(file) > 2))


def shortened(text: str) -> str:
    """Return the first sentence that says something, cut to a line."""
    parts = [part.strip() for part in clauses_in(text) if part.strip()]
    first_sentence = next((part for part in parts if len(part) > 12), "".join(parts[:1]))
    return textwrap.shorten(first_sentence, SHORT_CHARS, placeholder="\u2026")


def is_about(objectives: Objectives, path: str, text: str) -> bool:
    """Whether a path within the project, or words, have to do with what was asked."""
    inner = f"/{path.lower()}/"
    places = {place for file in objectives.files for place in (file, posixpath.dirname(file))}
    if any(place and f"/{place}/" in inner for place in places):
        return True
    terms = terms_of(path.replace("/", " ")) | terms_of(text)
    return not objectives.terms.isdisjoint(terms)
