"""What is made of a session when it ends: its summary as a memory, its text in the archive, and a
section in the user's daily note."""

from __future__ import annotations

import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Sequence
from datetime import datetime

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.daily_note import section, with_section
from vector_memory.index.spans import Span
from vector_memory.index.summaries import Summary
from vector_memory.index.turns import Turn, lines_of
from vector_memory.model import SUMMARY, Memory, Origin, Source, Status, unique
from vector_memory.service import archives, topics
from vector_memory.service.capture import memory_id
from vector_memory.service.context import Context
from vector_memory.service.recall import name_in, project_names
from vector_memory.service.shelf import Shelf

log = logging.getLogger(__name__)

TEXT_CHARS = 600
MOST_TOPICS = 6
MOST_SAID = 3
MOST_FILES = 6
LEAST_CHARS = 300
"""What a session says less than is its own summary."""


def finish(ctx: Context, session: str) -> None:
    """Finish a session that has ended. Doing it again, or after it went on, replaces what was made."""
    for shelf, project, memories in _parts(ctx, session):
        turns = topics.turns(ctx, shelf, memories)
        if not turns:
            continue
        tree = topics.tree(ctx, shelf, memories)
        summarise(shelf, session, project, turns, tree)
        name = name_in(project_names([shelf]), project)
        if ctx.settings.archive:
            archives.archive(ctx.home, project, session, _heading(turns, tree, name), turns)
        if ctx.settings.daily_notes:
            _note(ctx, session, turns, tree, name)
    ctx.notify()


def summarised(ctx: Context, sessions: Iterable[str]) -> None:
    """Give sessions that ended long ago their summaries, and nothing else."""
    for session in sessions:
        for shelf, project, memories in _parts(ctx, session):
            if turns := topics.turns(ctx, shelf, memories):
                summarise(shelf, session, project, turns, topics.tree(ctx, shelf, memories))


def forgotten(ctx: Context, sessions: Iterable[str]) -> None:
    """Make anew, or remove, what was made of sessions of which something was forgotten."""
    for session in sessions:
        topics.derive(ctx, [session])
        kept = bool(archives.archives_of(ctx.home, session))
        archives.remove(ctx.home, session)
        for shelf, project, memories in _parts(ctx, session):
            turns = topics.turns(ctx, shelf, memories)
            tree = topics.tree(ctx, shelf, memories) if turns else []
            made = [one.id for one in memories if one.kind == SUMMARY and _is_active(one)]
            if turns and made:
                summarise(shelf, session, project, turns, tree)
            elif made:
                shelf.journal.forget(made)
            name = name_in(project_names([shelf]), project)
            if turns and kept and ctx.settings.archive:
                archives.archive(ctx.home, project, session, _heading(turns, tree, name), turns)
            if turns and ctx.settings.daily_notes:
                _note(ctx, session, turns, tree, name, only_known=True)


def _parts(ctx: Context, session: str) -> list[tuple[Shelf, str, list[Memory]]]:
    """Return what the stores hold of a session, by project."""
    return [
        (shelf, project, memories)
        for shelf in (ctx.opened_shelves() if session else ())
        for project, memories in topics.told(shelf, session).items()
    ]


def _is_active(memory: Memory) -> bool:
    return memory.status is Status.ACTIVE


# -- the summary ----------------------------------------------------------------------------------


def summarise(
    shelf: Shelf, session: str, project: str, turns: Sequence[Turn], tree: Sequence[Span]
) -> None:
    """Store a session's summary as a memory, one for each session and project."""
    if sum(len(turn.text) for turn in turns) < LEAST_CHARS:
        return
    try:
        made = _memory(session, project, turns, tree)
    except UnsafeTextError:
        return
    with topics.ONE_AT_A_TIME:
        known = shelf.journal.by_ids([made.id]).get(made.id)
        if known is None:
            shelf.journal.add([made])
        elif _is_active(known) and known.text != made.text:
            shelf.journal.update(made)


def lines_about(turns: Sequence[Turn], tree: Sequence[Span]) -> list[str]:
    """Return what a session was about, what came of it, what was left open, and its files."""
    # What an earlier topic left open was most likely taken up by a later one.
    said = Summary(
        _last([text for span in tree for text in span.summary.decided]),
        _last([text for span in tree for text in span.summary.concluded]),
        tree[-1].summary.left_open,
    )
    files = [os.path.basename(one) for one in topics.files_of(turns)[:MOST_FILES]]
    about = unique(span.name for span in tree)[:MOST_TOPICS]
    return [" · ".join(about), *said.lines(), *([f"Files: {', '.join(files)}"] if files else [])]


def _last(texts: Sequence[str]) -> tuple[str, ...]:
    return unique(texts)[-MOST_SAID:]


def _memory(session: str, project: str, turns: Sequence[Turn], tree: Sequence[Span]) -> Memory:
    lines = lines_about(turns, tree)
    last = turns[-1].first
    return Memory(
        id=memory_id(f"{session}:summary", project),
        text=redact.clean(_fitting(lines)).text,
        title=redact.clean(f"Session: {tree[0].name}").text,
        created_at=last.at,
        kind=SUMMARY,
        project=project,
        origin=Origin.JOB,
        files=tuple(redact.clean(file).text for file in topics.files_of(turns)[:MOST_FILES]),
        source=Source(session, turns[0].first.path, *lines_of(turns), turn=last.turn),
        extra={"turns": [turns[0].first.turn, last.turn]},
    )


def _fitting(lines: Sequence[str]) -> str:
    """Return lines within the size, each cut to its share so that the last ones stay."""
    left, kept = TEXT_CHARS, []
    for place, line in enumerate(lines):
        size = max(24, left // (len(lines) - place) - 1)
        kept.append(topics.clip_lines([line], size))
        left -= len(kept[-1]) + 1
    return "\n".join(kept)


def _heading(turns: Sequence[Turn], tree: Sequence[Span], project: str) -> str:
    at = turns[0].first.at.astimezone()
    return f"{at:%H:%M} {tree[0].name}" + (f" ({project})" if project else "")


# -- the daily note -------------------------------------------------------------------------------


def _note(
    ctx: Context,
    session: str,
    turns: Sequence[Turn],
    tree: Sequence[Span],
    project: str,
    only_known: bool = False,
) -> None:
    """Put a session's section into the note of the day on which it began."""
    try:
        lines = [str(redact.clean(line).text) for line in lines_about(turns, tree)]
        heading = str(redact.clean(_heading(turns, tree, project)).text)
        write_section(
            ctx.settings.daily_notes,
            turns[0].first.at.astimezone(ctx.local_now().tzinfo),
            session,
            section(session, heading, lines),
            only_known,
        )
    except (OSError, UnicodeError, UnsafeTextError) as error:
        ctx.count("daily_notes_failed")
        log.warning("the daily note is not written: %s", error)


def write_section(
    folder: str, day: datetime, session: str, words: str, only_known: bool = False
) -> None:
    """Put a section into `YYYY-MM-DD.md` in a folder.

    Args:
        only_known: change a note that has the section already, and no other.

    Raises:
        OSError: the folder is not there, or the note is no plain file within it.
        UnicodeError: the note is no UTF-8.
    """
    folder = os.path.realpath(os.path.expanduser(folder))
    path = os.path.join(folder, f"{day:%Y-%m-%d}.md")
    real = os.path.realpath(path)
    if os.path.dirname(real) != folder and not real.startswith(folder + os.sep):
        raise OSError(f"{path} leads out of the folder")
    old = _read(real)
    new = with_section(old, session, words)
    if new != old and (not only_known or session in old):
        _replace(real, new)


def _read(path: str) -> str:
    if not os.path.lexists(path):
        return ""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError(f"{path} is no plain file")
    # Line ends stay as they are: the note may come from another system.
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _replace(path: str, text: str) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".vector-memory-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
