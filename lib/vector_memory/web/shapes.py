"""What requests and answers look like: fields, of which come the JSON schemas, and arguments checked against
them. What is told to clients and what is enforced are one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vector_memory.client.link import Json
from vector_memory.errors import BadInputError

TEXT, NUMBER, SHARE, YES, MANY, OBJECT = (
    "string", "integer", "number", "boolean", "array", "object",
)  # fmt: skip
MOST = 200
_PYTHON: Mapping[str, type | tuple[type, ...]] = {
    TEXT: str, NUMBER: int, SHARE: (int, float), YES: bool, MANY: list, OBJECT: dict,
}  # fmt: skip


@dataclass(frozen=True)
class ShapeField:
    """One field of a request, a query or an answer.

    Attributes:
        sort: `TEXT`, `NUMBER` (whole), `SHARE` (any number), `YES` (true or false), `MANY` or `OBJECT`.
        of: what a list or an object holds: the name of a shape of `SHAPES`, "" for texts, or for anything.
        choices: all that it may be, for a text.
        low, high: the bounds of a number; `high` is the most characters of a text, or members of a list.
    """

    name: str
    sort: str = TEXT
    doc: str = ""
    required: bool = False
    of: str = ""
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
        if self.sort == OBJECT and self.of:
            return {"$ref": f"#/components/schemas/{self.of}"}
        if self.sort == MANY:
            inner: Json = {"type": TEXT}
            schema["items"] = {"$ref": f"#/components/schemas/{self.of}"} if self.of else inner
            schema |= {"maxItems": self.high} if self.high else {}
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


def many(name: str, doc: str = "", of: str = "", high: int | None = MOST) -> ShapeField:
    """Return a field that is a list."""
    return ShapeField(name, MANY, doc, of=of, high=high)


def schema_of(shape: Sequence[ShapeField], is_open: bool = False) -> Json:
    """Return the JSON schema of an object.

    Args:
        is_open: there may be more fields: answers grow.
    """
    schema: Json = {
        "type": OBJECT,
        "properties": {field.name: field.schema() for field in shape},
        "additionalProperties": is_open,
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
                checked(SHAPES[field.of], member, at + ".")
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
    words = {YES: "true or false", OBJECT: "an object", MANY: f"a list of at most {field.high}"}
    return words.get(field.sort) or f"a text of 1 to {field.high} characters"


_ID = need(ShapeField("id", doc="A memory's id."))
MEMORY = (
    _ID,
    need(ShapeField("text")),
    need(ShapeField("kind")),
    need(ShapeField("created_at")),
    need(ShapeField("origin", doc="Whose words it is: user, assistant, tool or import.")),
    need(ShapeField("project")),
    need(ShapeField("project_id")),
    many("tags", high=None),
    ShapeField("priority"),
    ShapeField("confidence", SHARE),
)
SHAPES: dict[str, tuple[ShapeField, ...]] = {
    "Error": (need(ShapeField("error")), need(ShapeField("hint", doc="What to do about it."))),
    "Memory": MEMORY,
    "Result": (
        need(ShapeField("memory", OBJECT, of="Memory")),
        need(ShapeField("score", SHARE, "From 0 to 1; it orders one answer's results.")),
        need(
            ShapeField("relevance", SHARE, "How likely it answers; it compares between questions.")
        ),
        need(ShapeField("fits", YES, "Whether that is enough for an answer.")),
        need(ShapeField("breakdown", OBJECT, "What the score is made of.")),
    ),
    "Recalled": (
        need(many("results", of="Result", high=None)),
        ShapeField("mode"),
        ShapeField("note"),
    ),
    "Stored": (
        _ID,
        need(
            ShapeField("status", doc="stored, merged, linked, superseded, unchanged or proposed.")
        ),
        need(ShapeField("action")),
        need(
            many("others", "Ids of the memories that it belongs to or speaks against.", high=None)
        ),
        need(ShapeField("redactions", NUMBER, "How many secrets were taken out.")),
    ),
    "Listed": (
        need(many("memories", of="Memory", high=None)),
        need(ShapeField("total", NUMBER)),
        ShapeField("next", doc="The cursor of the next page; none at the end."),
    ),
    "Shown": (
        need(ShapeField("memory", OBJECT, of="Memory")),
        many("links", of="Any", high=None),
        ShapeField("history", OBJECT),
    ),
    "Edited": (need(ShapeField("memory", OBJECT, of="Changed")),),
    "Changed": (_ID,),
    "Forgotten": (
        need(many("memories", "What goes, with what goes with it.", "Memory", high=None)),
        need(ShapeField("forgotten", NUMBER, "How many are gone: 0 for a preview.")),
        ShapeField(
            "confirm", doc="Sent back as `confirm` within ten minutes, it has them forgotten."
        ),
    ),
    "Context": (
        need(ShapeField("context", doc="Notes in their fence, or an empty text.")),
        need(many("ids", high=None)),
        need(ShapeField("tokens", NUMBER)),
    ),
    "Message": (
        need(ShapeField("id", doc="Its id at your side: each counts once.", high=200)),
        need(ShapeField("role", choices=("user", "assistant", "system", "tool"))),
        need(ShapeField("text")),
        ShapeField("at", doc="When it was said, in ISO form; now by default.", high=40),
    ),
    "Fed": (
        need(ShapeField("accepted", NUMBER, "Messages that are safe on the disk.")),
        need(ShapeField("queued", NUMBER, "How many of them wait to be read.")),
        need(ShapeField("duplicates", NUMBER, "How many were known.")),
        need(ShapeField("session", doc="What memories call the session.")),
    ),
    "Any": (),
    "Health": (need(ShapeField("ok", YES)),),
}
"""Shapes by name: what answers hold at least, and what lists of requests hold."""
REQUESTED = frozenset({"Message"})
"""Shapes that requests have: nothing may be in them beside their fields."""
