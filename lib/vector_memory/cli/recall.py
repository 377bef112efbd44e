"""`recall`: the memories that answer a question."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import iso
from vector_memory.cli.options import AllProjects, Global, Json, Kind, Project, Since, Tag, Until

DEFAULT_K = 10


def recall(
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", help="The question; - reads stdin.", show_default=False),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, metavar="N", help="Hits.")] = DEFAULT_K,
    project: Project = None,
    only_global: Global = False,
    all_projects: AllProjects = False,
    since: Since = None,
    until: Until = None,
    kind: Kind = None,
    tag: Tag = None,
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='JSON lines {"query", "k", "project", "all_projects"}; - reads stdin. '
            "Each is answered with one line, in order.",
        ),
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Show what made each score.")] = False,
    as_json: Json = False,
) -> None:
    """Find memories by meaning and by words, best first."""
    if (query is None) == (batch is None):
        raise typer.BadParameter("Give either a QUERY or --batch FILE.")
    limits = _limits(since, until, kind, tag)
    payload = {**asking.target(project, only_global, all_projects), **limits, "k": k}
    if batch is not None:
        from vector_memory.cli.batch import answer_lines

        answer_lines(batch, payload)
        return
    answer = asking.ask("recall", {**payload, "query": asking.text_of(query or "")})
    if as_json:
        output.document(answer)
    else:
        show(answer, why)


def _limits(
    since: datetime | None, until: datetime | None, kind: list[str] | None, tag: list[str] | None
) -> dict[str, Any]:
    return {"since": iso(since), "until": iso(until), "kind": kind or [], "tag": tag or []}


def show(answer: dict[str, Any], why: bool) -> None:
    """Print hits for people."""
    hits = answer.get("hits", [])
    if not hits:
        output.say("Nothing found.")
    else:
        output.table(("score", "id", "date", "kind", "project", "text"), map(_row, hits))
    if why:
        for hit in hits:
            output.say(f"{str(hit['id'])[: output.ID_CHARS]}  {_breakdown(hit)}")
    if answer.get("mode") == "lexical":
        output.note("Found by words only: the embedding model is not up.")


def _row(hit: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{float(hit.get('score', 0.0)):.3f}",
        str(hit.get("id", ""))[: output.ID_CHARS],
        output.day(hit.get("created_at")),
        str(hit.get("kind", "")),
        output.project_name(hit),
        output.one_line(str(hit.get("text", ""))),
    )


def _breakdown(hit: dict[str, Any]) -> str:
    parts = hit.get("breakdown") or {}
    return "  ".join(
        f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}"
        for name, value in parts.items()
    )
