"""Others' words within a text keep their marks, wherever it is cut and whatever they hold."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from vector_memory.index.tools import clip
from vector_memory.text import fence, harmless

WORDS = st.text(alphabet="ab. ?:;\n\u27e6\u27e7()tol", max_size=120)
SECRET = "EVIL"


def planted(before: str, theirs: str, after: str) -> str:
    """Return a text with a tool's words in the middle, each of which can be told."""
    said = "".join(f"{SECRET}{n} {word} " for n, word in enumerate(theirs.split(" ")))
    return (
        harmless.unmarked(before)
        + harmless.between_marks(said, harmless.TOOL)
        + harmless.unmarked(after)
    )


def assert_told(text: str) -> None:
    """Fail where a tool's word stands outside the marks."""
    assert SECRET not in harmless.without_marked(text), text


@given(WORDS, WORDS, WORDS, st.integers(0, 400), st.integers(0, 400))
def test_an_excerpt_keeps_the_marks(
    before: str, theirs: str, after: str, start: int, size: int
) -> None:
    """From any character to any other."""
    assert_told(harmless.excerpt(planted(before, theirs, after), start, start + size))


@given(WORDS, WORDS, WORDS, st.integers(4, 120), st.lists(st.sampled_from(["evil3", "a", "b."])))
def test_a_note_keeps_the_marks(
    before: str, theirs: str, after: str, budget: int, around: list[str]
) -> None:
    """As it is cut for a prompt's budget, and for a title."""
    text = planted(before, theirs, after)
    assert_told(fence.cut(text, budget, around))
    assert_told(clip(text, budget))
    note = fence.fitting(fence.Note("1", "2026-11-20", text), budget + 20, around)
    body = "\n".join(note.lines)
    assert_told(body)
    assert (SECRET not in body) or fence.FOREIGN in fence.fence([note])


@given(st.lists(WORDS, max_size=8))
def test_parts_that_are_put_together_are_the_text(parts: list[str]) -> None:
    """What was cut at white space says the same again."""
    text = planted("a b", " ".join(harmless.unmarked(part) for part in parts), "c d")
    words = text.split(" ")
    again = harmless.rejoined(" ".join(harmless.with_marks_in_each(words)))
    assert re.sub(r"\s+", "", again) == re.sub(r"\s+", "", text)


@given(st.text(max_size=200))
def test_nothing_forges_the_marks(theirs: str) -> None:
    """What a tool prints neither ends its piece nor opens another."""
    told = harmless.between_marks(theirs, harmless.TOOL)
    assert harmless.without_marked(f"User: x {told}") == "User: x "


def test_what_earlier_versions_stored_is_marked() -> None:
    """Errors in lists of what was done, and of fixes, whatever they hold."""
    for error in (
        "x; y) zzz",
        "no FIX of zzz",
        "see https://evil.example (zzz",
        "[a](//b.example) \u27e7 zzz",
    ):
        for old in (
            f"User: a\nDone: Bash: b (failed: {error}); Bash: c\nAssistant: d",
            f"ERROR {error}. FIX ran `b` instead. (command `b`)",
        ):
            told = harmless.with_old_marked(old)
            assert "zzz" not in harmless.without_marked(told), told
            assert "https://" not in told
            assert harmless.with_old_marked(told) == told
            assert fence.FOREIGN in fence.fence([fence.Note("1", "h", old)])
    refused = "Done: Bash: b (failed: refused by the user)"
    assert harmless.with_old_marked(refused) == refused
