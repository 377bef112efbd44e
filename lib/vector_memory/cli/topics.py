"""`topics`: sessions and what was talked about in them, as trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import iso
from vector_memory.cli.options import AllProjects, Json, Project, Since, Until

if TYPE_CHECKING:
    from rich.tree import Tree

NAME_CHARS = 80
SUMMARY_CHARS = 240
SHOWN_TOPICS = 12
"""Topics of each session that a list of several shows."""


def topics(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]", help="A session's id or how it begins; else the newest."
        ),
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=1, max=1_000, metavar="N", help="Sessions at most.")
    ] = 8,
    project: Project = None,
    all_projects: AllProjects = False,
    since: Since = None,
    until: Until = None,
    as_json: Json = False,
) -> None:
    """Show sessions as trees of topics, the newest first; one session with its summaries."""
    payload = {
        **asking.target(project, all_projects=all_projects),
        "k": k,
        "since": iso(since),
        "until": iso(until),
        "session": session,
    }
    found = asking.ask("topics", payload)["sessions"]
    if as_json:
        output.document({"sessions": found})
        return
    for one in found:
        output.tree(_drawn(one, whole=session is not None))
    if not found:
        output.say("No sessions.")


def _drawn(session: Mapping[str, Any], whole: bool) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    head = f"{output.day(session['started_at'])}  session {session['session']}"
    drawn = Tree(Text(output.plain(f"{head}  {session.get('project') or ''}".rstrip())))
    nodes = session["topics"]
    for one in nodes if whole else nodes[:SHOWN_TOPICS]:
        _add(drawn, one, whole)
    if not whole and len(nodes) > SHOWN_TOPICS:
        drawn.add(Text(f"… {len(nodes) - SHOWN_TOPICS} more"))
    return drawn


def _add(drawn: Tree, node: Mapping[str, Any], whole: bool) -> None:
    from rich.text import Text

    first, last = node["lines"]
    place = f"  lines {first}-{last}" if first else ""
    line = f"{output.one_line(node['title'], NAME_CHARS)}{place}  {node['id'][: output.ID_CHARS]}"
    branch = drawn.add(Text(line))
    if not whole:
        return
    for said in str(node.get("summary") or "").splitlines() if not node["parts"] else ():
        branch.add(Text(output.one_line(said, SUMMARY_CHARS)))
    for part in node["parts"]:
        _add(branch, part, whole)
