"""Lines of Markdown below the headings that say what they are about."""

from __future__ import annotations

from vector_memory.text.headings import lines_below

PAGE = """before
# Rules
one
## Privacy
two
### Of others
three
## Rules again
four
```
# Privacy
hidden
```
#hashtag
# Else
five
####### Seven marks
"""


def rank(title: str) -> int:
    return 2 if "Privacy" in title else 1 if "Rules" in title else 0


def test_a_line_has_the_rank_of_its_section() -> None:
    """What is below a heading counts until one of its level; a heading within it only raises it."""
    found = [(line, rank) for _, line, rank in lines_below(PAGE, rank)]
    assert found == [
        ("before", 0), ("one", 1), ("two", 2), ("three", 2), ("four", 2), ("#hashtag", 2), ("five", 0),
        ("####### Seven marks", 0),
    ]  # fmt: skip


def test_lines_keep_their_numbers() -> None:
    assert [number for number, _, _ in lines_below("# Rules\n\nx\n", rank)] == [2, 3]
