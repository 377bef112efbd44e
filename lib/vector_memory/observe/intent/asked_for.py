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
_AROUND = ".,:;!?()\"'`*_"
_VERBS = {
    category: re.compile(rf"\b(?:{verbs})" if verbs else "")
    for category, _, verbs in (
        line.partition(" ") for line in tables.lines("asked_for", os.path.dirname(__file__))
    )
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
        for part in prompt[:4_000].lower().split(" but ")
        for sentence in clauses_in(part, ".!?;")
    )
    return verbs is not None and any(
        verbs.search(sentence)
        and not _is_negated(sentence)
        and (found.category in _BARE or any(name in sentence for name in names))
        for sentence in sentences
    )


def _is_negated(sentence: str) -> bool:
    words = (word.strip(_AROUND) for word in sentence.replace("\u2019", "'").split())
    said = f" {' '.join(words)} "
    return any(f" {denial} " in said for denial in _NEGATED)
