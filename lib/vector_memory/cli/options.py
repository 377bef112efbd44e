"""The options that several verbs share, so that each is called and explained the same everywhere."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

import typer
import typer.core

from vector_memory.cli.dates import at_command_line

_NO_OPTION = re.compile(r"-\S*\s|-[\d.]+$")
"""What begins with a dash and is none: a text of several words, a number."""


class Verb(typer.core.TyperCommand):
    """A command whose values may begin with a dash: `remember "-v means verbose"`, `config set NAME -1`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; texts of several words and numbers are values, whatever they begin with."""
        return super().parse_args(ctx, self._with_values_last(args))

    def _with_values_last(self, args: list[str]) -> list[str]:
        named = {name for one in self.params if _takes_value(one) for name in one.opts}
        until = args.index("--") if "--" in args else len(args)
        options: list[str] = []
        values: list[str] = []
        for before, word in zip(["", *args], args[:until], strict=False):
            is_value = before not in named and _NO_OPTION.match(word)
            (values if is_value else options).append(word)
        return [*options, "--", *values, *args[until + 1 :]] if values else args


def _takes_value(parameter: Any) -> bool:
    return isinstance(parameter, typer.core.TyperOption) and not parameter.is_flag


def group(about: str, **more: Any) -> typer.Typer:
    """Return a verb that has verbs of its own."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, help=about, **more)


def argument(metavar: str, about: str, show_default: bool = True) -> Any:
    """Declare what is typed without a name."""
    return typer.Argument(metavar=metavar, help=about, show_default=show_default)


def value(metavar: str, about: str, *names: str) -> Any:
    """Declare an option that is given a value; without names it is called as its parameter."""
    return typer.Option(*names, metavar=metavar, help=about)


def switch(about: str, *names: str) -> Any:
    """Declare an option without a word for its value: it is given or not, or is one of a few words."""
    return typer.Option(*names, help=about)


def ageing(
    temporal: str | None,
    due: str | None,
    every: str | None,
    half_life: int | None,
    expires: str | None,
) -> dict[str, object]:
    """Return what was said of how a memory ages, as a request says it."""
    said = {
        "temporal": temporal,
        "due": due,
        "every": every,
        "half_life_days": half_life,
        "expires": expires,
    }
    return {name: value for name, value in said.items() if value is not None}


Ceiling = Annotated[
    str | None, typer.Option("--ceiling", metavar="LEVEL", help="Nothing more sensitive than this.")
]


def at_most(number: int) -> Any:
    """Declare how many are wanted at most."""
    return typer.Option("-k", min=1, max=number, metavar="N", help="At most.")


Json = Annotated[bool, switch("Print JSON, for programs.", "--json")]
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


def memory_ids(incomplete: str) -> list[tuple[str, str]]:
    """Return ids that begin so, the newest memories first, each with its text, for a shell to offer."""
    from vector_memory.cli import offered_ids

    return offered_ids.memory_ids(incomplete)


MemoryId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="A memory's id, or how it begins.", autocompletion=memory_ids
    ),
]
TheMemoryId = Annotated[
    str,
    typer.Argument(
        metavar="ID", help="The memory's id, or how it begins.", autocompletion=memory_ids
    ),
]
When = Annotated[
    list[str] | None,
    typer.Option(
        "--when",
        metavar="CONDITION",
        help="When it comes by itself: file:GLOB, command:WORDS, error:WORDS or term:WORDS; may be given again.",
    ),
]
Temporal = Annotated[
    str | None,
    value("CLASS", "How it ages: permanent, decaying, deadline or periodic.", "--temporal"),
]
Due = Annotated[
    str | None,
    value(
        "DATE",
        "Until when a deadline holds, or when what comes back comes first: tomorrow, 2026-12-01.",
        "--due",
    ),
]
Every = Annotated[
    str | None, value("TIME", "It comes back daily, weekly, monthly or yearly.", "--every")
]
HalfLife = Annotated[
    int | None,
    typer.Option(
        "--half-life",
        min=0,
        metavar="DAYS",
        help="Days without use after which it is half as sure; 0 for never.",
    ),
]
Expires = Annotated[str | None, value("DATE", "When it may be removed.", "--expires")]
Sensitivity = Annotated[
    str | None,
    value("LEVEL", "public, internal, confidential or restricted.", "--sensitivity"),
]
Jurisdiction = Annotated[
    str | None, value("LAW", "Whose law it is kept under: EU, UK, CH, US …", "--jurisdiction")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")]
NoWait = Annotated[
    bool,
    typer.Option("--no-wait", help="Return when it can be found by words, before the vectors."),
]
