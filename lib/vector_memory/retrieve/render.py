"""Hits as notes for the model: dated, sourced, most useful first, within a budget of tokens."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from vector_memory import injection
from vector_memory.model import Memory, Origin
from vector_memory.retrieve.search import Hit

FENCE_TOKENS = 80
"""What the two marks and the sentence between them take."""
LEAST_NOTE_TOKENS = 24
WORTH_TOKENS = 90
"""What a note needs at least, head included, to say something of a long memory."""
FIRST_SHARE = 0.4
"""The share of the budget that the best hit may take; the rest share what it leaves."""


def note(
    memory: Memory,
    project: str,
    budget: int,
    around: Sequence[str] = (),
    against: Sequence[Memory] = (),
) -> injection.Note:
    """Return one memory as the model sees it, its text cut to `budget` tokens around the words.

    Args:
        against: what is shown beside it and contradicts it.
    """
    line = head(memory, project) + "".join(_contradiction(memory, other) for other in against[:1])
    if memory.title and not _says(memory.text, memory.title):
        line += f" · {memory.title}"
    room = max(LEAST_NOTE_TOKENS, budget - injection.tokens(line))
    return injection.Note(memory.id, line, injection.cut(memory.text, room, list(around)))


def _contradiction(memory: Memory, other: Memory) -> str:
    """Return the words by which the reader sees which of two notes is the newer one."""
    age = "older" if memory.created_at > other.created_at else "newer"
    return f" · contradicts the {age} {other.id[:8]} of {other.created_at.date().isoformat()}"


def _says(text: str, title: str) -> bool:
    """Whether a text begins with its title anyway."""
    return title.rstrip(".… ") in text[: 3 * len(title) + 20]


def head(memory: Memory, project: str) -> str:
    """Return the first line: date, kind, project, whose words, and where to read on."""
    where = memory.id[:8]
    if memory.source.path and memory.source.line_start:
        name = os.path.basename(memory.source.path)
        where += f" {name}:{memory.source.line_start}"
        if memory.source.line_end > memory.source.line_start:
            where += f"-{memory.source.line_end}"
    # Whose words they are matters where they are not the user's own or a session's.
    origin = memory.origin.value if memory.origin in (Origin.TOOL, Origin.IMPORT) else ""
    date = memory.created_at.date().isoformat()
    return injection.head(date, memory.kind, project, where, origin)


def notes(
    hits: Sequence[Hit],
    budget: int,
    name_of: Callable[[str], str],
    around: Sequence[str] = (),
) -> list[injection.Note]:
    """Return the hits as notes that fit in `budget` tokens, best first; later ones are left out
    rather than cut to nothing.

    Args:
        name_of: a project's name by its id.
        around: the question's terms; long texts are cut around them.
    """
    left = budget - FENCE_TOKENS
    made: list[injection.Note] = []
    for place, hit in enumerate(hits):
        if left < LEAST_NOTE_TOKENS * 2:
            break
        share = _share(left, place, len(hits))
        one = note(hit.memory, name_of(hit.memory.project), share, around, hit.against)
        size = injection.tokens(one.head + one.text) + 4
        if size > left:
            continue
        made.append(one)
        left -= size
    return made


def _share(left: int, place: int, count: int) -> int:
    """Return the tokens for the hit at a place: a part of what is left, but so much that it says
    something, and everything where another would not fit."""
    share = int(left * FIRST_SHARE) if place == 0 else left // max(1, min(3, count) - place)
    share = max(WORTH_TOKENS, share)
    return left if place + 1 == count or left - share < WORTH_TOKENS else share
