"""Something that a pattern matches, to show a user what a rule takes out."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Iterable
from typing import Any

_PARSER: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
MOST_CHARS = 80
_PLAIN = "a0A x_-.@/"
_OF_CATEGORY = {"DIGIT": "0", "SPACE": " ", "WORD": "a", "NOT_DIGIT": "a", "NOT_SPACE": "a", "NOT_WORD": "-"}  # fmt: skip


def of_pattern(pattern: str) -> str:
    """Return a short text that a pattern matches, "" where none could be made."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = _text(_PARSER.parse(pattern))
            return made if made and re.search(pattern, made) else ""
    except (re.error, ValueError, OverflowError, RecursionError, NotImplementedError):
        return ""


def _text(parsed: Iterable[Any]) -> str:
    made = ""
    for code, value in parsed:
        made += _piece(str(code), value)
        if len(made) > MOST_CHARS:
            raise ValueError("no example of it is short")
    return made


def _piece(code: str, value: Any) -> str:
    if code == "LITERAL":
        return chr(value)
    if code in ("ANY", "NOT_LITERAL"):
        return "x" if code == "ANY" or chr(value) != "x" else "y"
    if code == "IN":
        return _of_class(value)
    if code == "BRANCH":
        return _text(value[1][0])
    if code == "SUBPATTERN":
        return _text(value[-1])
    if code in ("MAX_REPEAT", "MIN_REPEAT"):
        piece = _text(value[2])
        if value[0] * len(piece) > MOST_CHARS:
            raise ValueError("no example of it is short")
        return piece * int(max(value[0], min(value[1], 1)))
    if code == "AT":
        return ""
    raise NotImplementedError(code)


def _of_class(members: list[Any]) -> str:
    code, value = members[0]
    if str(code) == "NEGATE":
        matching = re.compile("[" + "".join(map(re.escape, _PLAIN)) + "]")
        taken = {chr(member[1]) for member in members if str(member[0]) == "LITERAL"}
        return next(member for member in _PLAIN if matching.match(member) and member not in taken)
    if str(code) == "RANGE":
        return chr(value[0])
    if str(code) == "CATEGORY":
        return _OF_CATEGORY[str(value).removeprefix("CATEGORY_")]
    return chr(value)
