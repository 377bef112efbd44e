"""Every error that a user can meet says what to do about it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from vector_memory import errors

PACKAGE = Path(errors.__file__).parent
TOLD = (
    "NotFoundError",
    "NotAllowedError",
    "ConflictError",
    "UnsafeTextError",
    "SetupError",
)
"""Those that have no advice of their own; what machines say to each other is not meant."""


def calls() -> Iterator[tuple[str, ast.Call, str]]:
    """Yield each call by which an error is made: where it stands, and what is called."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).removeprefix("errors.")
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node, name


def is_empty(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == ""


def test_every_error_says_what_to_do() -> None:
    places = {"failed": 2, "RefusalError": 2, **dict.fromkeys(TOLD, 1)}
    silent = [
        where
        for where, call, name in calls()
        if name in places
        and not any(isinstance(one, ast.Starred) for one in call.args)
        and not any(one.arg == "hint" for one in call.keywords)
        and (len(call.args) <= places[name] or is_empty(call.args[places[name]]))
    ]
    assert silent == []


def test_where_nothing_is_said_the_class_does() -> None:
    assert errors.StoreFullError("It is full.").hint == errors.StoreFullError.advice
    assert errors.StoreFullError("It is full.", "Buy one.").hint == "Buy one."
    assert errors.BadInputError("It is none.", "").hint == errors.BadInputError.advice
