"""What may be said at a door, to a tool of the MCP server or at an address of the gateway: arguments, each a line of a
table, their JSON schemas, and what was given checked against them. What is told and what is enforced are one table;
what a value means, the daemon checks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vector_memory.aging import Every
from vector_memory.client.link import Json
from vector_memory.errors import BadInputError
from vector_memory.model import (
    COLLECTIONS,
    DECISION,
    INTENTS,
    JURISDICTIONS,
    PREFERENCE,
    PROBLEM,
    QUESTION,
    RULES,
    SOLUTION,
    TODO,
    Priority,
    Relation,
    Sensitivity,
    Temporal,
    unique,
)

TEXT, NUMBER, SHARE, YES, WORDS = "string", "integer", "number", "boolean", "array"
_SORTS = {
    "text": TEXT,
    "number": NUMBER,
    "share": SHARE,
    "yes": YES,
    "words": WORDS,
    "lines": WORDS,
}
_BOUNDS = {TEXT: ("minLength", "maxLength"), WORDS: ("minItems", "maxItems")}
"""What schemas call the least and the most of a sort; of numbers, `minimum` and `maximum`."""
_PYTHON: Mapping[str, type | tuple[type, ...]] = {
    TEXT: str, NUMBER: int, SHARE: (int, float), YES: bool, WORDS: list,
}  # fmt: skip
MOST_WORDS, MOST = 200, 1_000_000
_YES_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_PAST = ("since", "until", "before")
_UNITS = ("hour", "day", "week", "month", "year")
"""Of a stretch of time, which in an argument of `_PAST` is one that is over."""
MOST_TOLD = 8
"""A list's schema names what each of it may be, where there are no more choices; else its text says some."""
TOLD_KINDS = (DECISION, SOLUTION, PROBLEM, TODO, QUESTION, PREFERENCE, "rule", "fact", "note")
OTHER_KINDS = (*INTENTS, *RULES, "fix", "learning", "episode", "trajectory")
STORED_KINDS = unique((*TOLD_KINDS, *OTHER_KINDS))
"""Kinds of what is stored by hand; those that are seldom wanted are taken and not told."""
CHOICES: dict[str, tuple[str, ...]] = {
    "@collections": tuple(COLLECTIONS),
    "@every": tuple(every.value for every in Every),
    "@jurisdictions": JURISDICTIONS,
    "@priorities": tuple(map(str, Priority)),
    "@relations": tuple(map(str, Relation)),
    "@sensitivities": tuple(map(str, Sensitivity)),
    "@stored_kinds": STORED_KINDS,
    "@temporal": tuple(map(str, Temporal)),
}
TO_DAEMON = {
    "limit": "k", "kinds": "kind", "tags": "tag", "collections": "collection", "entities": "entity",
    "project_ids": "project_id", "sensitivity_max": "ceiling", "cursor": "offset", "before": "until",
}  # fmt: skip
"""What the daemon calls an argument."""
SHARED = "shared"
"""The name of the paragraph of arguments that many entries have."""
_LINE = re.compile(
    r"- (?P<name>\w+)(?P<required>!?) (?P<sort>\w+)(?: of (?P<of>\w+))?(?: (?P<low>\d*)\.\.(?P<high>\d*))?"
    r"(?: \((?P<choices>[^)]+)\))?(?: also (?P<also>[\w,]+))?(?:: (?P<doc>.+))?"
)


@dataclass(frozen=True)
class Argument:
    """One argument.

    Attributes:
        sort: `TEXT`, `NUMBER` (whole), `SHARE` (any number), `YES` (true or false) or `WORDS` (a list of texts).
        choices: all that it may be, for a text or each of a list of texts.
        low, high: the bounds of a number; `high` is the characters of a text, or the texts of a list, at most.
        of: the arguments that each of a list has, none for texts.
        told: how many of the choices the schema lists, 0 for all.
        also: other names under which it is taken; the schema does not tell them.
        is_listed: the schema has it; else it is taken from who knows it.
        split: what stands between texts that are given as one.
    """

    name: str
    sort: str = TEXT
    doc: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    of: tuple[Argument, ...] = ()
    told: int = 0
    also: tuple[str, ...] = ()
    split: str = ","
    is_listed: bool = True

    def schema(self, is_brief: bool = False) -> Json:
        """Return it as a JSON schema.

        Args:
            is_brief: only what a model needs to fill it in, each word of which costs tokens.
        """
        schema: Json = {"type": self.sort}
        if self.doc:
            schema["description"] = self.doc
        enum = {"enum": list(self.choices[: self.told or None])} if self.choices else {}
        if self.sort == WORDS:
            enum = enum if len(self.choices) <= MOST_TOLD else {}
            schema["items"] = schema_of(self.of, is_brief) if self.of else {"type": TEXT, **enum}
        else:
            schema |= enum
        if self.high and (self.sort in (NUMBER, SHARE) or not is_brief):
            low = 1 if self.sort == TEXT and self.required else self.low
            bounds = zip(
                _BOUNDS.get(self.sort, ("minimum", "maximum")), (low, self.high), strict=True
            )
            schema |= {name: bound for name, bound in bounds if bound is not None}
        return schema


def schema_of(arguments: Sequence[Argument], is_brief: bool = False) -> Json:
    """Return the JSON schema of an object with these arguments."""
    schema: Json = {
        "type": "object",
        "properties": {
            argument.name: argument.schema(is_brief) for argument in arguments if argument.is_listed
        },
        "additionalProperties": False,
    }
    required = [argument.name for argument in arguments if argument.required]
    return {**schema, "required": required} if required else schema


@dataclass(frozen=True)
class Entry:
    """A tool or an address as its table has it; the head of `mcp/tools.txt` explains the parts.

    Attributes:
        head: the parts of its first line.
        doc: what it is for.
    """

    head: list[str]
    doc: str
    takes: tuple[Argument, ...]
    answers: str
    asks: str


def entries(path: str) -> Iterator[Entry]:
    """Yield the entries of a table in their order. A paragraph of nothing but arguments gives them a name."""
    with open(path, encoding="utf-8") as file:
        _, *paragraphs = file.read().rstrip().split("\n\n")
    groups: dict[str, dict[str, Argument]] = {}
    for heading, *lines in map(str.splitlines, paragraphs):
        declared = [_argument(line, groups) for line in lines if line.startswith("- ")]
        by_name = {argument.name: argument for argument in declared}
        if len(declared) == len(lines):
            groups[heading] = by_name
        else:
            yield _entry(heading, lines, {**groups[SHARED], **by_name})


def _entry(heading: str, lines: Sequence[str], known_arguments: Mapping[str, Argument]) -> Entry:
    parts = {"takes": "", "answers": "", "asks": ""}
    doc = []
    for line in lines:
        key, colon, text = line.partition(": ")
        if colon and key in parts:
            parts[key] = text
        elif not line.startswith("- "):
            doc.append(line)
    takes = tuple(
        replace(
            known_arguments[key.rstrip("!~")], required=key.endswith("!"), is_listed=key[-1] != "~"
        )
        for key in parts["takes"].split()
    )
    head = [part.strip() for part in heading.split("|")]
    return Entry(head, " ".join(doc), takes, parts["answers"], parts["asks"])


def _argument(line: str, groups: Mapping[str, Mapping[str, Argument]]) -> Argument:
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"{line!r} is no argument.")
    choices, low, high = match["choices"] or "", match["low"], match["high"]
    return Argument(
        match["name"],
        _SORTS[match["sort"]],
        match["doc"] or "",
        bool(match["required"]),
        choices=CHOICES.get(choices) or tuple(filter(None, choices.split(", "))),
        low=int(low) if low else None,
        high=int(high) if high else None,
        of=tuple(groups[match["of"]].values()) if match["of"] else (),
        told=len(TOLD_KINDS) if choices == "@stored_kinds" else 0,
        also=tuple(filter(None, (match["also"] or "").split(","))),
        split="\n" if match["sort"] == "lines" else ",",
    )


def checked(arguments: Sequence[Argument], values: object, where: str = "") -> Json:
    """Return an object as it was given, if it is of these arguments.

    Args:
        where: what stands before an argument's name in an error.

    Raises:
        BadInputError: an argument is unknown, missing, or of another sort; it says which and what it may be.
    """
    if not isinstance(values, dict):
        raise BadInputError("A JSON object is wanted.", f"Arguments: {_names(arguments)}.")
    declared = {argument.name: argument for argument in arguments}
    for name, value in values.items():
        if name not in declared:
            message = f"There is no argument {where}{str(name)[:40]!r}."
            raise BadInputError(message, f"Arguments: {_names(arguments)}.")
        argument = declared[name]
        if not _fits(argument, value):
            raise BadInputError(f"{where}{name} must be {_wanted_form(argument)}.", argument.doc)
        for number, member in enumerate(value if argument.of else ()):
            checked(argument.of, member, f"{where}{name}[{number}].")
    for argument in arguments:
        if argument.required and argument.name not in values:
            hint = argument.doc or f"It is {_wanted_form(argument)}."
            raise BadInputError(f"{where}{argument.name} is missing.", hint)
    return values


def coerced(arguments: Sequence[Argument], values: Json | None) -> Json:
    """Return a model's arguments, checked, by their listed names, those left out that are null. A model often writes a
    number, a list or a word of a list as a text: what can be meant by it is taken.

    Raises:
        BadInputError: as `checked` does.
    """
    by_name = {name: argument for argument in arguments for name in argument.also}
    by_name |= {argument.name: argument for argument in arguments}
    named_values = {}
    for name, value in (values or {}).items():
        if value is not None and name in by_name:
            argument = by_name[name]
            named_values[argument.name] = _COERCED[argument.sort](argument, value)
        elif value is not None:
            named_values[name] = value
    return checked(arguments, named_values)


def _names(arguments: Sequence[Argument]) -> str:
    return ", ".join(argument.name for argument in arguments)


def _as_number(argument: Argument, value: Any) -> Any:
    """Return a whole number that stands in a text, or was written with a point."""
    try:
        number = float(value) if isinstance(value, str) else value
        return int(number) if isinstance(number, float) and number.is_integer() else value
    except ValueError:
        return value


def _as_yes(argument: Argument, value: Any) -> Any:
    return _YES_WORDS.get(str(value).strip().lower(), value)


def _as_word(argument: Argument, value: Any) -> Any:
    """Return a number as a text, and a word of a list as the list has it, in the plural, too."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return value
    word = value.strip().casefold()
    age = word.removeprefix("last ").removeprefix("past ")
    count, _, unit = age.partition(" ")
    is_count = count.isdecimal() or count in ("a", "an")
    if argument.name in _PAST and is_count and unit.removesuffix("s") in _UNITS:
        return f"{age} ago"
    forms = (word, word.removesuffix("s"))
    return next(
        (choice for form in forms for choice in argument.choices if choice.casefold() == form),
        value,
    )


def _as_words(argument: Argument, value: Any) -> Any:
    """Return the texts of a list that stands in one text: as JSON, or with commas between."""
    if isinstance(value, str):
        try:
            texts = json.loads(value) if value.lstrip().startswith("[") else None
        except ValueError:
            texts = None
        if not isinstance(texts, list):
            texts = [text.strip() for text in value.split(argument.split) if text.strip()]
        value = texts
    return [_as_word(argument, text) for text in value] if isinstance(value, list) else value


_COERCED = {TEXT: _as_word, NUMBER: _as_number, YES: _as_yes, WORDS: _as_words}


def _fits(argument: Argument, value: object) -> bool:
    is_bool = isinstance(value, bool) and argument.sort != YES
    if not isinstance(value, _PYTHON[argument.sort]) or is_bool:
        return False
    choices, high = argument.choices, argument.high
    if isinstance(value, str):
        is_there = bool(value.strip()) or not (argument.required and high)
        return is_there and (not choices or value in choices) and len(value) <= (high or len(value))
    if isinstance(value, list):
        are_texts = bool(argument.of) or all(isinstance(text, str) for text in value)
        return (
            len(value) <= (high or MOST_WORDS)
            and are_texts
            and (not choices or set(value) <= {*choices})
        )
    if isinstance(value, (int, float)) and argument.sort != YES:
        return (argument.low or 0) <= value <= (high or MOST)
    return True


def _wanted_form(argument: Argument) -> str:
    if argument.choices:
        some = "some" if argument.sort == WORDS else "one"
        return f"{some} of {', '.join(argument.choices)}"
    if argument.sort in (NUMBER, SHARE):
        whole = "whole " if argument.sort == NUMBER else ""
        return f"a {whole}number from {argument.low} to {argument.high or MOST}"
    if argument.sort == WORDS:
        return f"a list of at most {argument.high or MOST_WORDS} texts"
    if argument.sort == YES:
        return "true or false"
    if not argument.high:
        return "a text"
    return f"a text{', not empty,' * argument.required} of at most {argument.high} characters"
