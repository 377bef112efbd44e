"""`history`: what a memory was before, and what it is now."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json


def history(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="A memory's id, or how it begins.")
    ],
    as_json: Json = False,
) -> None:
    """Show the memories that gave way to one another, the oldest first."""
    answer = asking.ask("history", {**asking.target(all_projects=True), "id": memory_id})
    if as_json:
        output.document(answer)
        return
    for one in answer["chain"]:
        until = output.day(one["until"]) if one["until"] else "now"
        head = f"{one['id'][: output.ID_CHARS]}  {output.day(one['from'])} to {until}"
        reason = f" ({output.one_line(one['reason'])})" if one.get("reason") else ""
        output.say(f"{head}  {output.one_line(one['text'])}{reason}")
