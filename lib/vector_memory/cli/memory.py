"""What is shown of memories: a list of them, and of one it whole, what it was before, what it is linked to."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row

HEAD = (
    "id", "kind", "state", "sensitivity", "jurisdiction", "created_at", "project", "priority", "tags", "origin", "external_id", "tier", "temporal",
    "due_on", "every", "valid_from", "valid_until", "expires_at", "last_used_at", "refuted_on", "outdated_on",
    "edited_on",
)  # fmt: skip


def show_list(answer: Row, offset: int) -> None:
    """Print memories and which of all of them these are."""
    output.unopened(answer)
    memories = answer.rows("memories")
    total = answer.count("total")
    nothing = output.beyond(offset, total) or "No memories."
    if output.listing(memories, output.MEMORY, nothing):
        output.say(f"{offset + 1} to {offset + len(memories)} of {total}")


def show(answer: Row) -> None:
    """Print a memory with its source."""
    memory = answer.row("memory")
    for name in HEAD:
        words = ", ".join(memory.texts(name)) or memory.text(name)
        if name == "project":
            words = output.project_name(memory)
        _line(name, words)
    if (status := memory.text("status")) == "superseded":
        _line("status", f"{status}: `vector-memory history {memory.id}` shows what holds now")
    if half_life := memory.number("half_life_days"):
        _line("half-life", f"{half_life:g} days")
    _line("confidence", f"{memory.number('confidence'):.2f}")
    if asks := memory.row("proposed"):
        weight = ", ".join(
            f"{name} {value}" for name, value in asks.items() if name not in ("held", "imported")
        )
        _line("proposed", f"{weight}; waits for `vector-memory review`")
    if suspicion := memory.row("suspicious"):
        held_note = "; held back from sessions" if suspicion.flag("held_back") else ""
        _line("suspicious", f"{', '.join(suspicion.texts('reasons'))}{held_note}")
    _line("shared by", memory.row("author").text("name"))
    _line("comes when", ", ".join(memory.texts("triggers")))
    _line("source", source(memory.row("source")))
    output.say("\n" + output.plain(memory.text("text")))


def _line(name: str, words: str) -> None:
    if words:
        output.say(f"{name:12} {output.plain(words)}")


def source(source: Row) -> str:
    """Return where a memory comes from: a file and its lines, else a session; "" if unknown."""
    path, start, end = source.text("path"), source.count("line_start"), source.count("line_end")
    if not path:
        session = source.text("session")
        return session and f"session {session}"
    lines = f":{start}" + (f"-{end}" if end and end != start else "") if start else ""
    return f"{path}{lines}"


def show_history(answer: Row) -> None:
    """Print memories that gave way to one another, the oldest first."""
    for stage in answer.rows("chain"):
        until = stage.day("until") or "now"
        reason = f" ({output.one_line(stage.text('reason'))})" if stage.text("reason") else ""
        output.say(f"{stage.id}  {stage.day('from')} to {until}  {stage.line()}{reason}")
    if summary := answer.text("summary"):
        output.say(output.plain(summary))


def show_verdict(answer: Row, verdict: str) -> None:
    """Print what was said of which memory."""
    output.say(f"{verdict} {answer.row('memory').text('id')}")


def show_link(answer: Row, remove: bool) -> None:
    """Print which link was made, or how many were removed."""
    if remove:
        output.say(f"Removed {answer.text('removed')}.")
    else:
        ends = [answer.text(name)[: output.ID_CHARS] for name in ("from", "to")]
        output.say(f"{ends[0]} {answer.text('relation')} {ends[1]}")


def show_links(answer: Row) -> None:
    """Print what a memory is linked to."""
    if links := answer.rows("links"):
        output.listing(links, LINK)
    else:
        output.note("Nothing is linked to it.")


def _relation(link: Row) -> str:
    return f"{'→' if link.text('direction') == 'out' else '←'} {link.text('relation')}"


LINK: dict[str, output.Cell] = {
    "relation": _relation,
    "id": lambda link: link.row("other").id,
    "date": lambda link: link.row("other").day(),
    "status": lambda link: link.row("other").text("status"),
    "text": lambda link: link.row("other").line(),
}
