"""`recall`: the memories that answer a question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from vector_memory.cli import asking, output
from vector_memory.cli.dates import iso
from vector_memory.cli.options import (
    AllProjects,
    Entity,
    Global,
    Json,
    Kind,
    Project,
    Session,
    Since,
    Tag,
    Until,
)
from vector_memory.errors import StoreFullError
from vector_memory.system.paths import Home

DEFAULT_K = 10
PARTS = {
    "own": "its words match",
    "before": "the words just before it match",
    "before2": "the words two before it match",
    "after": "the words just after it match",
    "dense": "its meaning is near",
    "pooled": "its meaning together with its neighbours' is near",
    "speaker": "it was said by whom the question names",
    "date": "it is of the time asked about",
    "size": "it says much",
    "question": "it is a question itself",
    "when": "it says when, as asked",
    "kind": "it is of the kind asked for",
    "role": "it was said by the side asked about",
    "exact": "it holds what the question names exactly",
    "support": "its conversation matches in several places",
    "project": "it is of this project",
}
MEASURES = {
    "similarity": "all of these together",
    "cosine": "cosine of the vectors",
    "bm25": "BM25 of its words",
    "words": "share of the question's words that it holds",
    "relevance": "relevance: a prompt is given it from the threshold on",
}
FACTORS = {
    "recency": "how recent (0 to 1; the four factors raise the score by a tenth at most)",
    "priority": "its priority",
    "usage": "how often it was used",
    "confidence": "how sure it is",
}
"""What the names in a breakdown mean."""


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
    entity: Entity = None,
    session: Session = None,
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help='JSON lines {"query", "k", "project", "all_projects"}; - reads stdin. '
            "Each is answered with one line, in order.",
        ),
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Explain each hit's score.")] = False,
    by_topic: Annotated[bool, typer.Option("--by-topic", help="Group the hits by topic.")] = False,
    history: Annotated[
        bool, typer.Option("--history", help="Show what was so before: was X until 3 May, now Y.")
    ] = False,
    context: Annotated[
        int,
        typer.Option("--context", min=0, max=10, metavar="N", help="Turns around each hit."),
    ] = 0,
    as_json: Json = False,
) -> None:
    """Find memories by meaning and by words, best first."""
    if (query is None) == (batch is None):
        raise typer.BadParameter("Give either a QUERY or --batch FILE.")
    payload = {
        **asking.target(project, only_global, all_projects),
        "since": iso(since),
        "until": iso(until),
        "kind": kind or [],
        "tag": tag or [],
        "entity": entity or [],
        "session": session or [],
        "k": k,
        "by_topic": by_topic,
        "history": history,
        "context": context,
    }
    if batch is not None:
        from vector_memory.cli.batch import answer_lines

        answer_lines(batch, payload)
        return
    answer = _ask({**payload, "query": asking.text_of(query or "")})
    if as_json:
        output.document(answer)
    else:
        show(answer, why)


def _ask(payload: dict[str, Any]) -> dict[str, Any]:
    try:
        return asking.ask("recall", payload)
    except StoreFullError as error:
        # No daemon can run here: what can be read is read.
        from vector_memory.cli import offline

        output.note(f"{error.message} Found by words only, without filters.")
        return offline.recall(Home(), payload["query"], payload)


def show(answer: dict[str, Any], why: bool) -> None:
    """Print hits for people."""
    hits = answer.get("hits", [])
    if not hits:
        output.say("Nothing found.")
    elif answer.get("note"):
        output.say(output.plain(str(answer["note"])))
    for topic in answer.get("topics") or [{"ids": [hit.get("id") for hit in hits]}]:
        inside = [hit for hit in hits if hit.get("id") in topic["ids"]]
        if inside and topic.get("topic"):
            output.say(f"\n{output.plain(topic['topic'])}")
        if inside:
            output.table(("score", "id", "date", "kind", "project", "text"), map(_row, inside))
    for hit in hits:
        _details(hit, why)
    if answer.get("mode") == "lexical":
        output.note("Found by words only: the embedding model is not up.")


def _details(hit: dict[str, Any], why: bool) -> None:
    """Print what was asked for beside a hit."""
    lines = list(explained(hit.get("breakdown") or {})) if why else []
    if hit.get("history"):
        lines.append(str(hit["history"]["summary"]))
    for label in ("before", "after"):
        lines += [f"{label}: {output.one_line(text)}" for text in hit.get(label) or ()]
    if lines:
        output.say(f"\n{str(hit['id'])[: output.ID_CHARS]}")
    for line in lines:
        output.say(f"  {output.plain(line)}")


def _row(hit: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{float(hit.get('score', 0.0)):.3f}",
        str(hit.get("id", ""))[: output.ID_CHARS],
        output.day(hit.get("created_at")),
        str(hit.get("kind", "")),
        output.project_name(hit),
        output.one_line(output.warning(hit) + str(hit.get("text", ""))),
    )


def explained(breakdown: dict[str, Any]) -> Iterator[str]:
    """Yield what made a score: the parts that add up to it, the greatest first, then the factors
    that multiply it, and what decides whether a prompt is given it."""
    known = {**MEASURES, **FACTORS}
    parts = {name: float(value) for name, value in breakdown.items() if name not in known}
    for name, value in sorted(parts.items(), key=lambda part: -abs(part[1])):
        if value:
            yield f"{value:+.3f}  {PARTS.get(name, name)}"
    for name, meaning in known.items():
        if name in breakdown:
            yield f"{float(breakdown[name]):6.3f}  {meaning}"
