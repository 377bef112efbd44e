"""`show`: one memory, whole."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json

HEAD = ("id", "kind", "created_at", "project", "priority", "tags", "origin", "external_id")


def show(
    memory_id: Annotated[
        str, typer.Argument(metavar="ID", help="The memory's id, or how it begins.")
    ],
    as_json: Json = False,
) -> None:
    """Show a memory with its source."""
    answer = asking.ask("get", {**asking.target(all_projects=True), "id": memory_id})
    if as_json:
        output.document(answer)
        return
    memory: dict[str, Any] = answer["memory"]
    for name in HEAD:
        value = memory.get(name)
        if name == "project":
            value = output.project_name(memory)
        if value:
            words = ", ".join(value) if isinstance(value, list) else str(value)
            output.say(f"{name:12} {output.plain(words)}")
    if asks := memory.get("proposed"):
        weight = ", ".join(f"{name} {value}" for name, value in asks.items() if name != "held")
        output.say(f"{'proposed':12} {weight}; waits for `vector-memory review`")
    if told := memory.get("suspicious"):
        held = "; held back from sessions" if told["held_back"] else ""
        output.say(f"{'suspicious':12} {', '.join(told['reasons'])}{held}")
    if place := source(memory):
        output.say(f"{'source':12} {output.plain(place)}")
    output.say("\n" + output.plain(str(memory.get("text", ""))))


def source(memory: dict[str, Any]) -> str:
    """Return where a memory comes from: a file and its lines, else a session; "" if unknown."""
    found = memory.get("source") or {}
    path, first, last = (found.get(name) for name in ("path", "line_start", "line_end"))
    if not path:
        return f"session {found['session']}" if found.get("session") else ""
    lines = f":{first}" + (f"-{last}" if last and last != first else "") if first else ""
    return f"{path}{lines}"
