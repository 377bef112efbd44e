"""`show`: one memory, whole."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row

HEAD = (
    "id", "kind", "created_at", "project", "priority", "tags", "origin", "external_id", "tier", "temporal",
    "due_on", "every", "valid_from", "valid_until", "expires_at", "last_used_at", "refuted_on",
)  # fmt: skip


def show(answer: Row) -> None:
    """Print a memory with its source."""
    memory = answer.row("memory")
    for name in HEAD:
        words = ", ".join(memory.texts(name)) or memory.text(name)
        if name == "project":
            words = output.project_name(memory)
        _line(name, words)
    if half_life := memory.number("half_life_days"):
        _line("half-life", f"{half_life:g} days")
    _line("confidence", f"{memory.number('confidence'):.2f}")
    if asks := memory.row("proposed").fields:
        weight = ", ".join(f"{name} {value}" for name, value in asks.items() if name != "held")
        _line("proposed", f"{weight}; waits for `vector-memory review`")
    if suspicion := memory.row("suspicious"):
        held = "; held back from sessions" if suspicion.flag("held_back") else ""
        _line("suspicious", f"{', '.join(suspicion.texts('reasons'))}{held}")
    _line("comes when", ", ".join(memory.texts("triggers")))
    _line("source", source(memory.row("source")))
    output.say("\n" + output.plain(memory.text("text")))


def _line(name: str, words: str) -> None:
    if words:
        output.say(f"{name:12} {output.plain(words)}")


def source(source: Row) -> str:
    """Return where a memory comes from: a file and its lines, else a session; "" if unknown."""
    path, first, last = source.text("path"), source.count("line_start"), source.count("line_end")
    if not path:
        session = source.text("session")
        return session and f"session {session}"
    lines = f":{first}" + (f"-{last}" if last and last != first else "") if first else ""
    return f"{path}{lines}"
