"""What tools are given: their fields as JSON schemas, and arguments checked against them. The schemas are
flat, and so is the check; what a value means, the daemon checks. A model often writes a number, a list or a
word of a list as a text: what can be meant by it is taken."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vector_memory.client.link import Json
from vector_memory.errors import BadInputError

TEXT, NUMBER, YES, WORDS = "string", "integer", "boolean", "array"
MOST_WORDS, MOST = 200, 1_000_000
_SAID = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_PAST = ("since", "until", "before")
_AGE = re.compile(r"(?:(?:last|past) )?((?:\d+|an?) (?:hour|day|week|month|year)s?)", re.IGNORECASE)
"""A stretch of time, which in an argument of `_PAST` is one that is over."""
MOST_TOLD = 8
"""A list's schema names what each of it may be, where there are no more choices; else its text says some."""


@dataclass(frozen=True)
class Argument:
    """One argument of a tool.

    Attributes:
        sort: `TEXT`, `NUMBER` (whole), `YES` (true or false) or `WORDS` (a list of texts).
        choices: all that it may be, for a text or each of a list of texts.
        low, high: the bounds of a number; `high` is the characters of a text, or the texts of a list, at most.
        told: how many of the choices the schema lists, 0 for all.
        also: other names under which it is taken; the schema does not tell them.
        is_listed: the schema has it; else it is taken from who knows it.
        split: what stands between texts that are given as one.
    """

    name: str
    sort: str
    doc: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    told: int = 0
    also: tuple[str, ...] = ()
    split: str = ","
    is_listed: bool = True

    def schema(self) -> Json:
        """Return it as a JSON schema: what a model needs to fill it in, each word of which costs tokens."""
        schema: Json = {"type": self.sort}
        if self.doc:
            schema["description"] = self.doc
        enum = {"enum": list(self.choices[: self.told or None])} if self.choices else {}
        if self.sort == WORDS:
            schema["items"] = {"type": "string", **(enum if len(self.choices) <= MOST_TOLD else {})}
        else:
            schema |= enum
        if self.sort == NUMBER and self.high:
            schema |= {"minimum": self.low, "maximum": self.high}
        return schema


def schema_of(fields: Sequence[Argument]) -> Json:
    """Return the JSON schema of a tool's arguments."""
    schema: Json = {
        "type": "object",
        "properties": {field.name: field.schema() for field in fields if field.is_listed},
        "additionalProperties": False,
    }
    required = [field.name for field in fields if field.required]
    return {**schema, "required": required} if required else schema


def checked(fields: Sequence[Argument], arguments: Json | None) -> Json:
    """Return a call's arguments by their listed names, those left out that are null.

    Raises:
        BadInputError: one is unknown, missing, or of another sort; it says which and what it may be.
    """
    given = {name: value for name, value in (arguments or {}).items() if value is not None}
    called = {name: field for field in fields for name in field.also}
    called |= {field.name: field for field in fields}
    for name in given:
        if name not in called:
            names = ", ".join(field.name for field in fields)
            raise BadInputError(f"There is no argument {str(name)[:40]!r}.", f"Arguments: {names}.")
    values = {called[name].name: _value(called[name], value) for name, value in given.items()}
    for field in fields:
        if field.required and field.name not in values:
            hint = field.doc or f"It is {_wanted(field)}."
            raise BadInputError(f"{field.name} is missing.", hint)
    return values


def _value(field: Argument, given: Any) -> Any:
    value = _COERCED[field.sort](field, given)
    if not _fits(field, value):
        raise BadInputError(f"{field.name} must be {_wanted(field)}.", field.doc)
    return value


def _number(field: Argument, given: Any) -> Any:
    """Return a whole number that stands in a text, or was written with a point."""
    try:
        number = float(given) if isinstance(given, str) else given
        return int(number) if isinstance(number, float) and number.is_integer() else given
    except ValueError:
        return given


def _yes(field: Argument, given: Any) -> Any:
    return _SAID.get(str(given).strip().lower(), given)


def _word(field: Argument, given: Any) -> Any:
    """Return a number as a text, and a word of a list as the list has it, in the plural, too."""
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        given = str(given)
    if not isinstance(given, str):
        return given
    if field.name in _PAST and (age := _AGE.fullmatch(given.strip())):
        return f"{age[1]} ago"
    word = given.strip().casefold()
    forms = (word, word.removesuffix("s"))
    return next((it for form in forms for it in field.choices if it.casefold() == form), given)


def _words(field: Argument, given: Any) -> Any:
    """Return the texts of a list that stands in one text: as JSON, or with commas between."""
    if isinstance(given, str):
        try:
            listed = json.loads(given) if given.lstrip().startswith("[") else None
        except ValueError:
            listed = None
        if not isinstance(listed, list):
            listed = [text.strip() for text in given.split(field.split) if text.strip()]
        given = listed
    return [_word(field, text) for text in given] if isinstance(given, list) else given


_COERCED = {TEXT: _word, NUMBER: _number, YES: _yes, WORDS: _words}


def _fits(field: Argument, value: Any) -> bool:
    if field.sort == YES:
        return isinstance(value, bool)
    if field.sort == NUMBER:
        low, high = field.low or 0, field.high or MOST
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    if field.sort == WORDS:
        return (
            isinstance(value, list)
            and len(value) <= (field.high or MOST_WORDS)
            and all(isinstance(word, str) for word in value)
            and (not field.choices or set(value) <= set(field.choices))
        )
    return (
        isinstance(value, str)
        and (not field.choices or value in field.choices)
        and (field.high is None or len(value) <= field.high)
    )


def _wanted(field: Argument) -> str:
    if field.choices:
        some = "some" if field.sort == WORDS else "one"
        return f"{some} of {', '.join(field.choices)}"
    if field.sort == NUMBER:
        return f"a whole number from {field.low} to {field.high or MOST}"
    if field.sort == WORDS:
        return f"a list of at most {field.high or MOST_WORDS} texts"
    if field.sort == YES:
        return "true or false"
    return f"a text of at most {field.high} characters" if field.high else "a text"
