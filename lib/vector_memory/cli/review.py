"""`review`: what waits for the user's word: what an agent would have bind, and what is held back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row

Confirm = Annotated[
    list[str] | None, options.value("ID", "It is your word: it counts as proposed.", "--confirm")
]
Keep = Annotated[
    list[str] | None, options.value("ID", "Sessions may be given it, as information.", "--keep")
]
Drop = Annotated[list[str] | None, options.value("ID", "Forget it.", "--drop")]
KEYS = {"c": "confirm", "k": "keep", "d": "drop"}
DONE = {"confirmed": "Confirmed", "kept": "Kept", "dropped": "Dropped"}


def review(
    confirm: Confirm = None, keep: Keep = None, drop: Drop = None, as_json: options.Json = False
) -> None:
    """Look at what waits for your word, and decide.

    An agent's rules, what it calls important, and what it would have hold for all projects wait here, and
    bind nobody before. Text that looks like instructions to the model waits here too. On a terminal each is
    shown and asked about; elsewhere they are listed. Each option may be given again.
    """
    where = asking.everywhere()
    chosen = {"confirm": confirm or [], "keep": keep or [], "drop": drop or []}
    if not any(chosen.values()):
        answer = asking.ask("review", where)
        items = answer.rows("items")
        if as_json or not items or not (sys.stdin.isatty() and sys.stdout.isatty()):
            output.answer(answer, as_json, _show)
            return
        chosen = _decide(items)
    if any(chosen.values()):
        output.answer(asking.ask("review", {**where, **chosen}), as_json, _finish)


def _show(answer: Row) -> None:
    if not (items := answer.rows("items")):
        output.say("Nothing waits.")
        return
    output.listing(items, COLUMNS)
    output.say(f"{len(items)} of {answer.count('total')} wait.")


def _decide(items: list[Row]) -> dict[str, list[str]]:
    """Show one after the other and return what is to be done with each."""
    chosen: dict[str, list[str]] = {"confirm": [], "keep": [], "drop": []}
    for number, item in enumerate(items, start=1):
        head = [str(cell(item)) for name, cell in COLUMNS.items() if name != "text"]
        output.say(f"\n{number} of {len(items)} · {' · '.join(head)}")
        output.say(output.plain(item.text("text")))
        keys = [key for key, action in KEYS.items() if action in item.texts("actions")]
        words = ", ".join(f"{key} = {KEYS[key]}" for key in keys)
        key = typer.prompt(f"{words}, s = later, q = end", default="s", err=True)
        if key == "q":
            break
        if key in keys:
            chosen[KEYS[key]].append(item.text("id"))
    return chosen


def _finish(answer: Row) -> None:
    for name, word in DONE.items():
        if count := answer.count(name):
            output.say(f"{word}: {count}")


def _why(item: Row) -> str:
    """Return why an item waits: as what it is proposed, and what looks odd in it."""
    proposed = item.row("proposed")
    weights = [proposed.text(name) for name in ("kind", "priority", "collection")]
    weights.append("for all projects" if proposed.flag("global") else "")
    weight = ", ".join(filter(None, weights))
    parts = [f"proposed as {weight}"] if weight else []
    return "; ".join([*parts, *item.row("suspicious").texts("reasons")])


COLUMNS: dict[str, output.Cell] = {
    "id": lambda item: item.id,
    "date": lambda item: item.day(),
    "project": lambda item: item.text("project", "all projects"),
    "why": _why,
    "text": output.field("text", 160),
}
