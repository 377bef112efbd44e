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
    project, tasks, lessons = answer.text("project"), answer.row("tasks"), answer.rows("things")
    done = tasks.count("done")
    if not tasks.count("tasks") and not lessons:
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
    yield from _section("Steps that worked", answer.rows("trails"), SHOWN_TRAILS, _with_id)
    yield from _section("Usual trouble", answer.rows("trouble"), SHOWN_TROUBLE, _habit)
    surprising = [lesson for lesson in lessons if lesson.flag("surprise")]
    yield from _section("Not as it used to be", surprising, SHOWN_TROUBLE, _with_id)
    expected = [lesson for lesson in lessons if not lesson.flag("surprise")]
    yield from _section("Last seen", expected, SHOWN_THINGS, _lesson)


def _section(
    title: str, rows: Sequence[Row], most: int, line_of: Callable[[Row], str]
) -> Iterator[str]:
    if not rows:
        return
    count_note = f" ({most} of {len(rows)})" if len(rows) > most else ""
    yield f"{title}{count_note}:"
    for row in rows[:most]:
        yield f"  {line_of(row)}"


def _with_id(row: Row) -> str:
    return f"{row.text('text')}  [{row.id}]"


def _habit(habit: Row) -> str:
    times = f"{habit.count('n')} of {habit.count('of')} tasks"
    end = habit.text("end")
    return f"{habit.text('text')} ({times}, last {habit.text('last')})" + (
        f" → {end}" if end else ""
    )


def _lesson(lesson: Row) -> str:
    seconds, last_day = lesson.number("seconds"), lesson.text("last")[:10]
    took = f", {seconds:g} s" if seconds else ""
    same_times = f"the last {lesson.count('same')} of {lesson.count('seen')} times"
    times = same_times if lesson.text("kind") == "command" else ""
    return ", ".join(filter(None, (lesson.text("text"), times, f"last {last_day}"))) + took
