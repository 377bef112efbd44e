"""The shapes of what tools answer, as JSON schemas."""

from __future__ import annotations

from vector_memory.client.link import Json

_REFERENCE: Json = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "date": {"type": "string"}},
    "required": ["id", "date"],
}
_SORTS: dict[str, Json] = {
    "text": {"type": "string"},
    "count": {"type": "integer", "minimum": 0},
    "number": {"type": "number"},
    "yes": {"type": "boolean"},
    "array": {"type": "array"},
    "object": {"type": "object"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "references": {"type": "array", "items": _REFERENCE},
}


def shape(properties: str) -> Json:
    """Return the schema of an object.

    Args:
        properties: what it has, with spaces between: a name, a colon and a sort where it is no text, and "!"
            where it is always there: `id! score:number`.
    """
    words = [word.rstrip("!").partition(":") for word in properties.split()]
    always = [word[:-1].partition(":")[0] for word in properties.split() if word.endswith("!")]
    made: Json = {
        "type": "object",
        "properties": {name: _SORTS[sort or "text"] for name, _, sort in words},
    }
    return {**made, "required": always} if always else made


def answer(properties: str) -> Json:
    """Return the schema of an answer, which has no properties but these; `properties` as in `shape`."""
    return {**shape(properties), "additionalProperties": False}


_SORTS["memory"] = shape(
    "id! text! kind! date! origin project title priority confidence:number tags:texts files:texts "
    "shares:texts collection score:number breakdown:object foreign:yes suspicious:texts source "
    "contradicts:references suggested:object shown_at status sort why relation "
    "tier temporal every valid_until expires_at last_used_at"
)
_SORTS["memories"] = {"type": "array", "items": _SORTS["memory"]}
FOUND = answer(
    "memories:memories! notice! held_back:count total:count mode session vault:object "
    "threshold:number read:count applied:count hint audit:array action period:object widened:yes note"
)
STORED = answer("status! memory:memory others:memories notice hint held_back:count")
