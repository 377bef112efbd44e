"""Words and sentences as they stand in a text."""

from __future__ import annotations

import pytest

from vector_memory.text.words import codes_in, sentences_in, words_in


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t push, it's main!", ["don't", "push", "it's", "main"]),
        ("snake_case and 3 kebab-words", ["snake", "case", "and", "3", "kebab", "words"]),
        ("Größe für Änderungen", ["größe", "für", "änderungen"]),
        ("…", []),
    ],
)
def test_words_are_small_and_in_order(text: str, words: list[str]) -> None:
    assert words_in(text) == words


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Use Redis. It is fast.", 2),
        ("Use v1.2 of redis.py, e.g. here.", 1),
        ("One line\nand another", 2),
        ("Never store it. **Nor that.**", 2),
        ("Wait! 3 things are left.", 2),
    ],
)
def test_a_sentence_ends_where_another_can_begin(text: str, count: int) -> None:
    assert len(sentences_in(text)) == count


def test_as_many_marks_end_a_code_as_began_it() -> None:
    """A mark that nothing ends is none, and no code goes over a line's end."""
    assert codes_in("Run ``make `a` `` then `b c` and ` alone") == ["make `a` ", "b c"]
    assert codes_in("`a\nb and ``c`, `d``") == ["c`, `d"]
    assert codes_in("``") == codes_in("a `` b") == []
