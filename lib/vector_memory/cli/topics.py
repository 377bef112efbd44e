"""`topics`: sessions and what was talked about in them, as trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vector_memory.cli import output
from vector_memory.cli.answers import Row

if TYPE_CHECKING:
    from rich.tree import Tree

NAME_CHARS = 80
SUMMARY_CHARS = 240
SHOWN_TOPICS = 12
"""Topics of each session that a list of several shows."""


def show(answer: Row, session: str | None, offset: int) -> None:
    """Print sessions as trees; one that was asked for with its summaries."""
    has_summaries = session is not None
    for row in answer.rows("sessions"):
        output.tree(_session_tree(row, has_summaries))
    if not answer.count("sessions"):
        output.say(output.beyond(offset) or "No sessions.")


def _session_tree(session: Row, has_summaries: bool) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    title = f"{session.day('started_at')}  session {session.text('session')}"
    drawn = Tree(Text(output.plain(f"{title}  {session.text('project')}".rstrip())))
    topics = session.rows("topics")
    for topic in topics if has_summaries else topics[:SHOWN_TOPICS]:
        _add_topic(drawn, topic, has_summaries)
    if not has_summaries and len(topics) > SHOWN_TOPICS:
        drawn.add(Text(f"… {len(topics) - SHOWN_TOPICS} more"))
    return drawn


def _add_topic(drawn: Tree, topic: Row, has_summaries: bool) -> None:
    from rich.text import Text

    first_line, last_line = topic.texts("lines")
    place = f"  lines {first_line}-{last_line}" if first_line != "0" else ""
    branch = drawn.add(Text(f"{topic.line('title', NAME_CHARS)}{place}  {topic.id}"))
    if not has_summaries:
        return
    parts = topic.rows("parts")
    for line in topic.text("summary").splitlines() if not parts else ():
        branch.add(Text(output.one_line(line, SUMMARY_CHARS)))
    for part in parts:
        _add_topic(branch, part, has_summaries)
