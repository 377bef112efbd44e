"""`resume`: where work stopped here, and what is open."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.options import Json, Project

SESSION = "CLAUDE_CODE_SESSION_ID"
LINE_CHARS = 150
ANSWER_CHARS = 400


def resume(
    project: Project = None,
    but: Annotated[
        str | None,
        typer.Option(
            metavar="SESSION", help="A session that is no answer; by default the one you are in."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show where work stopped in this project: the last session, what was decided, what is open."""
    own = but if but is not None else os.environ.get(SESSION, "")
    found = asking.ask("resume", {**asking.target(project), "but": own})
    if as_json:
        output.document(found)
        return
    last = found["session"]
    if last is None:
        output.say(
            "No session of this project is known. `vector-memory backfill` reads earlier ones."
        )
    else:
        _tell_last(last)
        _tell("Left:", last["left"])
    _tell("Decided and found out then:", found["decided"])
    _tell("Open:", found["open"])
    if found["earlier"]:
        output.say("Before that:")
        for one in found["earlier"]:
            topics = "; ".join(one["topics"]) or "(no topics)"
            output.say(f"  {output.day(one['ended_at'])}  {output.one_line(topics, LINE_CHARS)}")


def _tell_last(last: Mapping[str, Any]) -> None:
    output.say(f"Last session: {output.day(last['ended_at'])}  {last['session']}")
    if last["branch"] or last["pull"]:
        pull = f"pull request #{last['pull']}" if last["pull"] else ""
        output.say("  On: " + ", ".join(filter(None, (last["branch"], pull))))
    if last["topics"]:
        output.say(f"  About: {output.one_line('; '.join(last['topics']), LINE_CHARS)}")
    if last["asked"]:
        output.say(f"  Asked last: {output.one_line(last['asked'], LINE_CHARS)}")
    if last["answered"]:
        output.say(f"  It ended: {output.one_line(last['answered'], ANSWER_CHARS)}")
    if last["files"]:
        output.say(f"  Files: {output.one_line(', '.join(last['files']), LINE_CHARS)}")


def _tell(title: str, memories: Sequence[Mapping[str, Any]]) -> None:
    if not memories:
        return
    output.say(title)
    for one in memories:
        head = f"{output.day(one['created_at'])}  {one['kind']}"
        text = output.one_line(one["text"], LINE_CHARS)
        output.say(f"  {head}  {text}  {one['id'][: output.ID_CHARS]}")
