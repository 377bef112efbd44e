"""A session's section in a note that is the user's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.notes.daily_note import section, with_section

MINE = "# Monday\n\n- buy milk\n"


def test_a_section_is_put_at_the_end_and_replaced_there() -> None:
    """Once for each session; what the user wrote before and after it stays."""
    note = with_section(MINE, "s1", section("s1", "10:00 Queue", ["Decided: a spool"]))
    assert note.startswith(MINE)
    assert "## 10:00 Queue\n- Decided: a spool\n" in note
    note += "\nMy own words.\n"
    again = with_section(note, "s1", section("s1", "10:00 Queue", ["Decided: a table"]))
    assert again == note.replace("a spool", "a table")
    both = with_section(again, "s2", section("s2", "11:00 Ledger", []))
    assert both.startswith(again) and "11:00 Ledger" in both


def test_a_section_can_be_taken_out() -> None:
    """Its words are gone, everything else stays."""
    note = with_section(MINE, "s1", section("s1", "Queue", ["secret"]))
    assert "secret" not in with_section(note, "s1", "")
    assert with_section(MINE, "s1", "") == MINE


def test_an_edited_section_is_left_alone() -> None:
    """Without its end nobody knows what of it is the user's."""
    broken = with_section(MINE, "s1", section("s1", "Queue", [])).replace("<!-- end", "<!-- my")
    assert with_section(broken, "s1", section("s1", "Other", [])) == broken


def test_line_ends_stay_as_they_are() -> None:
    """A note from another system is not converted."""
    note = with_section(MINE.replace("\n", "\r\n"), "s1", section("s1", "Queue", ["a"]))
    assert "\n" not in note.replace("\r\n", "")


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=40))
def test_no_text_can_end_its_section(note: str, line: str, session: str) -> None:
    """Whatever is said, the section is found again and the rest of the note is untouched."""
    if "vector-memory session" in note:
        return
    first = with_section(note, session, section(session, line, [line]))
    assert first.startswith(note)
    second = with_section(first, session, section(session, "other", []))
    assert second == with_section(note, session, section(session, "other", []))
