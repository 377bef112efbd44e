"""`entities`: what memories are about, by name."""

from __future__ import annotations

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation

NOTHING = "No memory names anything yet: ideas of indexed sessions do."


def entities(call: Invocation, alias: str | None, of: str | None) -> None:
    """Print what memories name, or have a name go by another one."""
    if alias:
        call.show(asking.ask("alias", {}, name=alias, of=of), _show_aliases)
        return
    columns = output.fields("memories kind name")
    call.show(call.ask(), lambda answer: output.listing(answer.rows("entities"), columns, NOTHING))


def _show_aliases(answer: Row) -> None:
    aliases = answer.row("aliases")
    for name in aliases.fields:
        output.say(f"{name} goes by {aliases.text(name)}.")
