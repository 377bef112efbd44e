"""`review`: what waits for the user's word: what an agent would have bind, and what is held back."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json

Confirm = Annotated[
    list[str] | None,
    typer.Option("--confirm", metavar="ID", help="It is your word: it counts as proposed."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="ID", help="Sessions may be given it, as information."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="ID", help="Forget it."),
]
KEYS = {"c": "confirm", "k": "keep", "d": "drop"}
DONE = {"confirmed": "Confirmed", "kept": "Kept", "dropped": "Dropped"}


def review(
    confirm: Confirm = None, keep: Keep = None, drop: Drop = None, as_json: Json = False
) -> None:
    """Look at what waits for your word, and decide.

    An agent's rules, what it calls important, and what it would have hold for all projects wait here, and
    bind nobody before. Text that looks like instructions to the model waits here too. On a terminal each is
    shown and asked about; elsewhere they are listed. Each option may be given again.
    """
    chosen = {"confirm": confirm or [], "keep": keep or [], "drop": drop or []}
    if not any(chosen.values()):
        answer = asking.ask("review", asking.target(all_projects=True))
        if as_json:
            output.document(answer)
            return
        items: list[dict[str, Any]] = answer.get("items", [])
        if not items:
            output.say("Nothing waits.")
            return
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            output.table(("id", "date", "project", "why", "text"), map(_row, items))
            output.say(f"{len(items)} of {answer.get('total', len(items))} wait.")
            return
        chosen = _asked(items)
    if any(chosen.values()):
        _finish(asking.ask("review", {**asking.target(all_projects=True), **chosen}), as_json)


def _asked(items: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Show one after the other and return what is to be done with each."""
    chosen: dict[str, list[str]] = {"confirm": [], "keep": [], "drop": []}
    for number, item in enumerate(items, start=1):
        output.say(f"\n{number} of {len(items)} · {' · '.join(_row(item)[:-1])}")
        output.say(output.plain(str(item["text"])))
        keys = [key for key, action in KEYS.items() if action in item["actions"]]
        words = ", ".join(f"{key} = {KEYS[key]}" for key in keys)
        key = typer.prompt(f"{words}, s = later, q = end", default="s", err=True)
        if key == "q":
            break
        if key in keys:
            chosen[KEYS[key]].append(str(item["id"]))
    return chosen


def _finish(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        output.document(answer)
        return
    for name, word in DONE.items():
        if answer.get(name):
            output.say(f"{word}: {len(answer[name])}")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(item.get("id", ""))[: output.ID_CHARS],
        output.day(item.get("created_at")),
        str(item.get("project") or "all projects"),
        _why(item),
        output.one_line(str(item.get("text", "")), 160),
    )


def _why(item: dict[str, Any]) -> str:
    """Return why an item waits: as what it is proposed, and what looks odd in it."""
    asks = item.get("proposed") or {}
    told = [str(asks[name]) for name in ("kind", "priority", "collection") if asks.get(name)]
    told += ["for all projects"] if asks.get("global") else []
    parts = [f"proposed as {', '.join(told)}"] if told else []
    reasons = (item.get("suspicious") or {}).get("reasons") or ()
    return "; ".join([*parts, *map(str, reasons)])
