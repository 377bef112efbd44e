"""`review`: what waits for the user's look, listed or one screen a memory."""

from __future__ import annotations

import sys

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation
from vector_memory.cli.review_words import DONE, why


def review(call: Invocation, plain: bool) -> None:
    """Print what waits for the user's look, do what the options decide, or go through all on the terminal."""
    answer = call.ask()
    items = answer.rows("items")
    if "items" not in answer:
        call.show(answer, finished)
    elif call.as_json or not items or not (sys.stdin.isatty() and sys.stdout.isatty()):
        call.show(answer, _show)
    else:
        from vector_memory.cli import review_screens

        finished(review_screens.go_through(items, asking.everywhere(), plain))


def _show(answer: Row) -> None:
    items = answer.rows("items")
    if output.listing(items, COLUMNS, "Nothing waits."):
        output.say(f"{len(items)} of {answer.count('total')} wait.")


def finished(answer: Row) -> None:
    """Print how many memories were decided about in which way."""
    for name, word in DONE.items():
        if count := answer.count(name):
            output.say(f"{word}: {count}")


def text_of(item: Row) -> str:
    """Return an item's words, and in brackets the older one's."""
    older_text = item.row("other").text("text")
    return item.text("text") + (f" [older: {older_text}]" if older_text else "")


COLUMNS: dict[str, output.Cell] = {
    "id": lambda item: item.id,
    "date": lambda item: item.day(),
    "project": lambda item: item.text("project", "all projects"),
    "why": why,
    "text": lambda item: output.one_line(text_of(item), 160),
}
