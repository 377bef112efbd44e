"""`feed`: a conversation of another program, as JSON lines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator

import typer

from vector_memory.cli import asking
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import BadInputError

AT_ONCE, BYTES_AT_ONCE = 100, 1_000_000
LONGEST_LINE = 2_000_000


def feed(call: Invocation, source: str, final: bool) -> None:
    """Hand a conversation on stdin over to the daemon, a few messages at once.

    Raises:
        BadParameter: something else than stdin is named.
        BadInputError: a line is no JSON, or too long; what came before it was taken over.
    """
    if source != asking.STDIN:
        raise typer.BadParameter("Only - is read: redirect a file to stdin.")
    totals = {"accepted": 0, "queued": 0, "duplicates": 0}
    for messages in _parts(_lines(sys.stdin.buffer)):
        answer = call.ask(messages=messages)
        totals = {name: total + answer.count(name) for name, total in totals.items()}
    if final:
        call.ask(final=True)
    call.say(Row(totals), f"{totals['accepted']} taken over.")


def _lines(lines: Iterable[bytes]) -> Iterator[object]:
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise BadInputError(
                f"Line {number} is too long.",
                "Split the message. What came before it was taken over.",
            )
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            raise BadInputError(
                f"Line {number} is no JSON.", "What came before it was taken over."
            ) from None


def _parts(messages: Iterator[object]) -> Iterator[list[object]]:
    """Yield messages as they are sent: a few at once, and those before a line that is none."""
    part: list[object] = []
    size = 0
    try:
        for message in messages:
            part.append(message)
            size += len(json.dumps(message))
            if len(part) >= AT_ONCE or size > BYTES_AT_ONCE:
                yield part
                part, size = [], 0
    except BadInputError:
        if part:
            yield part
        raise
    if part:
        yield part
