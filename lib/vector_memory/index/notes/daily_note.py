"""A session's section in a Markdown daily note. The note is the user's: everything else in it stays as
it is, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence

from vector_memory.text.words import as_name


def section(session: str, heading: str, lines: Sequence[str]) -> str:
    """Return a session's section between two marks that name it, without a line end after it."""
    items = [f"- {_without_comment_marks(line)}" for line in lines]
    return between_marks(session, "\n".join([f"## {_without_comment_marks(heading)}", *items]))


def between_marks(name: str, body: str) -> str:
    """Return a section whose words are Markdown already."""
    return "\n".join([_opening_mark(name), body, _closing_mark(name)])


def has_mark(text: str) -> bool:
    """Whether a text would be taken for the beginning or the end of a section."""
    return "vector-memory session " in text and "<!--" in text


def body_of(note: str, name: str) -> str:
    """Return what stands between the marks of a section, "" where it is not there."""
    _, has_opening, rest = note.partition(_opening_mark(name) + "\n")
    body, has_end, _ = rest.partition("\n" + _closing_mark(name))
    return body if has_opening and has_end else ""


def is_torn(note: str, name: str) -> bool:
    """Whether a section has lost one of its marks, so that nobody knows where it ends: `with_section` leaves it."""
    start, end = note.find(_opening_mark(name)), note.find(_closing_mark(name))
    return (start >= 0 or end >= 0) and not 0 <= start < end


def with_section(note: str, session: str, section: str) -> str:
    """Return a note with a session's section put in the place of its older one, else at the end.

    With "" the older one is taken out. Where the end of the older one is missing, somebody edited it:
    the note stays as it is.
    """
    newline = "\r\n" if "\r\n" in note or note.endswith("\r") else "\n"
    section = section.replace("\n", newline)
    start, end = note.find(_opening_mark(session)), note.find(_closing_mark(session))
    if start >= 0 and end > start:
        return note[:start] + section + note[end + len(_closing_mark(session)) :]
    if start >= 0 or end >= 0 or not section:
        return note
    gap = "" if not note else newline if note.endswith("\n") else 2 * newline
    return note + gap + section + newline


def _opening_mark(session: str) -> str:
    return f"<!-- vector-memory session {as_name(session)} -->"


def _closing_mark(session: str) -> str:
    return f"<!-- end of vector-memory session {as_name(session)} -->"


def _without_comment_marks(text: str) -> str:
    """Return a line that neither opens nor closes a comment."""
    line = " ".join(text.split())
    for mark in ("<!--", "-->", "--!>"):
        line = line.replace(mark, f"{mark[0]}\u200b{mark[1:]}")
    return line
