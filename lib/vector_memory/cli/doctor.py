"""`doctor`: every hop between a session and its memories, and what mends a broken one."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row

RETRY_S = 90.0


def doctor(
    no_start: Annotated[bool, options.switch("Only look: start no daemon.", "--no-start")] = False,
    retry: Annotated[
        bool, options.switch("Try once more the events that failed and were set aside.", "--retry")
    ] = False,
    as_json: options.Json = False,
) -> int:
    """Check every hop between a session and its memories.

    These are runtime, model, daemon, stores, hooks, client, the language model if one is chosen,
    last errors and disk. Exit 1 if one fails; what would mend it stands below it.
    """
    from vector_memory.cli import checks

    tried = asking.ask("retry", {}, RETRY_S) if retry else Row({})
    results = checks.examine(start=not no_start)
    failed = any(result.state == checks.FAIL for result in results)
    whole = {"ok": not failed, "checks": [result._asdict() for result in results], **tried.fields}
    output.answer(Row(whole), as_json, _show)
    return 1 if failed else 0


def _show(answer: Row) -> None:
    if "retried" in answer.fields:
        retried, aside = answer.count("retried"), answer.count("set_aside")
        output.say(f"Tried again: {retried} events; set aside: {aside}.")
    for result in answer.rows("checks"):
        state, hop, fix = result.text("state"), result.text("hop"), result.text("fix")
        output.say(f"{state:4}  {hop:10}  {output.plain(result.text('message'))}")
        if fix:
            output.say(f"{'':18}→ {output.plain(fix)}")
