"""Whether the user asked for just what was found: who says "delete the old folder" need not be warned."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from vector_memory.observe.commands.findings import (
    DISCARD,
    FORCE_PUSH,
    GUARDED,
    HISTORY,
    PERMISSIONS,
    Finding,
)
from vector_memory.text import tables
from vector_memory.text.words import clauses_in

MOST_PROMPTS = 4
_NEGATED = (
    "don't", "dont", "do not", "never", "without", "avoid", "must not", "shouldn't", "shouldnt", "no",
)  # fmt: skip
_FOLDER = os.path.dirname(__file__)
_DENIALS = tables.sets("denials", _FOLDER)
_BUT = re.compile(r" (?:but|aber|sondern|mais|pero|sino|mas|ma|maar|но|ama) ")
MOST_AFTER = 3
"""Words of the next clause at most that may deny a command: "terraform destroy, bitte nicht"."""
_AROUND = ".,:;!?()\"'`*_"
_VERBS = {
    category: re.compile(rf"\b(?:{verbs})" if verbs else "")
    for category, _, verbs in (line.partition(" ") for line in tables.lines("asked_for", _FOLDER))
}
_BARE = frozenset({FORCE_PUSH, HISTORY, DISCARD, PERMISSIONS, GUARDED})
"""What is asked for without naming its target."""


def is_asked(found: Finding, said: Sequence[str]) -> bool:
    """Whether one of the last prompts asks for what was found, by a verb for it and the target's name."""
    verbs = _VERBS.get(found.category)
    names = re.findall(r"[a-z][\w.-]{2,}", found.target.rsplit("/", 1)[-1].lower())
    sentences = (
        sentence
        for prompt in said[-MOST_PROMPTS:]
        for part in _BUT.split(prompt[:4_000].lower())
        for sentence in clauses_in(part, ".!?;")
    )
    return verbs is not None and any(
        any(not _is_denied(sentence, verb.end()) for verb in verbs.finditer(sentence))
        and not _is_negated(sentence)
        and (found.category in _BARE or any(name in sentence for name in names))
        for sentence in sentences
    )


def _is_negated(sentence: str) -> bool:
    said = f" {' '.join(_words(sentence))} "
    return any(f" {denial} " in said for denial in _NEGATED)


def _is_denied(sentence: str, end: int) -> bool:
    """Whether a command that ends there is denied in another language: before it, or in its clause; a reason that
    follows may well have a "not" of its own."""
    clause, *after = sentence[end:].split(",")
    near = sentence[:end] + clause
    if after and len(after[0].split()) <= MOST_AFTER:
        near += f" {after[0]}"
    said = not _DENIALS["words"].isdisjoint(_words(near))
    return said or any(part in near for part in _DENIALS["parts"])


def _words(text: str) -> list[str]:
    return [word.strip(_AROUND) for word in text.replace("\u2019", "'").split()]
