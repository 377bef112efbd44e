"""What a shell offers where an id or the name of a setting is typed."""

from __future__ import annotations

from vector_memory.cli import asking, output
from vector_memory.cli.answers import Row
from vector_memory.errors import VectorMemoryError

OFFERED = 500
"""Of the newest memories so many are looked through for an id."""
TIMEOUT_S = 2.0
"""Who has pressed a key does not wait for longer."""
TEXT_CHARS = 60


def id(incomplete: str) -> list[tuple[str, str]]:
    """Return (beginning of an id, text) of the newest memories whose id begins so; nothing where no daemon
    runs: pressing a key starts none."""
    daemon = asking.daemon()
    try:
        if daemon.running() is None:
            return []
        asked = {**asking.everywhere(), "k": OFFERED}
        answer = Row(daemon.ask("list", asked, TIMEOUT_S, start=False))
    except (VectorMemoryError, OSError):
        return []
    shown_chars = max(output.ID_CHARS, len(incomplete))
    return [
        (memory.text("id")[:shown_chars], memory.line("text", TEXT_CHARS))
        for memory in answer.rows("memories")
        if memory.text("id").startswith(incomplete)
    ]


def setting(incomplete: str) -> list[str]:
    """Return the names of settings that begin so."""
    from vector_memory import config

    return [name for name in config.names() if name.startswith(incomplete)]
