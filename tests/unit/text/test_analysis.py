"""The analyser: what two people would type for the same thing must meet in one term."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.text import analysis


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("We decided to use the parsers", {"decid", "parser"}),
        ("src/app/parse_config.py:42", {"src/app/parse_config.py", "parse_config", "config"}),
        ("getUserName()", {"getusername", "user", "name"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("noise-worklet.js", {"noise-worklet.js", "noise-worklet", "worklet"}),
        ("#ffeee1 node18", {"ffeee1", "node18", "node"}),
        ("日本語", {"日本", "本語"}),
    ],
)
def test_identifiers_are_found_whole_and_in_parts(text: str, terms: set[str]) -> None:
    """An identifier, a path and a file's name give the whole and its parts."""
    assert terms <= set(analysis.analyse(text))


def test_forms_of_a_word_share_a_stem() -> None:
    """Plural, past and gerund are one term; a word that only looks alike is not."""
    assert len({analysis.stem(word) for word in ("connect", "connected", "connecting")}) == 1
    assert analysis.stem("relational") == analysis.stem("relate")
    assert analysis.stem("connect") != analysis.stem("context")
    assert analysis.stem("caresses") == "caress"
    assert analysis.stem("ponies") == "poni"
    assert analysis.stem("hopping") == "hop"
    assert analysis.stem("falling") == "fall"
    assert analysis.stem("happy") == "happi"


def test_stop_words_and_apostrophes_carry_nothing() -> None:
    """Words of every sentence are dropped, with or without an apostrophe."""
    assert analysis.analyse("it's what we don't have") == []


def test_query_terms_are_distinct_and_bounded() -> None:
    """A query repeats nothing and never grows past its limit."""
    terms = analysis.query_terms(" ".join(f"word{i} word{i}" for i in range(100)), 10)
    assert len(terms) == len(set(terms)) == 10


@given(st.text(max_size=300))
def test_any_text_can_be_analysed(text: str) -> None:
    """No text breaks the analyser, and no term holds white space: indexes split at it."""
    for term in analysis.analyse(text):
        assert term
        assert term == "".join(term.split())
