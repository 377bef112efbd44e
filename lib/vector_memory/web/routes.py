"""The addresses of `/v1`, as `routes.txt` has them: calls are routed, checked and described (`openapi`) by them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from vector_memory.arguments import NUMBER, WORDS, YES, Argument, Entry, checked, entries
from vector_memory.client.link import Json
from vector_memory.errors import BadInputError
from vector_memory.web import operations

GET, POST = "GET", "POST"


@dataclass(frozen=True)
class Route:
    """One address.

    Attributes:
        right: what a token needs.
        marks: how it is; the head of `routes.txt` says what they mean.
        aliases: where else it is found.
        fields: of the body, or of the query where it is a GET.
        answer: the name of the answer's shape, "" for lines.
    """

    method: str
    path: str
    right: str
    marks: frozenset[str]
    aliases: tuple[str, ...]
    act: operations.Act
    doc: str
    fields: tuple[Argument, ...]
    answer: str


def _route(entry: Entry) -> Route:
    address, access, aliases, *_ = (*entry.head, "")
    method, path = address.split()
    right, *marks = access.split()
    act = getattr(operations, entry.asks, None) or operations.asks(entry.asks)
    also = tuple(aliases.split())
    return Route(
        method, path, right, frozenset(marks), also, act, entry.doc, entry.takes, entry.answers
    )


ROUTES = tuple(map(_route, entries(os.path.join(os.path.dirname(__file__), "routes.txt"))))


def from_query(fields: Sequence[Argument], pairs: Sequence[tuple[str, str]]) -> Json:
    """Return a query's parameters as a request's fields: numbers and truth values read, lists gathered.

    Raises:
        BadInputError: one is not what it should be.
    """
    declared = {field.name: field for field in fields}
    values: Json = {}
    for name, value in pairs:
        field = declared.get(name)
        if field is not None and field.sort == WORDS:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise BadInputError(f"{name[:40]} is given twice.", "Give it once.")
        else:
            values[name] = _read(field, value) if field else value
    return checked(fields, values)


def _read(field: Argument, value: str) -> object:
    if field.sort == NUMBER and value.removeprefix("-").isdecimal() and len(value) < 20:
        return int(value)
    if field.sort == YES and value in ("true", "false"):
        return value == "true"
    return value
