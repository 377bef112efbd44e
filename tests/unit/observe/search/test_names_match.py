"""What a text says of what is searched for, and which files are the same."""

from __future__ import annotations

import pytest

from vector_memory.observe.search.names_match import (
    TellingPiece,
    by_name,
    in_place,
    naming,
    telling_piece,
)
from vector_memory.observe.search.pattern_terms import SearchTerms, sought
from vector_memory.observe.search.searches import Search


def looking_for(pattern: str) -> SearchTerms:
    return sought([Search("grep", (pattern,))])


def test_a_file_is_a_name_without_its_folders() -> None:
    """A folder is none, nor is a part of a file's name."""
    held = naming("", "It is told in docs/ledger-format.md twice.", ["src/tables/sums.py"])
    for pattern, is_named in (("ledger-format.md", True), ("sums.py", True), ("ledger", False)):
        assert by_name(looking_for(pattern.replace(".", r"\.")), held) == is_named


def test_a_name_ends_with_names() -> None:
    """With all that dots join up to its end, and not with what it begins with."""
    held = naming("", "Shop.Ledger.post_entry is called by shop::queue::Sender.")
    for pattern, is_named in (
        ("post_entry", True), ("Ledger.post_entry", True), ("Shop.Ledger.post_entry", True), ("queue::Sender", True),
        ("Shop.Ledger", False), ("Shop.post_entry", False), ("st_entry", False),
    ):  # fmt: skip
        assert by_name(looking_for(pattern), held) == is_named


def test_the_sentence_that_says_most() -> None:
    """Of those that have the name."""
    text = "load_ledger is old. We gave load_ledger a queue of its own, since readers starved. Nothing else changed."
    assert telling_piece(looking_for("load_ledger"), text, "").text.startswith(
        "We gave load_ledger"
    )


@pytest.mark.parametrize(
    "text",
    ["`load_ledger`, `save_ledger`, `drop_ledger`", "load_ledger(path, mode=None)", "| load_ledger | save_ledger |",
     "It is slow and leaks sockets. Then `load_ledger`.", "A queue starved the readers of save_ledger."],
)  # fmt: skip
def test_nothing_is_said(text: str) -> None:
    """By lists, by code, by what stands beside the sentence, and of other names."""
    assert telling_piece(looking_for("load_ledger"), text, "") == TellingPiece()


def test_talk_says_under_which_file_a_name_stands() -> None:
    """A heading's file holds for the lines below it, not for all that follows."""
    lines = [
        "**Create `src/reader.py`** for all that reads",
        "- `open_ledger`",
        "- `load_ledger`, `save_ledger`",
    ]
    assert telling_piece(looking_for("load_ledger"), "\n".join(lines)).file == "src/reader.py"
    far = [lines[0], *["- `open_ledger`"] * 12, lines[2]]
    assert telling_piece(looking_for("load_ledger"), "\n".join(far)) == TellingPiece()
    other = [lines[0], "README.md has the rest", lines[2]]
    assert telling_piece(looking_for("load_ledger"), "\n".join(other)) == TellingPiece()


def test_all_of_a_memory_is_about_its_title() -> None:
    """Names in the paths of its files, too."""
    text = "The readers starve as soon as a writer waits."
    assert telling_piece(looking_for("load_ledger"), text, "load_ledger").text == text
    assert telling_piece(looking_for("load_ledger"), text) == TellingPiece()
    assert (
        telling_piece(looking_for("load_ledger"), text, "logs/load_ledger/console.log").text == text
    )


@pytest.mark.parametrize(
    ("place", "file", "same"),
    [
        ("src", "src/ledger.py", True),
        ("src", "lib/src/ledger.py", True),
        ("/home/me/project/src", "src/ledger.py", True),
        ("src/ledger.py", "ledger.py", True),
        ("ledger.py", "src/ledger.py", True),
        ("src/ledger.py", "lib/ledger.py", False),
        ("skills/search/SKILL.md", "skills/explain/SKILL.md", False),
        ("skills/search/SKILL.md", "SKILL.md", False),
        ("Makefile", "Makefile", True),
        ("docs", "src/ledger.py", False),
        ("lib/docs", "src/docs/a.py", False),
        (".", "src/ledger.py", False),
    ],
)
def test_files_agree_as_far_as_both_tell(place: str, file: str, same: bool) -> None:
    """Either may be written from anywhere."""
    assert in_place(place, file) is same
