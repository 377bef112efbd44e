"""The shapes of what tools answer, as JSON schemas."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
YES: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}
REFERENCE: Schema = {
    "type": "object",
    "properties": {"id": TEXT, "date": TEXT},
    "required": ["id", "date"],
}
MEMORY: Schema = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "text": TEXT,
        "kind": TEXT,
        "date": TEXT,
        "origin": TEXT,
        "project": TEXT,
        "title": TEXT,
        "priority": TEXT,
        "confidence": {"type": "number"},
        "tags": TEXTS,
        "files": TEXTS,
        "shares": TEXTS,
        "collection": TEXT,
        "score": {"type": "number"},
        "breakdown": {"type": "object"},
        "foreign": YES,
        "suspicious": TEXTS,
        "source": TEXT,
        "contradicts": {"type": "array", "items": REFERENCE},
        "suggested": {"type": "object"},
        "shown_at": TEXT,
        "status": TEXT,
        "sort": TEXT,
        "why": TEXT,
        "relation": TEXT,
    },
    "required": ["id", "text", "kind", "date"],
}
MEMORIES: Schema = {"type": "array", "items": MEMORY}


def answer(required: str = "", **properties: Schema) -> Schema:
    """Return the schema of an answer.

    Args:
        required: the names of what is always there, with spaces between.
    """
    told: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**told, "required": required.split()} if required else told


FOUND = answer("memories notice", memories=MEMORIES, notice=TEXT, held_back=COUNT, total=COUNT,
               mode=TEXT, session=TEXT, vault={"type": "object"}, threshold={"type": "number"},
               read=COUNT, applied=COUNT, hint=TEXT, audit={"type": "array"}, action=TEXT)  # fmt: skip
STORED = answer(
    "status",
    status=TEXT,
    memory=MEMORY,
    others=MEMORIES,
    notice=TEXT,
    hint=TEXT,
    held_back=COUNT,
)
