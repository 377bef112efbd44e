"""Attacks on a scratch installation (`red_team`): whether the last one found more than the one before."""

from __future__ import annotations

from collections.abc import Iterator

from vector_memory.cli.checks import Case, CheckResult, ok, warn

AGAIN = "Ask the agent for `red_team` with action report, and again with run."


def check(case: Case) -> Iterator[CheckResult]:
    """Yield what the last attack found."""
    answer = case.ask("red_team", action="report")
    if not answer.rows("runs"):
        yield ok("No attack was tried yet (the tool `red_team`)")
        return
    findings, worse = answer.rows("findings"), answer.texts("regressed")
    if worse:
        message = f"The last attack found more than the one before: {', '.join(worse)}."
        yield warn(message, AGAIN)
    elif findings:
        yield warn(f"The last attack: {answer.text('told')}", AGAIN)
    else:
        yield ok(f"The last attack: {answer.text('told')}")
