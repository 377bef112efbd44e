"""`review`: what waits for the user's look, listed or one screen a memory."""

from __future__ import annotations

import sys
from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row
from vector_memory.cli.review_words import DONE, why

Ids = list[str] | None
Confirm = Annotated[
    Ids, options.value("ID", "It holds, as your word: as it was proposed, or rather than the older.", "--confirm")
]  # fmt: skip
Keep = Annotated[
    Ids, options.value("ID", "Leave it as it is: sessions may be given it, as information.", "--keep")
]  # fmt: skip
Drop = Annotated[Ids, options.value("ID", "Forget it, or let it give way to the older.", "--drop")]
Raise = Annotated[Ids, options.value("ID", "It matters one step more.", "--raise")]


def review(
    confirm: Confirm = None,
    keep: Keep = None,
    drop: Drop = None,
    raises: Raise = None,
    finish: Annotated[
        bool, options.switch("All that was captured by now is looked through.", "--finish")
    ] = False,
    plain: Annotated[
        bool, options.switch("Lines and words alone, for screen readers.", "--plain")
    ] = False,
    k: Annotated[int, options.at_most(100_000)] = 100_000,
    as_json: options.Json = False,
) -> None:
    """Look at what was captured and what waits for your word, and decide.

    An agent's rules, what it calls important, and what it would have hold for all projects wait here, and
    bind nobody before. Text that looks like instructions to the model waits here too. Then comes what
    disagrees or repeats itself, and what sessions decided and found since the last review. On a terminal each
    has a screen of its own; elsewhere they are listed. Each option may be given again.
    """
    where = asking.everywhere()
    chosen = {"confirm": confirm, "keep": keep, "drop": drop, "raise": raises}
    if any(chosen.values()) or finish:
        ids = {name: of_name or [] for name, of_name in chosen.items()}
        done = asking.ask("review", {**where, **ids}, finish=finish)
        output.answer(done, as_json, finished)
        return
    answer = asking.ask("review", where, k=k)
    if as_json or not answer.rows("items") or not (sys.stdin.isatty() and sys.stdout.isatty()):
        output.answer(answer, as_json, _show)
        return
    from vector_memory.cli import review_screens

    finished(review_screens.go_through(answer.rows("items"), where, plain))


def _show(answer: Row) -> None:
    if not (items := answer.rows("items")):
        output.say("Nothing waits.")
        return
    output.listing(items, COLUMNS)
    output.say(f"{len(items)} of {answer.count('total')} wait.")


def finished(answer: Row) -> None:
    """Print how many memories were decided about in which way."""
    for name, word in DONE.items():
        if count := answer.count(name):
            output.say(f"{word}: {count}")


def text_of(item: Row) -> str:
    """Return an item's words, and in brackets the older one's."""
    other = item.row("other").text("text")
    return item.text("text") + (f" [older: {other}]" if other else "")


COLUMNS: dict[str, output.Cell] = {
    "id": lambda item: item.id,
    "date": lambda item: item.day(),
    "project": lambda item: item.text("project", "all projects"),
    "why": why,
    "text": lambda item: output.one_line(text_of(item), 160),
}
