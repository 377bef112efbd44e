"""`privacy`: the rules of privacy that count here, how each was understood, and what it takes out."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json, Project


def privacy(
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="Show what would be left of this; - reads stdin."),
    ] = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show the rules of privacy that count here, and what they take out.

    Yours, and those of the project's CLAUDE.md: each with its file and line, how it was understood, an example of what it takes out, and why it is not
    followed where it is not. Nothing is stored.
    """
    request = asking.target(project)
    if text is not None:
        request["text"] = asking.text_of(text)
    answer = asking.ask("privacy", request)
    if as_json:
        output.document(answer)
        return
    if "text" in answer:
        left = answer["text"]
        output.say("Nothing of it is stored." if left is None else left)
        return
    _show(answer)


def _show(answer: dict[str, Any]) -> None:
    rules: list[dict[str, Any]] = answer["rules"]
    path = ""
    for rule in rules:
        if rule["path"] != path:
            path = rule["path"]
            output.say(f"{path} ({rule['whose']})")
        takes = f", such as {rule['example']!r}" if rule["example"] else ""
        output.say(f"  {rule['line']}: {rule['item']}")
        output.say(f"     takes out {rule['meaning']}{takes}")
        if rule["problem"]:
            output.say(f"     NOT FOLLOWED: {rule['problem']}{_CONSEQUENCES[rule['whose']]}")
    told = {f"{rule['path']}:{rule['line']}: {rule['problem']}" for rule in rules}
    for problem in answer["problems"]:
        if problem not in told:
            output.say(f"NOT FOLLOWED: {problem}")
    if not rules and not answer["problems"]:
        output.say(
            'No rules of privacy. A list under "## Privacy" in ~/.claude/CLAUDE.md makes some.'
        )
    output.say(
        f"By setting: {', '.join(answer['personal']) or 'no personal data'} (redact_personal)"
    )


_CONSEQUENCES = {
    "user": "; until it is mended, nothing is stored",
    "project": "; the project's other rules are",
}
