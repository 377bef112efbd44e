"""`entities`: what memories are about, by name."""

from __future__ import annotations

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation

NOTHING = "No memory names anything yet: ideas of indexed sessions do."


def entities(call: Invocation, alias: str | None, of: str | None) -> None:
    """Print what memories name, or have a name go by another one.

    Raises:
        BadParameter: the other name alone was given.
    """
    if alias is None and of is not None:
        raise typer.BadParameter("--of is another name for what --alias gives: say both.")
    if alias:
        answer = asking.ask("alias", {}, name=alias, of=of)
        if not of and not call.as_json:
            output.say(f"{alias} goes by its own name again.")
        call.show(answer, _show_aliases)
        return
    columns = output.fields("memories kind name")
    call.show(call.ask(), lambda answer: output.listing(answer.rows("entities"), columns, NOTHING))


def _show_aliases(answer: Row) -> None:
    aliases = answer.row("aliases")
    for name in aliases:
        output.say(f"{name} goes by {aliases.text(name)}.")
