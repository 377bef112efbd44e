"""`wrapup`: what a session did, leaves and taught."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from vector_memory.cli import asking, backfill, output
from vector_memory.cli.answers import Row
from vector_memory.cli.counts import with_count
from vector_memory.cli.invocation import Invocation
from vector_memory.errors import NotFoundError

EDIT = "edit"
"""What ended a trouble that no command ended."""
KNOWN = ("done", "learned", "left")
LINE_CHARS, TEXT_CHARS = 150, 115
WORDS = {True: "done", False: "not done", None: "open"}


def wrapup(call: Invocation, session: str | None) -> None:
    """Print what came of a session; without one, of that which this runs in.

    Raises:
        NotFoundError: nothing is known of a session that was named.
    """
    session_id = asking.own_session() if session is None else session
    answer = call.ask(session=session_id)
    is_known = answer.flag("known") or any(map(answer.count, KNOWN))
    if session_id != asking.own_session() and not is_known:
        _require_transcript(session_id)
    call.show(answer, lambda answer: output.indented(_lines(answer), LINE_CHARS))


def _require_transcript(session: str) -> None:
    try:
        backfill.transcripts("", session)
    except (NotFoundError, typer.BadParameter) as error:
        raise NotFoundError(
            f"Nothing is known of session {session!r}.", "`vector-memory topics` shows ids."
        ) from error


def _lines(answer: Row) -> Iterator[str]:
    tasks, learned, left = map(answer.rows, KNOWN)
    if not (tasks or learned or left):
        name = answer.text("session") or "this project"
        yield f"Nothing is known of {name} yet: a turn is read when it has ended."
        return
    yield f"Session {answer.text('session')} in {answer.text('project')}"
    if tasks:
        yield "Done:"
    for task in tasks:
        yield f"  {_state(task):<9} {task.text('kind')}: {task.text('title') or '(not stored)'}{_cost(task)}"
    if answer.count("subagents"):
        yield f"  and {with_count(answer.count('subagents'), '[task/tasks] of subagents')}"
    if answer.count("files"):
        yield f"  Files: {', '.join(answer.texts('files'))}"
    for title, rows in (("Left:", left), ("Learned:", learned)):
        if rows:
            yield title
        for row in rows:
            yield f"  {row.text('kind')}  {row.line('text', TEXT_CHARS)}  {row.id}"
    yield from _trouble(answer)
    yield from _standing(answer)


def _state(task: Row) -> str:
    word = WORDS[bool(task["done"]) if task.get("done") is not None else None]
    return word if task.flag("sure") or word == "open" else f"{word}?"


def _cost(task: Row) -> str:
    minutes, errors = task.number("minutes"), task.count("errors")
    costs = [f"{minutes:g} min"] if minutes else []
    costs += [with_count(errors, "[error/errors]")] if errors else []
    return f" ({', '.join(costs)})" if costs else ""


def _trouble(answer: Row) -> Iterator[str]:
    if rows := answer.rows("trouble"):
        yield "Trouble:"
        for row in rows:
            often = f" (in {row.count('n')} tasks here)" if row.count("n") else ""
            end = row.text("end")
            mended = f"; what ended it: {'an edit' if end == EDIT else end}" if end else ""
            yield f"  {row.text('line')}{often}{mended}"


def _standing(answer: Row) -> Iterator[str]:
    lessons, waits = answer.row("lessons"), answer.count("waits")
    judged = lessons.count("done") + lessons.count("undone")
    if judged:
        judged_tasks = with_count(judged, "[task/tasks]")
        were = "was" if lessons.count("done") == 1 else "were"
        yield f"In all, {lessons.count('done')} of {judged_tasks} here {were} done (`vector-memory lessons`)."
    if waits:
        waiting = with_count(waits, "of its memories [waits/wait] for you")
        yield f"{waiting}: `vector-memory review`."
