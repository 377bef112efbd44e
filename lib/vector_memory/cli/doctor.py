"""`doctor`: every hop between a session and its memories, and what mends a broken one."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation


def doctor(call: Invocation, no_start: bool, retry: bool) -> int:
    """Check every hop between a session and its memories; return 1 if one fails."""
    from vector_memory.cli import checks

    tried = call.ask() if retry else Row()
    results = checks.examine(start=not no_start)
    failed = any(result.state == checks.FAIL for result in results)
    report = {"ok": not failed, "checks": [result._asdict() for result in results], **tried}
    call.show(Row(report), _show)
    return 1 if failed else 0


def _show(answer: Row) -> None:
    if "retried" in answer:
        retried, aside = answer.count("retried"), answer.count("set_aside")
        output.say(f"Tried again: {retried} events; set aside: {aside}.")
    for result in answer.rows("checks"):
        state, hop, fix = result.text("state"), result.text("hop"), result.text("fix")
        output.say(f"{state:4}  {hop:10}  {output.plain(result.text('message'))}")
        if fix:
            output.say(f"{'':18}→ {output.plain(fix)}")
