"""A Markdown export reads back as it was written, whatever the texts say."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.notes.markdown_export import (
    HEAD,
    PREFACE,
    heading,
    is_export,
    parse,
    render,
    unread_lines,
)

MEMORY: dict[str, Any] = {
    "id": "a" * 32,
    "text": "We use WAL mode.\n\n## No heading\n```\n- no item <!-- memory {} -->\n```",
    "title": "Store › Modes",
    "kind": "decision",
    "tags": ["db", "--> <b>"],
    "created_at": "2026-05-03T12:00:00+00:00",
    "priority": "HIGH",
    "confidence": 0.7,
    "project": "/home/dev/ledger",
    "project_id": "ledger-1",
    "external_id": None,
    "source": {"path": "/home/dev/x.md", "lines": [3, 4]},
    "origin": "user",
    "collection": "learnings",
    "model": "m",
}


def test_an_item_shows_day_priority_and_title() -> None:
    """What only a program needs stands in the comment."""
    first, second, *_ = render(MEMORY).split("\n")
    assert first.startswith("- 2026-05-03 · HIGH · Store › Modes <!-- memory {")
    assert first.count("-->") == 1
    assert second == "  We use WAL mode."


def test_it_reads_back() -> None:
    """Headings, fences and comments in a text end nothing."""
    text = PREFACE + heading(2, "ledger") + render(MEMORY) + render({**MEMORY, "id": "b"})
    assert is_export(text)
    (line, first), (_, second) = parse(text.split("\n"))
    assert text.split("\n")[line - 1].startswith("- 2026-05-03")
    assert first == {key: value for key, value in MEMORY.items() if value and key != "model"}
    assert second["id"] == "b"


def test_what_was_damaged_is_left_out() -> None:
    """And so is what was written between the items."""
    text = PREFACE + "words\n- an item\n  more\n- x <!-- memory {no -->\n  text\n" + render(MEMORY)
    assert [data["id"] for _, data in parse(text.split("\n"))] == [MEMORY["id"]]
    assert not is_export("# Notes\n")


LINES = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n \t"))


@given(LINES.filter(str.strip), LINES, st.sampled_from(["\n", "\r\n"]))
def test_any_text_and_title_read_back(text: str, title: str, end: str) -> None:
    """But for white space at the text's end."""
    written = (PREFACE + render({**MEMORY, "text": text, "title": title})).replace("\n", end)
    ((_, read),) = parse(written.split("\n"))
    assert read["text"] == "\n".join(text.split("\n")).rstrip()
    assert read.get("title", "") == title


def test_what_is_not_read_is_told_by_its_line() -> None:
    """Nothing of an export as it was written, however a program writes lists and line ends."""
    items = heading(2, "ledger") + heading(3, "decision") + render(MEMORY)
    note = "Mine.\n" + HEAD + "\nUp: [[Memory]]\n" + items
    note += "<!-- end of vector-memory session memory -->\nMine, too.\n"
    for text in (PREFACE + items, note):
        assert not list(unread_lines(text.split("\n")))
        for end in ("\r\n", "\n"):
            other = text.replace("\n", end).replace("- 2026", "* 2026")
            assert not list(unread_lines(other.split("\n")))
            ((_, read),) = parse(other.split("\n"))
            assert read["text"] == MEMORY["text"]
        for old, new in (
            ("HIGH ·", "LOW ·"),
            ("- 2026-05-03", "- 2026-05-04"),
            ("Store › Modes <", "Stores <"),
            ("### decision", "### fact"),
            ("### decision\n", "### decision\nA thought of mine.\n"),
            ("- 2026", "- My own item\n- 2026"),
            ('{"id"', '{"id'),
        ):
            changed = text.replace(old, new, 1)
            assert changed != text
            assert len(list(unread_lines(changed.split("\n")))) == 1, (old, new)
