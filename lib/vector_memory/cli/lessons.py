"""`lessons`: what was learned from how work went in a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json, Project

LINE_CHARS = 150
SHOWN_TRAILS, SHOWN_TROUBLE, SHOWN_THINGS = 6, 6, 12
"""What fits on one screen; `--json` has all of it."""


def lessons(project: Project = None, as_json: Json = False) -> None:
    """Show what was learned here: how tasks went, steps that worked, usual trouble, the state of things."""
    found = asking.ask("lessons", asking.target(project))
    if as_json:
        output.document(found)
        return
    for line in _lines(found):
        indent = line[: len(line) - len(line.lstrip())]
        output.say(indent + output.one_line(line, LINE_CHARS))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    told = found["tasks"]
    if not told["tasks"] and not found["things"]:
        yield f"Nothing was learned in {found['project']} yet: it comes with sessions that do something."
        return
    judged = told["done"] + told["undone"]
    yield (
        f"{found['project']}: {told['tasks']} tasks in {told['sessions']} sessions since {told['since']}, "
        f"{told['done']} of {judged} done"
    )
    for one in found["kinds"]:
        yield (
            f"  {one['kind']:<9} {one['n']:>3}  done {one['done']}, not done {one['undone']}, errors {one['errors']}, "
            f"retries {one['retries']}, median {one['minutes']:g} min"
        )
    yield from _part("Steps that worked", found["trails"], SHOWN_TRAILS, _trail)
    yield from _part("Usual trouble", found["trouble"], SHOWN_TROUBLE, _habit)
    odd = [one for one in found["things"] if one["surprise"]]
    yield from _part("Not as it used to be", odd, SHOWN_TROUBLE, _odd)
    rest = [one for one in found["things"] if not one["surprise"]]
    yield from _part("Last seen", rest, SHOWN_THINGS, _thing)


def _part(title: str, found: Sequence[Mapping[str, Any]], most: int, line_of: Any) -> Iterator[str]:
    if not found:
        return
    more = f" ({most} of {len(found)})" if len(found) > most else ""
    yield f"{title}{more}:"
    for one in found[:most]:
        yield f"  {line_of(one)}"


def _trail(one: Mapping[str, Any]) -> str:
    return f"{one['text']}  [{one['id'][: output.ID_CHARS]}]"


def _habit(one: Mapping[str, Any]) -> str:
    return f"{one['text']} ({one['n']} of {one['of']} tasks, last {one['last']})"


def _odd(one: Mapping[str, Any]) -> str:
    return f"{one['text']}  [{one['id'][: output.ID_CHARS]}]"


def _thing(one: Mapping[str, Any]) -> str:
    took = f", {one['seconds']:g} s" if one["seconds"] else ""
    times = f"the last {one['same']} of {one['seen']} times" if one["kind"] == "command" else ""
    return ", ".join(filter(None, (one["text"], times, f"last {one['last'][:10]}"))) + took
