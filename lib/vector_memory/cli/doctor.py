"""`doctor`: every hop between a session and its memories, and what mends a broken one."""

from __future__ import annotations

from typing import Annotated

import typer

from vector_memory.cli import output
from vector_memory.cli.options import Json

RETRY_S = 90.0


def doctor(
    no_start: Annotated[
        bool, typer.Option("--no-start", help="Only look: start no daemon.")
    ] = False,
    retry: Annotated[
        bool,
        typer.Option("--retry", help="Try once more the events that failed and were set aside."),
    ] = False,
    as_json: Json = False,
) -> int:
    """Check every hop between a session and its memories.

    These are runtime, model, daemon, stores, hooks, client, the language model if one is chosen,
    last errors and disk. Exit 1 if one fails; what would mend it stands below it.
    """
    from vector_memory.cli import asking, checks

    tried = asking.daemon().ask("retry", {}, timeout_s=RETRY_S) if retry else {}
    findings = checks.examine(start=not no_start)
    failed = any(one.state == checks.FAIL for one in findings)
    if as_json:
        output.document({"ok": not failed, "checks": [one._asdict() for one in findings], **tried})
        return 1 if failed else 0
    if retry:
        output.say(f"Tried again: {tried['retried']} events; set aside: {tried['set_aside']}.")
    for one in findings:
        output.say(f"{one.state:4}  {one.hop:10}  {output.plain(one.message)}")
        if one.fix:
            output.say(f"{'':18}→ {output.plain(one.fix)}")
    return 1 if failed else 0
