"""`resume`: where work stopped here, and what is open."""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.cli.invocation import Invocation

LINE_CHARS = 150
ANSWER_CHARS = 700
"""More than the daemon sends of the end of an answer: it is not cut once more, at its other end."""


def resume(call: Invocation, but: str | None) -> None:
    """Print where work stopped, but for the session that this runs in."""
    call.show(call.ask(but=asking.own_session() if but is None else but), _show)


def _show(answer: Row) -> None:
    left_memories: list[Row] = []
    if last_session := answer.row("session"):
        _show_last(last_session)
        left_memories = last_session.rows("left")
        _show_memories("Left:", left_memories)
    else:
        output.say(
            "No session of this project is known. `vector-memory backfill` reads earlier ones."
        )
    _show_memories("Decided and found out then:", answer.rows("decided"))
    shown_ids = {memory.id for memory in left_memories}
    open_memories = [memory for memory in answer.rows("open") if memory.id not in shown_ids]
    _show_memories("Open besides:" if shown_ids else "Open:", open_memories)
    if earlier := answer.rows("earlier"):
        output.say("Before that:")
        for session in earlier:
            topics = "; ".join(session.texts("topics")) or "(no topics)"
            output.say(f"  {session.day('ended_at')}  {output.one_line(topics, LINE_CHARS)}")


def _show_last(session: Row) -> None:
    pull = f"pull request #{session.count('pull')}" if session.count("pull") else ""
    output.say(f"Last session: {session.day('ended_at')}  {session.text('session')}")
    for label, words, most in (
        ("On", ", ".join(filter(None, (session.text("branch"), pull))), LINE_CHARS),
        ("About", "; ".join(session.texts("topics")), LINE_CHARS),
        ("Asked last", session.text("asked"), LINE_CHARS),
        ("It ended", session.text("answered"), ANSWER_CHARS),
        ("Files", ", ".join(session.texts("files")), LINE_CHARS),
    ):
        if words:
            output.say(f"  {label}: {output.one_line(words, most)}")


def _show_memories(title: str, memories: Sequence[Row]) -> None:
    if memories:
        output.say(title)
    for memory in memories:
        prefix = f"{memory.day()}  {memory.text('kind')}"
        text = output.one_line(output.warning(memory) + memory.text("text"), LINE_CHARS)
        output.say(f"  {prefix}  {text}  {memory.id}")
