"""What a prompt is, before anything is searched: whether it needs a memory at all, and whether it
points back at what was just said. Standard library only (the cold path asks, on Python 3.9)."""

import re

from vector_memory.text import analysis, tables

_ACKNOWLEDGEMENT = tables.words("acknowledgements")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
_POINTING = re.compile(
    r"\b(that|this|it|these|those|they|them|there|above|previous(?:ly)?|earlier|again|same|"
    r"before|just now|last one)\b",
    re.IGNORECASE,
)
_REMEMBER = re.compile(r"/(?:vector-memory:)?remember\s(.+)", re.DOTALL)


def needs_nothing(prompt: str) -> bool:
    """Whether a prompt can do without memory: slash commands, shell escapes, acknowledgements."""
    text = prompt.strip()
    if not text or text[0] in "/!#":
        return True
    words = [word.lower() for word in _WORD.findall(text)]
    if not words:
        return True
    return len(words) <= 8 and all(word in _ACKNOWLEDGEMENT for word in words)


def asked_of_memory(prompt: str) -> str:
    """Return the question of `/remember QUESTION`, "" for any other prompt."""
    found = _REMEMBER.match(prompt.strip())
    return found[1].strip() if found else ""


def points_back(prompt: str) -> bool:
    """Whether a prompt is short and leans on what was said before ("why did that fail?")."""
    terms = analysis.query_terms(prompt)
    return len(terms) <= 2 or (len(terms) <= 5 and bool(_POINTING.search(prompt)))
