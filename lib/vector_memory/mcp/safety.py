"""Tools that check the memory itself, and one that takes in what is no text."""

from __future__ import annotations

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.storing import new_id
from vector_memory.mcp.telling import Json, say, short, spoken
from vector_memory.mcp.tool import tool


@tool(
    "formal_verify",
    "properties all_projects project",
    "holds:yes! properties:array! stores:array! checked_at version",
    "reads",
)
def formal_verify(asker: Asker, arguments: Json) -> Json:
    """Check named invariants over every row of the store, and say over which digest. Use when memory seems
    inconsistent, or before and after a large change."""
    answer, _ = asker.ask_long("formal_verify", arguments)
    told: Json = spoken(answer)
    return told


@tool(
    "multimodal_input",
    "path! media content dry_run project",
    "kind! form path sha256! text! parts:array arrows:array dry_run:yes! changed:yes id",
    "repeats",
)
def multimodal_input(asker: Asker, arguments: Json) -> Json:
    """Read a diagram (Mermaid, DOT, PlantUML, SVG, draw.io, or in Markdown), or take your words for a picture or a
    recording; with dry_run false keep it as a memory that names the file and its digest."""
    answer = asker.ask("multimodal_input", arguments, id=new_id(), session=asker.session)
    # What stands in a file is its author's word.
    told: Json = spoken(answer, foreign=not arguments.get("text"))
    memory = told.pop("memory", None)
    told |= {"path": say(answer["path"]), "earlier": short(answer["earlier"])}
    return {**told, "id": short(memory["id"])} if memory else told


TOOLS = (formal_verify, multimodal_input)
