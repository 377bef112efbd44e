"""`link` and `links`: what belongs to what."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.model import Relation


def link(
    from_id: Annotated[
        str, options.argument("FROM", "The id of the memory that refers to the other.")
    ],
    to_id: Annotated[str, options.argument("TO", "The id of the other memory.")],
    relation: Annotated[
        Relation | None,
        typer.Option(
            case_sensitive=False,
            help="What FROM is to TO; relates_to without it. With supersedes, TO gives way.",
        ),
    ] = None,
    remove: Annotated[
        bool, options.switch("Remove the link; all from FROM to TO without --relation.", "--remove")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Link one memory to another, or remove their link. Ids may be shortened."""
    where = {**asking.everywhere(), "from": from_id}
    answer = asking.ask("link", where, to=to_id, relation=relation, remove=remove)
    output.answer(answer, as_json, lambda answer: _say(answer, remove))


def _say(answer: Row, removed: bool) -> None:
    if removed:
        output.say(f"Removed {answer.text('removed')}.")
    else:
        ends = [answer.text(end)[: output.ID_CHARS] for end in ("from", "to")]
        output.say(f"{ends[0]} {answer.text('relation')} {ends[1]}")


def links(memory_id: options.MemoryId, as_json: options.Json = False) -> None:
    """Show what a memory is linked to."""
    output.answer(asking.ask("links", asking.everywhere(), id=memory_id), as_json, _show)


def _show(answer: Row) -> None:
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
