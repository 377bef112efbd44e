"""`topics`: sessions and what was talked about in them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import iso
from vector_memory.cli.options import AllProjects, Json, Project, Since, Until


def topics(
    k: Annotated[
        int, typer.Option("-k", min=1, max=100_000, metavar="N", help="Memories to look at.")
    ] = 200,
    project: Project = None,
    all_projects: AllProjects = False,
    since: Since = None,
    until: Until = None,
    session: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Only this session."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show sessions and what was said in them, the newest first."""
    payload = {
        **asking.target(project, all_projects=all_projects),
        "k": k,
        "offset": 0,
        "since": iso(since),
        "until": iso(until),
        "kind": [],
        "tag": [],
        "session": session,
    }
    grouped = by_session(asking.ask("list", payload).get("memories", []))
    if as_json:
        output.document({"sessions": grouped})
        return
    for one in grouped:
        output.say(f"{output.day(one['started_at'])}  session {output.plain(one['session'])}")
        for topic in one["topics"]:
            output.say(
                f"  {topic['id'][: output.ID_CHARS]}  {output.one_line(topic['title'], 100)}"
            )
    if not grouped:
        output.say("No sessions.")


def by_session(memories: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return memories of sessions, grouped: newest session first, each in its own order."""
    sessions: dict[str, list[dict[str, Any]]] = {}
    for memory in memories:
        session = (memory.get("source") or {}).get("session")
        if session:
            sessions.setdefault(session, []).append(memory)
    grouped = [_session(name, members) for name, members in sessions.items()]
    return sorted(grouped, key=lambda one: str(one["started_at"]), reverse=True)


def _session(name: str, members: list[dict[str, Any]]) -> dict[str, Any]:
    ordered = sorted(members, key=lambda one: (str(one.get("created_at")), _turn(one)))
    titles = [
        {"id": str(one["id"]), "title": one.get("title") or one.get("text", "")} for one in ordered
    ]
    return {"session": name, "started_at": ordered[0].get("created_at"), "topics": titles}


def _turn(memory: dict[str, Any]) -> int:
    return int((memory.get("source") or {}).get("turn") or 0)
