"""What is made of a session when it ends: its summary as a memory, its text in the archive, and a
section in the user's daily note."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.notes.daily_note import section, with_section
from vector_memory.index.tools import clip
from vector_memory.index.topics.spans import TopicSpan
from vector_memory.index.topics.summaries import Summary
from vector_memory.index.topics.turns import TopicTurn, lines_of
from vector_memory.model import SUMMARY, Memory, Origin, Source, Status, unique
from vector_memory.service.base import leases
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import project_names
from vector_memory.service.capture import archives, session_topics
from vector_memory.service.capture.session_topics import SessionContents
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.exchange_versions import memory_id
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import open_plain
from vector_memory.text import days
from vector_memory.text.note_names import note_name

log = logging.getLogger(__name__)

TEXT_CHARS = 600
MOST_TOPICS = 6
MOST_SAID = 3
SAID_CHARS = 90
MOST_FILES = 6
MOST_NOTE_BYTES = 8 * 1024 * 1024


def finish(ctx: Context, session: str) -> None:
    """Finish a session that has ended. Doing it again, or after it went on, replaces what was made."""
    leases.release_all(ctx, session)
    for one in session_topics.derive(ctx, [session]):
        if ctx.settings.captures(SUMMARY):
            summarise(one)
        if one.tree:
            _keep(ctx, one)
    ctx.notify()


def forgotten(ctx: Context, sessions: Iterable[str]) -> None:
    """Make anew, or remove, what was made of sessions of which something was forgotten."""
    for session in sessions:
        had_archive = archives.remove(ctx.home, session) > 0
        for one in session_topics.derive(ctx, [session]):
            _made_anew(ctx, one, had_archive)


def _made_anew(ctx: Context, one: SessionContents, had_archive: bool) -> None:
    summary = one.shelf.journal.by_ids([_summary_id(one)]).get(_summary_id(one))
    if summary is not None and summary.status is Status.ACTIVE:
        if one.tree:
            summarise(one)
        else:
            one.shelf.journal.forget([summary.id])
    if one.tree and had_archive:
        _archive(ctx, one)
    if ctx.settings.daily_notes:
        _note(ctx, one, only_known=True)


def after_purge(ctx: Context, session: str, had_archive: bool, had_summary: bool) -> None:
    """Make anew what was made of a session of which something was purged, from what is left of it.

    Args:
        had_archive: its text was archived; the older archive is gone already.
        had_summary: it had a summary; the older one is gone already.
    """
    told = session_topics.derive(ctx, [session])
    for one in told:
        if had_summary:
            summarise(one)
        if one.tree and had_archive:
            _archive(ctx, one)
    if ctx.settings.daily_notes:
        take_out_sections(ctx.settings.daily_notes, session)
        for one in told:
            if one.tree and had_summary:
                _note(ctx, one)


def take_out_sections(folder: str, session: str) -> int:
    """Take a session's sections out of all notes below a folder, however these are named; return of how many. What
    else stands in them is the user's and stays."""
    folder = os.path.realpath(os.path.expanduser(folder))
    changed = 0
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (os.path.join(here, name) for name in names if name.endswith(".md")):
            if os.path.islink(path):
                continue
            try:
                old = _read(path)
                new = with_section(old, session, "")
                if new != old:
                    write_durably(path, new.encode("utf-8"), keep_mode=True)
                    changed += 1
            except (OSError, UnicodeError) as error:
                log.warning("a note is left as it is: %s", error)
    return changed


def _keep(ctx: Context, one: SessionContents) -> None:
    """Write what the settings say about a session that has ended."""
    _archive(ctx, one)
    if ctx.settings.daily_notes:
        _note(ctx, one)


def _archive(ctx: Context, one: SessionContents) -> None:
    if not ctx.settings.archive:
        return
    try:
        archives.archive(ctx.home, one.project, one.session, _heading(one), one.turns)
    except (OSError, UnsafeTextError) as error:
        ctx.count("archives_failed")
        log.warning("the session is not archived: %s", error)


def _heading(one: SessionContents) -> str:
    """Return when a session began, what it began with, and where."""
    name = project_names([one.shelf])[one.project]
    at = days.local(one.turns[0].first.at)
    return f"{at:%H:%M} {one.tree[0].name}" + (f" ({name})" if name else "")


def _summary_id(one: SessionContents) -> str:
    """Return the id of a session's summary: the one that it has, which may be of a project that this one took over."""
    mine = (it.id for it in one.memories if it.kind == SUMMARY and it.origin is Origin.JOB)
    return next(mine, "") or memory_id(f"{one.session}:summary", one.project)


# -- the summary ----------------------------------------------------------------------------------


def summarise(one: SessionContents) -> None:
    """Store a session's summary as a memory, one for each session and project; none where it says
    too little."""
    if not one.tree:
        return
    try:
        made = _memory(one)
    except UnsafeTextError:
        return
    with session_topics.ONE_AT_A_TIME:
        known = one.shelf.journal.by_ids([made.id]).get(made.id)
        if known is None:
            one.shelf.journal.add([made])
        elif known.status is Status.ACTIVE and (known.text, known.sensitivity) != (
            made.text,
            made.sensitivity,
        ):
            one.shelf.journal.update(made)


def lines_about(turns: Sequence[TopicTurn], tree: Sequence[TopicSpan]) -> list[str]:
    """Return what a session was about, what came of it, what was left open, and its files."""
    # What an earlier topic left open was most likely taken up by a later one.
    said = Summary(
        _last([text for span in tree for text in span.summary.decided]),
        _last([text for span in tree for text in span.summary.concluded]),
        tree[-1].summary.left_open,
    )
    files = unique(os.path.basename(file) for file in session_topics.files_of(turns))[:MOST_FILES]
    about = unique(span.name for span in tree)[:MOST_TOPICS]
    return [" · ".join(about), *said.lines(), *([f"Files: {', '.join(files)}"] if files else [])]


def _last(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the last of some sentences, the newest first, since the end of a line may be cut."""
    return tuple(clip(text, SAID_CHARS) for text in reversed(unique(texts)[-MOST_SAID:]))


def _memory(one: SessionContents) -> Memory:
    first, last = one.turns[0].first, one.turns[-1].first
    made = Memory(
        id=_summary_id(one),
        text=redact.clean(_fitting(lines_about(one.told, one.tree))).text,
        title=redact.clean(f"Session: {one.tree[0].name}").text,
        created_at=last.at,
        kind=SUMMARY,
        project=one.project,
        origin=Origin.JOB,
        files=tuple(
            redact.clean(file).text for file in session_topics.files_of(one.told)[:MOST_FILES]
        ),
        source=Source(one.session, first.path, *lines_of(one.turns), turn=last.turn),
        extra={"turns": [first.turn, last.turn]},
    )
    made = replace(made, sensitivity=one.level(made))
    return trust_marks.settled(made, own=(turn.prompt for turn in one.told))


def _fitting(lines: Sequence[str]) -> str:
    """Return lines within the size, each cut to its share so that the last ones stay."""
    left, kept = TEXT_CHARS, []
    for place, line in enumerate(lines):
        size = max(24, left // (len(lines) - place) - 1)
        kept.append(session_topics.clip_lines([line], size))
        left -= len(kept[-1]) + 1
    return "\n".join(kept)


# -- the daily note -------------------------------------------------------------------------------


def _note(ctx: Context, one: SessionContents, only_known: bool = False) -> None:
    """Put a session's section into the note of the day on which it began; take it out where nothing
    of the session is left."""
    at = one.turns[0].first.at if one.turns else _began(one)
    try:
        words = _section(one) if one.tree else ""
        day = days.local(at, ctx.local_now().tzinfo)
        name = note_name(ctx.settings.daily_note_name, day)
        put_section(ctx.settings.daily_notes, name, one.session, words, only_known)
    except (OSError, UnicodeError, UnsafeTextError) as error:
        ctx.count("daily_notes_failed")
        log.warning("the daily note is not written: %s", error)


def _began(one: SessionContents) -> datetime:
    return min(memory.created_at for memory in one.memories)


def _section(one: SessionContents) -> str:
    lines = [str(redact.clean(line).text) for line in lines_about(one.told, one.tree)]
    return section(one.session, str(redact.clean(_heading(one)).text), lines)


def put_section(
    folder: str, name: str, session: str, words: str, only_known: bool = False, fresh: str = ""
) -> bool:
    """Put a section into a note below a folder; return whether that changed it.

    Args:
        name: the note's path from there; folders on the way are made.
        only_known: change a note that has the section already, and no other.
        fresh: what a new note begins with.

    Raises:
        OSError: the folder is not there, or the note is no plain file within it.
        UnicodeError: the note is no UTF-8.
    """
    folder = os.path.realpath(os.path.expanduser(folder))
    path = os.path.join(folder, name)
    real = os.path.realpath(path)
    if os.path.dirname(real) != folder and not real.startswith(folder + os.sep):
        raise OSError(f"{path} leads out of the folder")
    old = _read(real)
    new = with_section(old or fresh, session, words)
    if new == old or (only_known and session not in old):
        return False
    if os.path.isdir(folder):
        os.makedirs(os.path.dirname(real), exist_ok=True)
    write_durably(real, new.encode("utf-8"), keep_mode=True)
    return True


def _read(path: str) -> str:
    if not os.path.lexists(path):
        return ""
    with open_plain(path) as file:
        data = file.read(MOST_NOTE_BYTES + 1)
    if len(data) > MOST_NOTE_BYTES:
        raise OSError(f"{path} is longer than {MOST_NOTE_BYTES:,} bytes")
    # Line ends stay as they are: the note may come from another system.
    return data.decode("utf-8")
