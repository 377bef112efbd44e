"""`link` and `links`: what belongs to what."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json
from vector_memory.model import Relation


def link(
    from_id: Annotated[
        str, typer.Argument(metavar="FROM", help="The id of the memory that refers to the other.")
    ],
    to_id: Annotated[str, typer.Argument(metavar="TO", help="The id of the other memory.")],
    relation: Annotated[
        Relation | None,
        typer.Option(
            case_sensitive=False,
            help="What FROM is to TO; relates_to without it. With supersedes, TO gives way.",
        ),
    ] = None,
    remove: Annotated[
        bool,
        typer.Option("--remove", help="Remove the link; all from FROM to TO without --relation."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Link one memory to another, or remove their link. Ids may be shortened."""
    payload = {
        **asking.target(all_projects=True),
        "from": from_id,
        "to": to_id,
        "relation": relation.value if relation else None,
        "remove": remove,
    }
    answer = asking.ask("link", payload)
    if as_json:
        output.document(answer)
    elif remove:
        output.say(f"Removed {answer['removed']}.")
    else:
        ends = [str(answer[end])[: output.ID_CHARS] for end in ("from", "to")]
        output.say(f"{ends[0]} {answer['relation']} {ends[1]}")


def links(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, or how it begins.")
    ],
    as_json: Json = False,
) -> None:
    """Show what a memory is linked to."""
    answer = asking.ask("links", {**asking.target(all_projects=True), "id": memory_id})
    if as_json:
        output.document(answer)
        return
    if not answer["links"]:
        output.note("Nothing is linked to it.")
        return
    output.table(
        ("relation", "id", "date", "status", "text"), [_row(one) for one in answer["links"]]
    )


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    other = one["other"]
    return (
        f"{'→' if one['direction'] == 'out' else '←'} {one['relation']}",
        str(other["id"])[: output.ID_CHARS],
        output.day(other["created_at"]),
        str(other["status"]),
        output.one_line(str(other["text"])),
    )
