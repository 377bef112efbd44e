"""What requests look like: fields, of which come the JSON schemas, and arguments checked against them. What is
told to clients and what is enforced are one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vector_memory.client.link import Json
from vector_memory.errors import BadInputError

TEXT, NUMBER, SHARE, YES, MANY = "string", "integer", "number", "boolean", "array"
MOST = 200
_PYTHON: Mapping[str, type | tuple[type, ...]] = {
    TEXT: str, NUMBER: int, SHARE: (int, float), YES: bool, MANY: list,
}  # fmt: skip


@dataclass(frozen=True)
class ShapeField:
    """One field of a request or a query.

    Attributes:
        sort: `TEXT`, `NUMBER` (whole), `SHARE` (any number), `YES` (true or false) or `MANY`.
        of: the fields of what a list holds, none for texts.
        choices: all that it may be, for a text.
        low, high: the bounds of a number; `high` is the most characters of a text, or members of a list.
    """

    name: str
    sort: str = TEXT
    doc: str = ""
    required: bool = False
    of: tuple[ShapeField, ...] = ()
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None

    def schema(self) -> Json:
        """Return it as a JSON schema."""
        schema: Json = {"type": self.sort}
        if self.doc:
            schema["description"] = self.doc
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.sort == MANY:
            schema["items"] = schema_of(self.of) if self.of else {"type": TEXT}
            schema["maxItems"] = self.high
        if self.sort in (NUMBER, SHARE):
            schema |= {"minimum": self.low} if self.low is not None else {}
            schema |= {"maximum": self.high} if self.high is not None else {}
        if self.sort == TEXT:
            schema |= {"maxLength": self.high} if self.high else {}
            schema |= {"minLength": 1} if self.required and self.high else {}
        return schema


def need(field: ShapeField) -> ShapeField:
    """Return a field that has to be given."""
    return replace(field, required=True)


def many(name: str, doc: str = "", of: tuple[ShapeField, ...] = (), high: int = MOST) -> ShapeField:
    """Return a field that is a list."""
    return ShapeField(name, MANY, doc, of=of, high=high)


def schema_of(shape: Sequence[ShapeField]) -> Json:
    """Return the JSON schema of an object."""
    schema: Json = {
        "type": "object",
        "properties": {field.name: field.schema() for field in shape},
        "additionalProperties": False,
    }
    required = [field.name for field in shape if field.required]
    return {**schema, "required": required} if required else schema


def checked(shape: Sequence[ShapeField], given: object, where: str = "") -> Json:
    """Return an object as it was given, if it is of a shape.

    Args:
        where: what stands before a field's name in an error.

    Raises:
        BadInputError: a field is unknown, missing, or not what it should be; it says which.
    """
    if not isinstance(given, dict):
        raise BadInputError("A JSON object is wanted.", "See GET /v1/openapi.json.")
    declared = {field.name: field for field in shape}
    for name in given:
        if name not in declared:
            raise BadInputError(
                f"There is no field {where}{str(name)[:40]!r}.", f"Fields: {', '.join(declared)}."
            )
    for field in shape:
        if field.required and field.name not in given:
            raise BadInputError(f"{where}{field.name} is missing.", field.doc)
        if field.name in given:
            _check(field, given[field.name], where)
    return given


def from_query(shape: Sequence[ShapeField], pairs: Sequence[tuple[str, str]]) -> Json:
    """Return a query's parameters as a request's fields: numbers and truth values read, lists gathered.

    Raises:
        BadInputError: one is not what it should be.
    """
    declared = {field.name: field for field in shape}
    given: dict[str, object] = {}
    for name, value in pairs:
        field = declared.get(name)
        if field is not None and field.sort == MANY:
            held = given.setdefault(name, [])
            assert isinstance(held, list)
            held.append(value)
        elif name in given:
            raise BadInputError(f"{name[:40]} is given twice.", "Give it once.")
        else:
            given[name] = _read(field, value) if field else value
    return checked(shape, given)


def _read(field: ShapeField, value: str) -> object:
    if field.sort == NUMBER and value.removeprefix("-").isdecimal() and len(value) < 20:
        return int(value)
    if field.sort == YES and value in ("true", "false"):
        return value == "true"
    return value


def _check(field: ShapeField, value: object, where: str) -> None:
    is_bool = isinstance(value, bool) and field.sort != YES
    if not isinstance(value, _PYTHON[field.sort]) or is_bool or not _fits(field, value):
        raise BadInputError(f"{where}{field.name} must be {_wanted(field)}.", field.doc)
    if isinstance(value, list):
        for number, member in enumerate(value):
            at = f"{where}{field.name}[{number}]"
            if field.of:
                checked(field.of, member, at + ".")
            elif not isinstance(member, str):
                raise BadInputError(f"{at} must be a text.", field.doc)


def _fits(field: ShapeField, value: object) -> bool:
    if isinstance(value, str):
        is_there = bool(value.strip()) or not (field.required and field.high)
        return (not field.choices or value in field.choices) and (
            is_there and len(value) <= (field.high or len(value))
        )
    if isinstance(value, list):
        return len(value) <= (field.high or len(value))
    if isinstance(value, (int, float)):
        return (field.low is None or value >= field.low) and (
            field.high is None or value <= field.high
        )
    return True


def _wanted(field: ShapeField) -> str:
    if field.choices:
        return f"one of {', '.join(field.choices)}"
    if field.sort in (NUMBER, SHARE):
        whole = "whole " if field.sort == NUMBER else ""
        return f"a {whole}number from {field.low} to {field.high}"
    words = {YES: "true or false", MANY: f"a list of at most {field.high}"}
    return words.get(field.sort) or f"a text of 1 to {field.high} characters"
