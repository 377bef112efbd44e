"""The client's own memory of a project, which it loads itself: where it is and what it says. It is
the client's file; nothing here writes it."""

from __future__ import annotations

import re

MAX_CHARS = 200_000
MIN_CHARS = 8

_MARK = re.compile(r"^\s*(?:[#>]+|[-*+]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?")
_MARKUP = str.maketrans("", "", "*_`~")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_EDGES = " \t.,;:!?-–—\"'()[]"


def lines_known(text: str) -> set[str]:
    """Return the sentences of a text in the form of `normalised`; whole lines too, where they hold
    several. What is too short to tell anything is left out."""
    known: set[str] = set()
    for line in text[:MAX_CHARS].splitlines():
        bare = _MARK.sub("", line)
        for said in (bare, *_SENTENCE.split(bare)):
            sentence = normalised(said)
            if len(sentence) >= MIN_CHARS:
                known.add(sentence)
    return known


def normalised(sentence: str) -> str:
    """Return a sentence without markup, case, breaks and closing marks, to be compared."""
    return " ".join(_MARK.sub("", sentence).translate(_MARKUP).casefold().split()).strip(_EDGES)
