"""The shapes of what tools answer, as JSON schemas: their outlines, since each definition is sent to every
client. What a memory tells is in docs/mcp.md."""

from __future__ import annotations

from vector_memory.client.link import Json

_SORTS = {
    "text": "string",
    "count": "integer",
    "number": "number",
    "yes": "boolean",
    "array": "array",
    "object": "object",
}


def answer(properties: str) -> Json:
    """Return the schema of an answer.

    Args:
        properties: what it has, with spaces between: a name, a colon and a sort where it is no text, and "!"
            where it is always there: `id! total:count`.
    """
    words = [word.rstrip("!").partition(":") for word in properties.split()]
    always = [word[:-1].partition(":")[0] for word in properties.split() if word.endswith("!")]
    shape: Json = {
        "type": "object",
        "properties": {name: {"type": _SORTS[sort or "text"]} for name, _, sort in words},
    }
    return {**shape, "required": always} if always else shape
