"""`privacy`: the rules of privacy that count here, how each was understood, and what it takes out."""

from __future__ import annotations

from vector_memory.cli import output
from vector_memory.cli.answers import Row

_CONSEQUENCES = {
    "user": "; until it is mended, nothing is stored",
    "project": "; the project's other rules are",
}


def show(answer: Row, text: str | None) -> None:
    """Print the rules of privacy, or what they leave of a text."""
    if text is not None:
        remaining = answer.get("text")
        output.say("Nothing of it is stored." if remaining is None else str(remaining))
        return
    rules, problems, path = answer.rows("rules"), answer.texts("problems"), ""
    levels = answer.rows("levels")
    for rule in rules:
        if rule.text("path") != path:
            path = rule.text("path")
            output.say(f"{path} ({rule.text('whose')})")
        example = rule.text("example")
        takes = f", such as {example!r}" if example else ""
        output.say(f"  {rule.text('line')}: {rule.text('item')}")
        output.say(f"     takes out {rule.text('meaning')}{takes}")
        if problem := rule.text("problem"):
            output.say(f"     NOT FOLLOWED: {problem}{_CONSEQUENCES[rule.text('whose')]}")
    shown_problems = {
        f"{rule.text('path')}:{rule.text('line')}: {rule.text('problem')}" for rule in rules
    }
    for problem in problems:
        if problem not in shown_problems:
            output.say(f"NOT FOLLOWED: {problem}")
    for level in levels:
        output.say(f"{level.text('mark')}: {level.text('named')} ({level.text('path')})")
    if not rules and not problems and not levels:
        output.say(
            'No rules of privacy. A list under "## Privacy" in ~/.claude/CLAUDE.md makes some.'
        )
    personal = ", ".join(answer.texts("personal")) or "no personal data"
    output.say(f"By setting: {personal} (redact_personal)")
