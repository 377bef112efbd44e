"""`privacy`: the rules of privacy that count here, how each was understood, and what it takes out."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row

_CONSEQUENCES = {
    "user": "; until it is mended, nothing is stored",
    "project": "; the project's other rules are",
}


def privacy(
    text: Annotated[
        str | None, options.argument("TEXT", "Show what would be left of this; - reads stdin.")
    ] = None,
    project: options.Project = None,
    as_json: options.Json = False,
) -> None:
    """Show the rules of privacy that count here, and what they take out.

    Yours, and those of the project's CLAUDE.md: each with its file and line, how it was understood, an example of what it takes out, and why it is not
    followed where it is not. Nothing is stored.
    """
    draft = None if text is None else asking.text_of(text)
    answer = asking.ask("privacy", asking.target(project), text=draft)
    output.answer(answer, as_json, _show if draft is None else _show_rest)


def _show_rest(answer: Row) -> None:
    left = answer.fields.get("text")
    output.say("Nothing of it is stored." if left is None else str(left))


def _show(answer: Row) -> None:
    rules, problems, path = answer.rows("rules"), answer.texts("problems"), ""
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
    shown = {f"{rule.text('path')}:{rule.text('line')}: {rule.text('problem')}" for rule in rules}
    for problem in problems:
        if problem not in shown:
            output.say(f"NOT FOLLOWED: {problem}")
    if not rules and not problems:
        output.say(
            'No rules of privacy. A list under "## Privacy" in ~/.claude/CLAUDE.md makes some.'
        )
    personal = ", ".join(answer.texts("personal")) or "no personal data"
    output.say(f"By setting: {personal} (redact_personal)")
