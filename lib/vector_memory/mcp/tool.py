"""What a tool is, and all tools: `tools.txt` says what each takes and answers and what the model reads of it; a
function does what is more than to ask the daemon's verb."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any, TypeVar

from vector_memory.arguments import TO_DAEMON, Argument, Entry, entries
from vector_memory.errors import BadInputError
from vector_memory.mcp.caller import Caller, Json
from vector_memory.mcp.model_answers import harmless_answer

T = TypeVar("T")
Act = Callable[[Caller, Json], Json]
ON_A_PAGE, MOST_LISTED = 20, 300
"""How many a page has where no limit is given, and how many a verb tells at most."""


@dataclass(frozen=True)
class Tool:
    """One tool.

    Attributes:
        doc: what the model reads of it.
        act: what it does; `verb` is the daemon's verb that its arguments are handed to as they are, "" for none.
        output: its answer's shape.
        marks: how it is; the head of `tools.txt` says what they mean.
        also: its aliases, which answer and are not listed.
    """

    name: str
    doc: str
    fields: tuple[Argument, ...]
    act: Act
    output: Json
    marks: frozenset[str]
    also: tuple[str, ...] = ()
    verb: str = ""

    @property
    def aliases(self) -> tuple[Tool, ...]:
        """The same tool under its other names."""
        unlisted = replace(self, marks=self.marks - {"always"} | {"unlisted"}, also=())
        return tuple(replace(unlisted, name=name) for name in self.also)


ACTS: dict[str, Act] = {}
_SHAPES = {
    "": "string", "count": "integer", "number": "number", "yes": "boolean", "array": "array", "object": "object",
}  # fmt: skip
"""What schemas call the sorts of what answers have."""


def does(name: str) -> Callable[[Act], Act]:
    """Return a decorator that makes a function the act of a tool."""

    def put(act: Act) -> Act:
        ACTS[name] = act
        return act

    return put


def read() -> Iterator[Tool]:
    """Yield all tools, in the order of `tools.txt`."""
    return map(_tool, entries(os.path.join(os.path.dirname(__file__), "tools.txt")))


def _tool(entry: Entry) -> Tool:
    name, marks, also, *_ = (*entry.head, "", "")
    verb, marked = entry.asks, frozenset(marks.split())
    act, shape = _act_of_verb(verb, marked) if verb else ACTS[name], shape_of(entry.answers)
    return Tool(name, entry.doc, entry.takes, act, shape, marked, tuple(also.split()), verb)


def shape_of(properties: str) -> Json:
    """Return the JSON schema of an answer: its outline, since each definition is sent to every client. What a memory
    tells is in docs/mcp.md.

    Args:
        properties: what it has, with spaces between: a name, a colon and a sort where it is no text, and "!"
            where it is always there: `id! total:count`.
    """
    words = [word.rstrip("!").partition(":") for word in properties.split()]
    shape: Json = {
        "type": "object",
        "properties": {name: {"type": _SHAPES[sort]} for name, _, sort in words},
    }
    always = [word[:-1].partition(":")[0] for word in properties.split() if word.endswith("!")]
    return {**shape, "required": always} if always else shape


def _act_of_verb(verb: str, marks: frozenset[str]) -> Act:
    """Return the act of a tool that hands its arguments to a verb."""

    def act(caller: Caller, arguments: Json) -> Json:
        request = {"session": caller.session, **arguments} if "session" in marks else arguments
        if "paged" in marks:
            request = {
                name: value for name, value in request.items() if name not in ("limit", "cursor")
            }
            request["k"] = reach(arguments, ON_A_PAGE, MOST_LISTED)
        answer = spoken_answer(caller.ask(verb, request), "foreign" in marks)
        return _as_page(answer, arguments) if "paged" in marks else answer

    return act


def _as_page(answer: Json, arguments: Json) -> Json:
    """Return an answer with the page that is asked for of the list in it, and where the next one begins."""
    result, following = dict(answer), None
    for name, value in answer.items():
        if isinstance(value, list):
            result[name], next_start = page(value, arguments, ON_A_PAGE)
            following = following or next_start
    return {**result, "next_cursor": following}


def spoken_answer(reply: Json, foreign: bool = False) -> Json:
    """Return an answer of the daemon's whose texts can do nothing but be read."""
    return {
        name: value if value is None else harmless_answer(value, foreign)
        for name, value in reply.items()
    }


_SCOPED = (
    "limit", "kinds", "tags", "session", "since", "until", "all_projects", "project", "collections", "priorities",
    "sensitivity_max", "jurisdictions", "tiers",
)  # fmt: skip


def scope_of(arguments: Json) -> Json:
    """Return what a question is limited to, in the daemon's words."""
    filled = {name: arguments[name] for name in _SCOPED if arguments.get(name) is not None}
    limits = {TO_DAEMON.get(name, name): value for name, value in filled.items()}
    return limits | {name: _moment(limits[name]) for name in ("since", "until") if limits.get(name)}


def _moment(date: Any) -> Any:
    """Return when a day begins here, where answers tell the days of memories: the daemon may run in another zone. What
    is no date the daemon refuses."""
    from vector_memory.text import dates

    try:
        return dates.parse(str(date), datetime.now(timezone.utc)).isoformat()
    except ValueError:
        return date


def as_given(error: BadInputError, arguments: Json) -> BadInputError:
    """Return what the daemon reported of a field, by the name of the argument that was given for it."""
    field, _, problem = error.message.partition(" ")
    for argument_name, name in TO_DAEMON.items():
        if name == field and argument_name in arguments and name not in arguments:
            return BadInputError(f"{argument_name} {problem}", error.hint)
    return error


def reach(arguments: Json, default: int, most: int) -> int:
    """Return how many have to be found for the page that is asked for and to know whether another one follows.

    Args:
        default: how many a page has where no limit is given.
        most: how many can be found at all.
    """
    return min(most, (arguments.get("cursor") or 0) + (arguments.get("limit") or default) + 1)


def paged(
    caller: Caller, verb: str, arguments: Json, rows: str, size: tuple[int, int], **fields: Any
) -> tuple[Json, Sequence[Any], int | None]:
    """Ask a verb within a question's limits; return its answer, the page of its rows that is asked for, and where the
    next one begins.

    Args:
        size: how many a page has where no limit is given, and how many can be found at all.
    """
    answer = caller.ask(verb, {**scope_of(arguments), **fields, "k": reach(arguments, *size)})
    return answer, *page(answer[rows], arguments, size[0])


def page(items: Sequence[T], arguments: Json, default: int) -> tuple[Sequence[T], int | None]:
    """Return the page that is asked for of all that was found, and where the next one begins, None after the
    last."""
    start = arguments.get("cursor") or 0
    end = start + (arguments.get("limit") or default)
    return items[start:end], end if len(items) > end else None
