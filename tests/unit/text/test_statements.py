"""A chat's text is cut where assertions end, and every cut is a place in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.text.statements import (
    CODE,
    HEADING,
    ITEM,
    SENTENCE,
    capitalised,
    statements,
    without_markup,
)

TEXT = """Fixed the pool. It leaked, e.g. on retries of v2.1.

## What changed
- **Retries** are capped
  at three
- [x] tests
- [ ] docs
Done then.

```python
a = 1
```
> quoted words
"""


def test_forms() -> None:
    """Sentences, a heading, items under it, code."""
    found = [(one.form, one.text, one.heading, one.done) for one in statements(TEXT)]
    assert found == [
        (SENTENCE, "Fixed the pool.", "", None),
        (SENTENCE, "It leaked, e.g. on retries of v2.1.", "", None),
        (HEADING, "What changed", "", None),
        (ITEM, "Retries are capped at three", "What changed", None),
        (ITEM, "tests", "What changed", True),
        (ITEM, "docs", "What changed", False),
        (SENTENCE, "Done then.", "What changed", None),
        (CODE, "a = 1", "What changed", None),
        (SENTENCE, "quoted words", "What changed", None),
    ]


def test_small_letters_begin_sentences_too() -> None:
    """Many people write so in a chat; file names and versions are no ends."""
    text = (
        "use pnpm here. |not npm in app.py or 3.12 please. |commit it. |drop `fly.toml`. |"
        "see smith et al. for that, e.g. their max. of ten (incl. tests). |that's me"
    )
    assert [f"{one.text} " for one in statements(text.replace("|", ""))] == f"{text} ".split("|")


@pytest.mark.parametrize(
    "text",
    [
        "Bis zum 11. Dezember muss der Umzug fertig sein.|Danach wird es teuer.",
        "Frist: 1. März, sonst kostet es.",
        "Im 1. Schritt kommt die Tabelle, im 2. Schritt kommen die Rechte.",
        "Fristen er den 11. december.",
        "Wir haben die Version 12.|Das reicht.",
        "Nimm die 3.|Dann weiter.",
        "Upgrade to 12.|Postgres broke.",
        "We tried 3.|September was too late.",
    ],
)
def test_an_ordinal_number_ends_no_sentence(text: str) -> None:
    """As German and others write it: before a month, and between an article and a noun."""
    assert [one.text for one in statements(text.replace("|", " "))] == text.split("|")


def test_markup_goes() -> None:
    """Bold, links and decoration; code keeps its ticks."""
    assert without_markup("✅ **Fixed** [the pool](https://x.y/z) with `max_retries`") == (
        "Fixed the pool with `max_retries`"
    )


def test_bold_may_go_on_in_the_next_sentence() -> None:
    """Neither half keeps its mark."""
    said = statements("**The cache is stale. Clear it** with `make clean*` first.")
    assert [one.text for one in said] == [
        "The cache is stale.",
        "Clear it with `make clean*` first.",
    ]


@given(st.text(max_size=400))
def test_places(text: str) -> None:
    """Statements are in order, apart, and within the text; none is empty."""
    end = 0
    for one in statements(text):
        assert end <= one.start < one.end <= len(text)
        assert one.text.strip()
        end = one.end


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the queue is empty", "The queue is empty"),
        ("don't do that", "Don't do that"),
        ("yes, it is", "Yes, it is"),
        ("über allem", "Über allem"),
        ("done", "Done"),
        ("noise-worklet.js makes white noise", "noise-worklet.js makes white noise"),
        ("max_retries is five", "max_retries is five"),
        ("iOS needs it", "iOS needs it"),
        ("src/main.py: fixed", "src/main.py: fixed"),
        ("`make` fails", "`make` fails"),
        ("foo() returns", "foo() returns"),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_but_a_name_does_not(text: str, wanted: str) -> None:
    assert capitalised(text) == wanted
