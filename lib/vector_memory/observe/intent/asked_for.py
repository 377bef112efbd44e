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
_DENIALS = tables.patterns("denials", _FOLDER)
_CLAUSE_END = re.compile(r"[:，、；：]|,(?!\s*(?:bitte\s+)?nicht\W*$)|\s(?:sondern|sino)\s")
"""A comma before "bitte nicht" alone ends none."""
MOST_BEFORE = 80
"""Characters of a clause before a command, in which it may be denied."""
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
        for part in prompt[:4_000].lower().split(" but ")
        for sentence in clauses_in(part, ".!?;")
    )
    return verbs is not None and any(
        any(not _is_denied(sentence, *verb.span()) for verb in verbs.finditer(sentence))
        and not _is_negated(sentence)
        and (found.category in _BARE or any(name in sentence for name in names))
        for sentence in sentences
    )


def _is_negated(sentence: str) -> bool:
    words = (word.strip(_AROUND) for word in sentence.replace("\u2019", "'").split())
    said = f" {' '.join(words)} "
    return any(f" {denial} " in said for denial in _NEGATED)


def _is_denied(sentence: str, start: int, end: int) -> bool:
    """Whether a command there is denied in another language, within its clause: others may have a "not" of their own."""
    before, after = _CLAUSE_END.split(sentence[:start])[-1], _CLAUSE_END.split(sentence[end:])[0]
    denied = _DENIALS["before"].search(before[-MOST_BEFORE:]) or _DENIALS["after"].search(after)
    return denied is not None
