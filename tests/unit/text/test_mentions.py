"""What a text names exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.text import failures, intents, mentions


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("see src/app/main.py and README.md", "files", ("src/app/main.py", "README.md")),
        ("the .env file and the Makefile", "files", (".env", "Makefile")),
        ("/etc/nginx/conf.d/site is wrong", "files", ("/etc/nginx/conf.d/site",)),
        ("edit ./scripts/run.sh please", "files", ("./scripts/run.sh",)),
        ("it is e.g. 3.12 or 10.5", "files", ()),
        ("on 2024/11/03 and 24/7/365, in 2.h", "files", ()),
        (
            "0007_split_orders.sql ran before 2024-11-03.md",
            "files",
            ("0007_split_orders.sql", "2024-11-03.md"),
        ),
        ("prune_old_rows fails", "identifiers", ("prune_old_rows",)),
        ("useMemo and LanceIndex", "identifiers", ("useMemo", "LanceIndex")),
        ("MAX_ROWS is read by Index.open()", "identifiers", ("MAX_ROWS", "Index.open()")),
        ("std::vec::Vec panics", "identifiers", ("std::vec::Vec",)),
        ("pass --no-edit to it", "identifiers", ("--no-edit",)),
        ("`retry` is too low", "identifiers", ("retry",)),
        ("the ledger-service-worker restarts", "identifiers", ("ledger-service-worker",)),
        ("see ABC-42 and #123", "identifiers", ("ABC-42", "#123")),
        ("what a well-known plain sentence", "identifiers", ()),
        ("pip install httpx==0.27", "packages", ("httpx",)),
        ("npm i @scope/pkg", "packages", ("@scope/pkg",)),
        ("import numpy.linalg", "packages", ("numpy.linalg",)),
    ],
)
def test_what_is_named(text: str, field: str, expected: tuple[str, ...]) -> None:
    """Files, identifiers and packages are told from plain words."""
    assert getattr(mentions.mentions(text), field) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("what did we decide about auth?", "decision"), ("why did we choose sqlite?", "decision"),
        ("any known problems with the cache?", "problem"), ("what went wrong?", "problem"),
        ("how did we fix the flaky test?", "solution"), ("the workaround for ENOSPC", "solution"),
        ("open questions on billing", "question"), ("what is left to do?", "todo"),
        ("next steps for the importer", "todo"), ("my preferred formatter", "preference"),
        ("how do we deploy to staging?", "procedure"), ("steps to rotate keys", "procedure"),
        ("what did we learn from it?", "learning"),
    ],
)  # fmt: skip
def test_what_kind_is_asked_for(text: str, kind: str) -> None:
    """A question says what sort of memory it wants."""
    assert kind in intents.intent(text).kinds


@pytest.mark.parametrize(
    "text", ["fix the tests", "write a parser for dates", "the button is blue", ""]
)
def test_most_prompts_ask_for_no_kind(text: str) -> None:
    """Plain work asks for nothing special."""
    assert intents.intent(text) == intents.Intent()


def test_whose_words_and_how_recent() -> None:
    """Who said it, and whether the present state is meant."""
    assert intents.intent("what did I say about docker?").speaker == "user"
    assert intents.intent("what did you suggest for it?").speaker == "assistant"
    assert intents.intent("which port do we currently use?").latest


@given(st.text(max_size=400))
def test_any_text_is_taken_apart_without_harm(text: str) -> None:
    """Nothing raises, and what is named stands in the text."""
    found = mentions.mentions(text)
    for words in (found.files, found.identifiers, found.packages):
        assert all(word in text for word in words)
    intents.intent(text)
    failures.failure(text)
    failures.normalise(text)


@pytest.mark.parametrize(
    "piece", ["a", "a-", "/a", "Aa ", "((", "1:", "error: ", "a.", "`", "x/", "at (", "_a", "\\"]
)
def test_hostile_text_does_not_stop_the_patterns(piece: str) -> None:
    """Endless repetitions, on which a careless pattern would run for hours, are read like any text."""
    text = piece * (200_000 // len(piece))
    assert len(mentions.mentions(text).identifiers) <= mentions.MOST
    assert intents.intent(text) == intents.Intent()
    assert len(failures.normalise(text)) <= failures.MAX_CHARS
    failures.failure(text)
