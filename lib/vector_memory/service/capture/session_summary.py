"""What is made of a session when it ends: its summary as a memory, its text in the archive, and a
section in the user's daily note."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.notes.daily_note import is_torn, section, with_section
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
MOST_SENTENCES = 3
SENTENCE_CHARS = 90
MOST_FILES = 6
MOST_NOTE_BYTES = 8 * 1024 * 1024


def finish(ctx: Context, session: str) -> None:
    """Finish a session that has ended. Doing it again, or after it went on, replaces what was made."""
    leases.release_all(ctx, session)
    for contents in session_topics.derive(ctx, [session]):
        if ctx.settings.captures(SUMMARY):
            summarise(contents)
        if contents.tree:
            _write_files(ctx, contents)
    ctx.notify()


def remake_after_forget(ctx: Context, sessions: Iterable[str]) -> None:
    """Make anew, or remove, what was made of sessions of which something was forgotten."""
    for session in sessions:
        had_archive = archives.remove(ctx.home, session) > 0
        for contents in session_topics.derive(ctx, [session]):
            _remake(ctx, contents, had_archive)


def _remake(ctx: Context, contents: SessionContents, had_archive: bool) -> None:
    summary = contents.shelf.journal.by_ids([_summary_id(contents)]).get(_summary_id(contents))
    if summary is not None and summary.status is Status.ACTIVE:
        if contents.tree:
            summarise(contents)
        else:
            contents.shelf.journal.forget([summary.id])
    if contents.tree and had_archive:
        _archive(ctx, contents)
    if ctx.settings.daily_notes:
        _write_daily_note(ctx, contents, only_known=True)


def after_purge(ctx: Context, session: str, had_archive: bool, had_summary: bool) -> None:
    """Make anew what was made of a session of which something was purged, from what is left of it.

    Args:
        had_archive: its text was archived; the older archive is gone already.
        had_summary: it had a summary; the older one is gone already.
    """
    parts = session_topics.derive(ctx, [session])
    for contents in parts:
        if had_summary:
            summarise(contents)
        if contents.tree and had_archive:
            _archive(ctx, contents)
    if ctx.settings.daily_notes:
        take_out_sections(ctx.settings.daily_notes, session)
        for contents in parts:
            if contents.tree and had_summary:
                _write_daily_note(ctx, contents)


def note_levels(ctx: Context, sessions: Iterable[str]) -> None:
    """Take out of the daily notes what has become too sensitive for them."""
    if ctx.settings.daily_notes:
        for contents in chain.from_iterable(session_topics.read(ctx, one) for one in sessions):
            _write_daily_note(ctx, contents, only_known=True)


def take_out_sections(folder: str, session: str) -> int:
    """Take a session's sections out of all notes below a folder, however these are named; return of how many. What
    else stands in them is the user's and stays."""
    folder = os.path.realpath(os.path.expanduser(folder))
    changed = 0
    for directory, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (os.path.join(directory, name) for name in names if name.endswith(".md")):
            if os.path.islink(path):
                continue
            try:
                text = _read(path)
                new_text = with_section(text, session, "")
                if new_text != text:
                    write_durably(path, new_text.encode("utf-8"), keep_mode=True)
                    changed += 1
            except (OSError, UnicodeError) as error:
                log.warning("a note is left as it is: %s", error)
    return changed


def _write_files(ctx: Context, contents: SessionContents) -> None:
    """Write what the settings say about a session that has ended."""
    _archive(ctx, contents)
    if ctx.settings.daily_notes:
        _write_daily_note(ctx, contents)


def _archive(ctx: Context, contents: SessionContents) -> None:
    if not ctx.settings.archive:
        return
    try:
        archives.archive(
            ctx.home, contents.project, contents.session, _heading(contents), contents.turns
        )
    except (OSError, UnsafeTextError) as error:
        ctx.count("archives_failed")
        log.warning("the session is not archived: %s", error)


def _heading(contents: SessionContents) -> str:
    """Return when a session began, what it began with, and where."""
    name = project_names([contents.shelf])[contents.project]
    began_at = days.local_time(contents.turns[0].first.at)
    return f"{began_at:%H:%M} {contents.tree[0].name}" + (f" ({name})" if name else "")


def _summary_id(contents: SessionContents) -> str:
    """Return the id of a session's summary: the one that it has, which may be of a project that this one took over."""
    ids = (
        memory.id
        for memory in contents.memories
        if memory.kind == SUMMARY and memory.origin is Origin.JOB
    )
    return next(ids, "") or memory_id(f"{contents.session}:summary", contents.project)


# -- the summary ----------------------------------------------------------------------------------


def summarise(contents: SessionContents) -> None:
    """Store a session's summary as a memory, one for each session and project; none where it says
    too little."""
    if not contents.tree:
        return
    try:
        summary = _memory(contents)
    except UnsafeTextError:
        return
    with session_topics.ONE_AT_A_TIME:
        stored = contents.shelf.journal.by_ids([summary.id]).get(summary.id)
        if stored is None:
            contents.shelf.journal.add([summary])
        elif stored.status is Status.ACTIVE and (stored.text, stored.sensitivity) != (
            summary.text,
            summary.sensitivity,
        ):
            read = next((row for row in contents.memories if row.id == summary.id), stored)
            contents.shelf.journal.update(summary, read)


def lines_about(turns: Sequence[TopicTurn], tree: Sequence[TopicSpan]) -> list[str]:
    """Return what a session was about, what came of it, what was left open, and its files."""
    # What an earlier topic left open was most likely taken up by a later one.
    summary = Summary(
        _newest([text for span in tree for text in span.summary.decided]),
        _newest([text for span in tree for text in span.summary.concluded]),
        tree[-1].summary.left_open,
    )
    files = unique(os.path.basename(file) for file in session_topics.files_of(turns))[:MOST_FILES]
    about = unique(span.name for span in tree)[:MOST_TOPICS]
    return [" · ".join(about), *summary.lines(), *([f"Files: {', '.join(files)}"] if files else [])]


def _newest(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the last of some sentences, the newest first, since the end of a line may be cut."""
    return tuple(clip(text, SENTENCE_CHARS) for text in reversed(unique(texts)[-MOST_SENTENCES:]))


def _memory(contents: SessionContents) -> Memory:
    start, end = contents.turns[0].first, contents.turns[-1].first
    summary = Memory(
        id=_summary_id(contents),
        text=redact.clean(_fit_lines(lines_about(contents.topic_turns, contents.tree))).text,
        title=redact.clean(f"Session: {contents.tree[0].name}").text,
        created_at=end.at,
        kind=SUMMARY,
        project=contents.project,
        origin=Origin.JOB,
        files=tuple(
            redact.clean(file).text
            for file in session_topics.files_of(contents.topic_turns)[:MOST_FILES]
        ),
        source=Source(contents.session, start.path, *lines_of(contents.turns), turn=end.turn),
        extra={"turns": [start.turn, end.turn]},
    )
    summary = replace(summary, sensitivity=contents.level(summary))
    return trust_marks.with_trust_marks(summary, own=(turn.prompt for turn in contents.topic_turns))


def _fit_lines(lines: Sequence[str]) -> str:
    """Return lines within the size, each cut to its share so that the last ones stay."""
    room, fitted = TEXT_CHARS, []
    for index, line in enumerate(lines):
        size = max(24, room // (len(lines) - index) - 1)
        fitted.append(session_topics.clip_lines([line], size))
        room -= len(fitted[-1]) + 1
    return "\n".join(fitted)


# -- the daily note -------------------------------------------------------------------------------


def _write_daily_note(ctx: Context, contents: SessionContents, only_known: bool = False) -> None:
    """Put a session's section into the note of the day on which it began, without what is confidential; take it out
    where nothing of the session is left."""
    began_at = contents.turns[0].first.at if contents.turns else _start_of(contents)
    shown = session_topics.for_notes(ctx, contents)
    try:
        text = _section(shown) if shown.tree else ""
        day = days.local_time(began_at, days.zone_of(ctx.local_now()))
        name = note_name(ctx.settings.daily_note_name, day)
        put_section(ctx.settings.daily_notes, name, contents.session, text, only_known)
    except (OSError, UnicodeError, UnsafeTextError) as error:
        ctx.count("daily_notes_failed")
        log.warning("the daily note is not written: %s", error)


def _start_of(contents: SessionContents) -> datetime:
    return min(memory.created_at for memory in contents.memories)


def _section(contents: SessionContents) -> str:
    lines = [
        str(redact.clean(line).text) for line in lines_about(contents.topic_turns, contents.tree)
    ]
    return section(contents.session, str(redact.clean(_heading(contents)).text), lines)


def put_section(
    folder: str, name: str, session: str, words: str, only_known: bool = False, fresh: str = ""
) -> bool:
    """Put a section into a note below a folder; return whether that changed it.

    Args:
        name: the note's path from there; folders on the way are made.
        only_known: change a note that has the section already, and no other.
        fresh: what a new note begins with.

    Raises:
        OSError: the folder is not there, the note is no plain file within it, or the section has lost one of its marks.
        UnicodeError: the note is no UTF-8.
    """
    folder = os.path.realpath(os.path.expanduser(folder))
    path = os.path.join(folder, name)
    real_path = os.path.realpath(path)
    if os.path.dirname(real_path) != folder and not real_path.startswith(folder + os.sep):
        raise OSError(f"{path} leads out of the folder")
    text = _read(real_path)
    if is_torn(text, session):
        raise OSError(
            f"{path} has one of the two marks of its section, so nobody knows where it ends"
        )
    new_text = with_section(text or fresh, session, words)
    if new_text == text or (only_known and session not in text):
        return False
    if os.path.isdir(folder):
        os.makedirs(os.path.dirname(real_path), exist_ok=True)
    write_durably(real_path, new_text.encode("utf-8"), keep_mode=True)
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
