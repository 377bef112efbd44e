"""`feed`: a conversation of another program, as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.errors import BadInputError

AT_ONCE, BYTES_AT_ONCE = 100, 1_000_000
LONGEST_LINE = 2_000_000


def feed(
    source: Annotated[str, options.argument("-", "Reads stdin.")],
    session: Annotated[str, options.value("NAME", "The conversation's name.", "--session")],
    client: Annotated[str, options.value("NAME", "The program's name.", "--client")] = "feed",
    project: options.Project = None,
    final: Annotated[bool, options.switch("The conversation is over.", "--final")] = False,
    speaks_for_me: Annotated[
        bool, options.switch("What has the role user, you have said yourself.", "--speaks-for-me")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Take over a conversation from stdin: JSON lines {"id", "role", "text", "at"}.

    Each message counts once, by its id. Roles: user, assistant, system, tool. What is taken over is on the
    disk, and read soon after, as transcripts are.
    """
    if source != asking.STDIN:
        raise typer.BadParameter("Only - is read: redirect a file to stdin.")
    where = asking.target(project)
    about: asking.Said = {"session": session, "client": client, "speaks_for_me": speaks_for_me}
    done = {"accepted": 0, "queued": 0, "duplicates": 0}
    for messages in _parts(_lines(sys.stdin.buffer)):
        answer = asking.ask("feed", {**where, **about}, messages=messages)
        done = {name: n + answer.count(name) for name, n in done.items()}
    if final:
        asking.ask("feed", {**where, **about}, final=True)
    words = f"{done['accepted']} taken over."
    output.answer(Row(done), as_json, lambda _: output.say(words))


def _lines(lines: Iterable[bytes]) -> Iterator[object]:
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise BadInputError(f"Line {number} is too long.", "Split the message.")
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            raise BadInputError(
                f"Line {number} is no JSON.", "What came before it was taken over."
            ) from None


def _parts(messages: Iterator[object]) -> Iterator[list[object]]:
    """Yield messages as they are sent: a few at once."""
    part: list[object] = []
    size = 0
    for message in messages:
        part.append(message)
        size += len(json.dumps(message))
        if len(part) >= AT_ONCE or size > BYTES_AT_ONCE:
            yield part
            part, size = [], 0
    if part:
        yield part
