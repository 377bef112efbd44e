"""`link` and `links`: what belongs to what."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row


def show_link(answer: Row, remove: bool) -> None:
    """Print which link was made, or how many were removed."""
    if remove:
        output.say(f"Removed {answer.text('removed')}.")
    else:
        ends = [answer.text(end)[: output.ID_CHARS] for end in ("from", "to")]
        output.say(f"{ends[0]} {answer.text('relation')} {ends[1]}")


def show_links(answer: Row) -> None:
    """Print what a memory is linked to."""
    if links := answer.rows("links"):
        output.listing(links, COLUMNS)
    else:
        output.note("Nothing is linked to it.")


def _relation(link: Row) -> str:
    return f"{'→' if link.text('direction') == 'out' else '←'} {link.text('relation')}"


COLUMNS: dict[str, output.Cell] = {
    "relation": _relation,
    "id": lambda link: link.row("other").id,
    "date": lambda link: link.row("other").day(),
    "status": lambda link: link.row("other").text("status"),
    "text": lambda link: link.row("other").line(),
}
