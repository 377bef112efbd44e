"""`remember`: store one memory."""

from __future__ import annotations

from collections.abc import Iterator

from vector_memory.cli import output
from vector_memory.cli.answers import Row

ACTIONS = {
    "stored": "Stored",
    "merged": "Already known, merged with",
    "superseded": "Stored; it replaces an older memory:",
    "linked": "Stored, linked to what is like it:",
    "proposed": "Waits for the user (`vector-memory review`):",
}


def show(answer: Row) -> None:
    """Print what became of a memory."""
    action = answer.text("action", "stored")
    output.say(f"{ACTIONS.get(action, action)} {answer.text('id')}")
    if count := answer.count("redactions"):
        output.note(f"{count} secret{'s' if count > 1 else ''} left out.")
    if due := answer.text("due_on"):
        output.note(f"Due {due}.")
    for line in (*_level(answer), *raised_with(answer), *_notes(answer)):
        output.note(line)


def _level(answer: Row) -> Iterator[str]:
    """Yield who may see a memory and whose law it is kept under, where that is not as usual: a rule may say so."""
    law = answer.text("jurisdiction")
    marks = (answer.text("sensitivity"), law and f"under the law of {law}")
    if marks_text := " and ".join(filter(None, marks)):
        yield f"It is {marks_text}."


def raised_with(answer: Row) -> Iterator[str]:
    """Yield what became as sensitive as a memory, since it tells its words."""
    for memory in answer.rows("raised"):
        kind = memory.text("kind")
        yield f"As sensitive now, since it tells the same: {memory.id} ({kind}) {memory.line('text', 100)}"


def _notes(answer: Row) -> Iterator[str]:
    """Yield what the memory is to others, and what would settle it."""
    for link in answer.rows("links"):
        reason = link.text("reason")
        why = f" ({reason})" if reason else ""
        yield f"{link.text('relation')} {link.id}{why}: {link.line('text', 100)}"
    if suggestion := answer.row("suggestion"):
        yield f"If it replaces the older one: {suggestion.text('if_replaced')}"
        yield f"If both hold: {suggestion.text('if_both_hold')}"
    neighbours = list(answer.rows("near"))
    for neighbour in neighbours:
        yield f"Near it: {neighbour.id}: {neighbour.line('text', 100)}"
    if neighbours:
        yield f"If that holds no more: vector-memory link {answer.id} {neighbours[0].id} --relation supersedes"
    if priority := answer.text("suggested_priority"):
        yield f"It looks {priority}: vector-memory edit {answer.id} --priority {priority}"
