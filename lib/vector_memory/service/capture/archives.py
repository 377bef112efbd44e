"""Archives: the redacted text of a finished session as one Markdown file, for people to read when the
client has deleted the transcript. `archives/<project>/<date>-<session>.md` in the data home."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from vector_memory import redact
from vector_memory.index.topics.turns import TopicTurn
from vector_memory.system.durable_files import write_durably
from vector_memory.system.paths import Home
from vector_memory.text.words import as_name

TEXT, STEPS = ".md", ".steps.jsonl"
"""How the name of an archive ends, and that of the log of steps beside it."""
MOST_CHARS = 2_000_000
CUT = "\n\n… (the rest is left out)\n"


def archive(home: Home, project: str, session: str, title: str, turns: Sequence[TopicTurn]) -> str:
    """Write a session's archive anew, and return its path. The file is whole or as it was before.

    Raises:
        OSError: it cannot be written.
        UnsafeTextError: it could not be redacted.
    """
    text = text_of(title, turns)
    path = path_of(home, project, f"{turns[0].first.at:%Y-%m-%d}", session)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    # The client deletes the transcript one day: then this is all that is left.
    write_durably(path, text.encode("utf-8", "replace"))
    return path


def text_of(title: str, turns: Sequence[TopicTurn]) -> str:
    """Return an archive's text: the turns in order, each with its time.

    Raises:
        UnsafeTextError: it could not be redacted.
    """
    sections = [f"## {turn.first.at:%Y-%m-%d %H:%M} UTC\n\n{turn.text}" for turn in turns]
    # Rules may have become stricter since the passages were stored.
    text = redact.clean("\n\n".join([f"# {title}", *sections]) + "\n").text
    return text if len(text) <= MOST_CHARS else text[:MOST_CHARS] + CUT


def path_of(home: Home, project: str, day: str, session: str, ending: str = TEXT) -> str:
    """Return where a session's archive or step log is kept."""
    return os.path.join(
        home.archives, _safe_name(project) or "global", f"{day}-{_safe_name(session)}{ending}"
    )


def archives_of(
    home: Home, session: str, ending: str = TEXT, projects: Sequence[str] | None = None
) -> list[str]:
    """Return the paths of a session's archives, or step logs, whatever its dates, of some projects or of all."""
    if not session:
        return []
    ending = f"-{_safe_name(session)}{ending}"
    folders = None if projects is None else {_safe_name(id) or "global" for id in projects}
    return sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(home.archives, followlinks=False)
        for name in names
        if name[len("2026-01-01") :] == ending
        and (folders is None or os.path.basename(folder) in folders)
    )


def remove(home: Home, session: str) -> int:
    """Remove a session's archives and step logs, and folders that are empty then; return how many archives there were."""
    archive_paths = archives_of(home, session)
    for path in (*archive_paths, *archives_of(home, session, STEPS)):
        os.unlink(path)
        with suppress(OSError):
            os.rmdir(os.path.dirname(path))
    return len(archive_paths)


def _safe_name(word: str) -> str:
    """Return a word as a part of a file's name that leads into no other folder."""
    return as_name(word)[:100].lstrip(".")
