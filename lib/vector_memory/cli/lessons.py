"""`lessons`: what was learned from how work went in a project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from vector_memory.cli import output
from vector_memory.cli.answers import Row

LINE_CHARS = 150
SHOWN_TRAILS, SHOWN_TROUBLE, SHOWN_THINGS = 6, 6, 12
"""What fits on one screen; `--json` has all of it."""


def show(answer: Row) -> None:
    """Print what was learned in a project."""
    output.indented(_lines(answer), LINE_CHARS)


def _lines(answer: Row) -> Iterator[str]:
    project, tasks, things = answer.text("project"), answer.row("tasks"), answer.rows("things")
    done = tasks.count("done")
    if not tasks.count("tasks") and not things:
        yield f"Nothing was learned in {project} yet: it comes with sessions that do something."
        return
    judged = done + tasks.count("undone")
    yield (
        f"{project}: {tasks.count('tasks')} tasks in {tasks.count('sessions')} sessions since "
        f"{tasks.text('since')}" + (f", {done} of {judged} done" if judged else "")
    )
    for kind in answer.rows("kinds"):
        yield (
            f"  {kind.text('kind'):<9} {kind.count('n'):>3}  done {kind.count('done')}, "
            f"not done {kind.count('undone')}, errors {kind.count('errors')}, "
            f"retries {kind.count('retries')}, median {kind.number('minutes'):g} min"
        )
    yield from _part("Steps that worked", answer.rows("trails"), SHOWN_TRAILS, _named)
    yield from _part("Usual trouble", answer.rows("trouble"), SHOWN_TROUBLE, _habit)
    odd = [thing for thing in things if thing.flag("surprise")]
    yield from _part("Not as it used to be", odd, SHOWN_TROUBLE, _named)
    rest = [thing for thing in things if not thing.flag("surprise")]
    yield from _part("Last seen", rest, SHOWN_THINGS, _thing)


def _part(
    title: str, rows: Sequence[Row], most: int, line_of: Callable[[Row], str]
) -> Iterator[str]:
    if not rows:
        return
    more = f" ({most} of {len(rows)})" if len(rows) > most else ""
    yield f"{title}{more}:"
    for row in rows[:most]:
        yield f"  {line_of(row)}"


def _named(row: Row) -> str:
    return f"{row.text('text')}  [{row.id}]"


def _habit(habit: Row) -> str:
    times = f"{habit.count('n')} of {habit.count('of')} tasks"
    end = habit.text("end")
    return f"{habit.text('text')} ({times}, last {habit.text('last')})" + (
        f" → {end}" if end else ""
    )


def _thing(thing: Row) -> str:
    seconds, last = thing.number("seconds"), thing.text("last")[:10]
    took = f", {seconds:g} s" if seconds else ""
    same = f"the last {thing.count('same')} of {thing.count('seen')} times"
    times = same if thing.text("kind") == "command" else ""
    return ", ".join(filter(None, (thing.text("text"), times, f"last {last}"))) + took
