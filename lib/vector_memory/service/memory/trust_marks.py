"""What a text may count as, by who wrote it, and what is held back of it.

The user's words may bind: be a rule, a preference, an objective, something important. What tools and
others wrote informs and no more, whatever it or its file says of itself, until the user says so with
`edit`. What looks like instructions to the model is marked, and where it is plain no hook brings it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vector_memory.model import (
    CONTEXT,
    DEFAULT_COLLECTION,
    IMPORTANT,
    IS_FOREIGN,
    PROPOSED,
    REVIEWED,
    RULES,
    SUSPICION,
    Memory,
    Origin,
    Priority,
)
from vector_memory.redact import levels
from vector_memory.service.base import messages
from vector_memory.text import suspicion
from vector_memory.text.words import sentences_in

BINDING_COLLECTIONS = ("procedures", "heuristics", "learnings")
TRUST_MARKS = (SUSPICION, IS_FOREIGN, PROPOSED)
MARKS = (*TRUST_MARKS, REVIEWED)


def with_trust_marks(memory: Memory, raw: str = "", own: Iterable[str] = ()) -> Memory:
    """Return a memory that is about to be stored as what it may count as, marked where it is suspicious.

    Args:
        memory: as its source would have it; one that was looked at before keeps its mark.
        raw: the text as it came, where redaction took out what cannot be seen.
        own: texts of the user's of which it was made: what it repeats of them is not looked at.
    """
    memory = levels.raised(memory)
    if memory.origin is Origin.USER and not memory.suspicion:
        return memory
    if not memory.suspicion:
        is_others = memory.origin in (Origin.TOOL, Origin.IMPORT)
        # The title of what a session says is what the user asked for there.
        text = f"{memory.title}\n{memory.text}" if is_others else memory.text
        signs = suspicion.assess(_without_repeated(text, "\n".join(own)), raw)
        mark = suspicion.mark(signs, suspicion.HELD if is_others else suspicion.HELD_QUOTED)
        memory = replace(memory, extra={**memory.extra, **mark})
    return as_information(memory) if memory.is_foreign or memory.is_suspicious else memory


def _without_repeated(text: str, own: str) -> str:
    """Return a text without the sentences that it repeats of another one, also where one is cut short."""
    for sentence in filter(str.strip, sentences_in(own)):
        text = text.replace(sentence, " ")
    own_words = own.casefold()
    parts = (part for line in text.splitlines() for part in line.split(" · "))
    return "\n".join(
        part for part in parts if not own or part.rstrip("… .").casefold() not in own_words
    )


def as_information(memory: Memory) -> Memory:
    """Return a memory that binds nobody: no rule, and of no more than usual weight."""
    return replace(
        memory,
        kind=CONTEXT if memory.kind.strip().casefold() in RULES else memory.kind,
        priority=Priority.NORMAL if memory.priority in IMPORTANT else memory.priority,
        collection=(
            DEFAULT_COLLECTION if memory.collection in BINDING_COLLECTIONS else memory.collection
        ),
    )


def marks_of(memory: Memory, names: tuple[str, ...] = MARKS) -> dict[str, object]:
    """Return the marks in a memory's `extra`: they belong to its words."""
    return {name: memory.extra[name] for name in names if name in memory.extra}


def unmarked(extra: dict[str, object]) -> dict[str, object]:
    """Return an `extra` without marks."""
    return {name: value for name, value in extra.items() if name not in MARKS}


def released(memory: Memory) -> dict[str, object]:
    """Return a memory's `extra` as it is once the user has read the memory: hooks bring it again, without a
    warning."""
    mark = {name: value for name, value in memory.suspicion.items() if name != "held"}
    return {**memory.extra, SUSPICION: {**mark, "released": True}}


class SuspicionView(messages.Answer):
    """Why a memory looks like instructions to the model, how much (`score`), and whether hooks hold it back."""

    score: float | None
    reasons: list[str]
    held_back: bool


def warning(memory: Memory) -> dict[str, object]:
    """Return `proposed` and `suspicious`, as views of a memory tell them: of one that waits for the user the
    first, of one that is suspicious the second, {} of any other."""
    marks: dict[str, object] = {"proposed": memory.proposed} if memory.proposed else {}
    if memory.is_suspicious:
        doubt = memory.suspicion
        reasons = [str(reason) for reason in doubt.get("reasons") or ()]
        marks["suspicious"] = SuspicionView(doubt.get("score"), reasons, memory.is_held)
    return marks
