"""`tool`: any tool of the MCP server, called from a shell."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any

from vector_memory.cli import asking, output
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError, NotFoundError

LINE_CHARS = 240
DEEPEST = 4


def tool(
    call: Invocation, name: str | None, given: list[str] | None, arguments: str | None
) -> None:
    """Call a tool of the MCP server, or list all.

    Raises:
        NotFoundError: there is none of this name.
    """
    from vector_memory.mcp import main, registry

    if name is None:
        tools = [{"name": listed.name, "about": listed.doc} for listed in registry.TOOLS]
        if arguments is not None:
            output.document({"tools": tools})
            return
        for listed in registry.TOOLS:
            output.say(f"{listed.name}  {output.one_line(listed.doc.partition('. ')[0], 110)}")
        return
    chosen = registry.BY_NAME.get(name)
    if chosen is None:
        from difflib import get_close_matches

        similar = get_close_matches(name, registry.BY_NAME, n=3, cutoff=0.4)
        hint = f"Did you mean {' or '.join(similar)}? " if similar else ""
        raise NotFoundError(f"There is no tool {name!r}.", f"{hint}`vector-memory tool` lists all.")
    caller = main.caller(actor=str(asking.target().get("actor", "user")), folder=os.getcwd())
    answer = registry.call(caller, chosen, _arguments(arguments, given or []))
    if arguments is not None:
        output.document(answer)
        return
    for line in _lines(answer):
        output.say(line)


def _arguments(json_text: str | None, words: Sequence[str]) -> dict[str, Any]:
    """Return a tool's arguments from JSON, and from `key=value` words, which go before.

    Raises:
        BadInputError: it is no JSON object, or a word has no name.
    """
    parsed: Any = {}
    if json_text is not None:
        try:
            parsed = json.loads(json_text)
        except (ValueError, RecursionError) as error:
            raise BadInputError(
                f"The arguments are no JSON: {error}.", "Such as '{\"k\": 5}'."
            ) from error
    if not isinstance(parsed, dict):
        raise BadInputError("The arguments are no JSON object.", "Such as '{\"k\": 5}'.")
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise BadInputError(f"{word!r} is no KEY=VALUE.", "Such as limit=5.")
        parsed[key] = value
    return parsed


def _lines(value: Any, depth: int = 0, name: str = "") -> Iterator[str]:
    """Yield an answer as lines that a person reads: a name and its value, what is in it further in."""
    indent = "  " * depth
    prefix = f"{indent}{name}: " if name else indent
    if isinstance(value, dict) and {"k", "n", "told"} <= set(value) and name:
        # A figure says itself in words.
        yield prefix + output.one_line(value["told"], LINE_CHARS)
    elif isinstance(value, dict) and depth < DEEPEST:
        if name:
            yield prefix.rstrip()
        for key, inner in value.items():
            yield from _lines(inner, depth + bool(name), str(key))
    elif isinstance(value, list) and value and depth < DEEPEST:
        yield prefix.rstrip()
        for number, member in enumerate(value, 1):
            if isinstance(member, dict):
                yield from _lines(member, depth + 1, str(number))
            else:
                yield f"{indent}  {output.one_line(str(member), LINE_CHARS)}"
    elif isinstance(value, str) and "\n" in value:
        yield prefix.rstrip()
        yield from (f"{indent}  {output.plain(line)}" for line in value.splitlines())
    else:
        yield prefix + output.one_line(
            json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value,
            LINE_CHARS,
        )
