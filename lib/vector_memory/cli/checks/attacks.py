"""Attacks on a scratch installation (`red_team`): whether the last one found more than the one before."""

from __future__ import annotations

from collections.abc import Iterator

from vector_memory.cli import asking
from vector_memory.cli.answers import Row
from vector_memory.cli.checks import OK, WARN, Case, CheckResult

AGAIN = "Ask the agent for `red_team` with action report, and again with run."


def check(case: Case) -> Iterator[CheckResult]:
    """Yield what the last attack found."""
    if case.status is None:
        yield CheckResult("attacks", WARN, "Not checked: no daemon runs.", "Mend the daemon first.")
        return
    asked = {**asking.everywhere(), "action": "report"}
    answer = Row(case.daemon().ask("red_team", asked, start=False))
    if not answer.rows("runs"):
        yield CheckResult("attacks", OK, "No attack was tried yet (the tool `red_team`)")
        return
    findings, worse = answer.rows("findings"), answer.texts("regressed")
    if worse:
        message = f"The last attack found more than the one before: {', '.join(worse)}."
        yield CheckResult("attacks", WARN, message, AGAIN)
    elif findings:
        yield CheckResult("attacks", WARN, f"The last attack: {answer.text('told')}", AGAIN)
    else:
        yield CheckResult("attacks", OK, f"The last attack: {answer.text('told')}")
