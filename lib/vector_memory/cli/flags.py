"""`flags`: what the observer found in sessions."""

from __future__ import annotations

from typing import Annotated

from vector_memory.cli import asking, options, output
from vector_memory.cli.answers import Row


def flags(
    k: Annotated[int, options.at_most(100_000)] = 100,
    session: options.Session = None,
    since: options.Since = None,
    category: Annotated[
        list[str] | None,
        options.value("NAME", "Only this, such as `delete`; may be given again.", "--category"),
    ] = None,
    project: options.Project = None,
    all_projects: options.AllProjects = False,
    as_json: options.Json = False,
) -> None:
    """Show which tool calls destroyed something or led away from what was asked, newest first.

    `asked` marks those that the user's own words asked for. `config set observer warn` has the agent told
    of the grave ones; `off` ends it.
    """
    where = asking.target(project, all_projects=all_projects)
    answer = asking.ask("flags", where, k=k, session=session, since=since, category=category)
    output.answer(answer, as_json, _show)


def _show(answer: Row) -> None:
    if not (flags := answer.rows("flags")):
        output.say("Nothing was flagged.")
        return
    output.listing(flags, COLUMNS)
    output.say(f"{len(flags)} of {answer.count('total')}: {in_words(answer.counts('counts'))}.")


def in_words(counts: dict[str, int]) -> str:
    """Return counts by category in words."""
    return ", ".join(f"{n:,} {name}" for name, n in counts.items())


def _marks(flag: Row) -> str:
    marks = (flag.text("category"), flag.text("severity"), "asked" if flag.flag("asked") else "")
    return " ".join(filter(None, marks))


COLUMNS: dict[str, output.Cell] = {
    "date": lambda flag: flag.day("at"),
    "session": lambda flag: flag.text("session")[: output.ID_CHARS],
    "what": _marks,
    "call": output.field("text", 70),
    "why": output.field("reason", 110),
}
