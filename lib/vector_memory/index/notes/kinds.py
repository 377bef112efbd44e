"""What kind of memory a piece of somebody's notes is."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from vector_memory.index.notes.markdown import STEPS, Block
from vector_memory.model import CONTEXT, DECISION, PREFERENCE, PROCEDURE, QUESTION, TODO
from vector_memory.text.headings import names_what_is_open
from vector_memory.text.patterns import PatternTable
from vector_memory.text.words import words_in

MAX_CHARS = 2_000

_SHELLS = frozenset(
    ["sh", "bash", "zsh", "fish", "shell", "console", "shell-session", "powershell"]
)
_HEADING = re.compile(
    rf"^(?:(?P<{DECISION}>(?:the )?decisions?(?: outcomes?| made)?)"
    rf"|(?P<{TODO}>backlog)"
    rf"|(?P<{QUESTION}>(?:open|unanswered|pending) questions?|questions)"
    rf"|(?P<{PREFERENCE}>(?:\w+ )?preferences|(?:\w+ )?conventions|(?:house )?rules|style))$",
    re.IGNORECASE,
)
_TABLE = PatternTable("note_phrases", os.path.dirname(__file__))
"""What says that a note is of a kind, below the kind's name."""


def suggest(block: Block) -> str:
    """Return the kind that a block most likely is: what its form says, then its own words, then its
    heading."""
    text = block.text[:MAX_CHARS]
    if block.checked is not None or words_in(text[:8])[:1] in (["todo"], ["fixme"]):
        return TODO
    if block.kind == STEPS:
        return PROCEDURE
    if text.endswith("?"):
        return QUESTION
    # "We use:" and "Always:" say of each item below what it is.
    sentence = " ".join((*block.context[-1:], text))[:MAX_CHARS]
    if kinds := _TABLE.found(sentence):
        return kinds[0]
    if block.code and runs(block.code, block.language):
        return PROCEDURE
    return of_headings(block.headings) or CONTEXT


def of_headings(headings: Sequence[str]) -> str:
    """Return the kind that the nearest telling heading names, "" without one."""
    return next(filter(None, map(_heading_kind, reversed(headings))), "")


def _heading_kind(heading: str) -> str:
    match = _HEADING.search(heading.strip(" :."))
    return TODO if names_what_is_open(heading) else str(match.lastgroup) if match else ""


def runs(code: str, language: str) -> bool:
    """Whether code is commands for a shell."""
    return language in _SHELLS or code.lstrip().startswith("$ ")
