"""What tools are given: their fields as JSON schemas, and arguments checked against them. The schemas are
flat, and so is the check; what a value means, the daemon checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from vector_memory.client.link import Json
from vector_memory.errors import BadInputError

TEXT, NUMBER, YES, WORDS = "string", "integer", "boolean", "array"
MOST_WORDS = 200


@dataclass(frozen=True)
class Field:
    """One argument of a tool.

    Attributes:
        sort: `TEXT`, `NUMBER` (whole), `YES` (true or false) or `WORDS` (a list of texts).
        choices: all that it may be, for a text.
        low, high: the bounds of a number; `high` is the characters of a text at most.
    """

    name: str
    sort: str
    doc: str
    required: bool = False
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None

    def schema(self) -> Json:
        """Return it as a JSON schema."""
        schema: Json = {"type": self.sort, "description": self.doc}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.sort == WORDS:
            schema |= {"items": {"type": "string"}, "maxItems": self.high or MOST_WORDS}
        if self.sort == NUMBER:
            schema |= {"minimum": self.low, "maximum": self.high}
        if self.sort == TEXT and self.high:
            schema["maxLength"] = self.high
        return schema


def need(field: Field) -> Field:
    """Return a field that has to be given."""
    return replace(field, required=True)


def schema_of(fields: Sequence[Field]) -> Json:
    """Return the JSON schema of a tool's arguments."""
    schema: Json = {
        "type": "object",
        "properties": {field.name: field.schema() for field in fields},
        "additionalProperties": False,
    }
    required = [field.name for field in fields if field.required]
    return {**schema, "required": required} if required else schema


def checked(fields: Sequence[Field], arguments: Json | None) -> Json:
    """Return a call's arguments, those left out that are null.

    Raises:
        BadInputError: one is unknown, missing, or of another sort; it says which and what it may be.
    """
    given = {name: value for name, value in (arguments or {}).items() if value is not None}
    declared = {field.name: field for field in fields}
    for name in given:
        if name not in declared:
            raise BadInputError(
                f"There is no argument {str(name)[:40]!r}.", f"Arguments: {', '.join(declared)}."
            )
    for field in fields:
        if field.required and field.name not in given:
            raise BadInputError(f"{field.name} is missing.", field.doc)
    return {name: _value(declared[name], value) for name, value in given.items()}


def _value(field: Field, value: Any) -> Any:
    if field.sort == WORDS and isinstance(value, str):
        value = [value]
    if not _fits(field, value):
        raise BadInputError(f"{field.name} must be {_wanted(field)}.", field.doc)
    return value


def _fits(field: Field, value: Any) -> bool:
    if field.sort == YES:
        return isinstance(value, bool)
    if field.sort == NUMBER:
        low, high = field.low or 0, field.high or 0
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    if field.sort == WORDS:
        return (
            isinstance(value, list)
            and len(value) <= (field.high or MOST_WORDS)
            and all(isinstance(word, str) for word in value)
        )
    return (
        isinstance(value, str)
        and (not field.choices or value in field.choices)
        and (field.high is None or len(value) <= field.high)
    )


def _wanted(field: Field) -> str:
    if field.choices:
        return f"one of {', '.join(field.choices)}"
    if field.sort == NUMBER:
        return f"a whole number from {field.low} to {field.high}"
    if field.sort == WORDS:
        return f"a list of at most {field.high or MOST_WORDS} texts"
    if field.sort == YES:
        return "true or false"
    return f"a text of at most {field.high} characters" if field.high else "a text"
