"""The options that several verbs share, so that each is called and explained the same everywhere."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from vector_memory.cli.dates import at_command_line

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Project = Annotated[
    str | None,
    typer.Option("--project", metavar="DIR", help="A project's folder instead of this one."),
]
Global = Annotated[
    bool, typer.Option("--global", help="Only what belongs to you rather than to a project.")
]
AllProjects = Annotated[bool, typer.Option("--all-projects", help="Every project.")]
Kind = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only this kind; may be given again."),
]
Tag = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Only with this tag; may be given again."),
]
Entity = Annotated[
    list[str] | None,
    typer.Option(
        "--entity",
        metavar="NAME",
        help="Only what names this file, technology, concept, person or project.",
    ),
]
Session = Annotated[
    list[str] | None,
    typer.Option("--session", metavar="ID", help="Only of this session; may be given again."),
]
Since = Annotated[
    datetime | None,
    typer.Option(
        "--since",
        metavar="DATE",
        parser=at_command_line,
        help="Not before: 2026-11-20, an ISO time, yesterday, last week, 3d or 2w.",
    ),
]
Until = Annotated[
    datetime | None,
    typer.Option(
        "--until", metavar="DATE", parser=at_command_line, help="Before this moment, as --since."
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
NoWait = Annotated[
    bool,
    typer.Option("--no-wait", help="Return when it can be found by words, before the vectors."),
]
