"""Tools that check the memory itself, and one that takes in what is no text."""

from __future__ import annotations

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.storing import new_id
from vector_memory.mcp.telling import Json, Telling, say, short, spoken
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
    """Read a diagram (Mermaid, DOT, PlantUML, SVG, draw.io), or take your words for a picture or recording; with
    dry_run false keep it as a memory that names the file and its digest."""
    answer = asker.ask("multimodal_input", arguments, id=new_id(), session=asker.session)
    # What stands in a file is its author's word.
    told: Json = spoken(answer, foreign=not arguments.get("text"))
    memory = told.pop("memory", None)
    told |= {"path": say(answer["path"]), "earlier": short(answer["earlier"])}
    return {**told, "id": short(memory["id"])} if memory else told


@tool(
    "digital_twin",
    "scenario settings limit project",
    "scenario! summary! can_try:object! replayed:count! differ:count! lost:array gained:array promote",
    "reads",
)
def digital_twin(asker: Asker, arguments: Json) -> Json:
    """Try a change on a copy: what would prompts of earlier sessions get? Without arguments it says what it can
    try. Use before a setting is changed or much is forgotten or merged."""
    asked = {name: value for name, value in arguments.items() if name != "limit"}
    answer, _ = asker.ask_long("digital_twin", asked, n=arguments.get("limit"))
    telling = Telling(asker.shown)
    notes = {
        name: telling.memories(answer.pop(name, None) or [], 80) for name in ("lost", "gained")
    }
    told: Json = spoken(answer)
    return {**told, **notes, **telling.held()}


@tool(
    "red_team",
    "campaign categories",
    "summary! probes:count! findings:array! categories:array! runs:array",
    "repeats",
)
def red_team(asker: Asker, arguments: Json) -> Json:
    """Attack an empty installation of this memory through its real hooks, and tell what got through; report tells
    the last run, trend all. Use after an update or a change of settings."""
    answer, _ = asker.ask_long("red_team", arguments)
    told: Json = spoken(answer)
    return told


TOOLS = (formal_verify, digital_twin, red_team, multimodal_input)
