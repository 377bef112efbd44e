"""A sentence's intent, by who says it."""

from __future__ import annotations

import pytest

from vector_memory.model import INTENTS
from vector_memory.text.assertions import ASSISTANT, USER, assertion, hedged
from vector_memory.text.statements import statements


def intent(text: str, speaker: str, refusing: bool = False) -> str:
    """Return the intent of a text's last statement, "" for none."""
    found = assertion(statements(text)[-1], speaker, refusing)
    return found.intent if found else ""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Let's go with Postgres for the queue.", "decision"),
        ("I changed my mind, it should be a single table.", "decision"),
        ("Please never push to main directly.", "preference"),
        ("I'd rather have small commits.", "preference"),
        ("Why does the nightly build skip the browser tests?", "question"),
        ("The redirect still doesn't work on staging.", "problem"),
        ("Can you please add the totals to the index page and the footer?", "decision"),
        ("Can you check the log?", ""),
        (
            "from now on always use Decimal for amounts, never float: we lost cents twice.",
            "preference",
        ),
        ("The nightly import fails, the first date is never recognised.", "problem"),
        ("do not change it today, there is a release on friday", "context"),
        ("the watchdog never fires", "problem"),
        ("thanks, looks good", ""),
        ("go on", ""),
    ],
)
def test_users(text: str, wanted: str) -> None:
    """What users decide, like, ask and report."""
    assert intent(text, USER) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The issue is that the worker never closes its connection.", "problem"),
        ("Fixed the leak by closing the cursor in a finally block.", "solution"),
        ("I'll keep the old table because the exporter reads it.", "decision"),
        ("This means that `tarfile` strips the slash before we see it.", "conclusion"),
        ("## Next steps\\n- wire up the exporter later".replace("\\\\n", "\\n"), "todo"),
        ("- [ ] document the flag", "todo"),
        ("Open: switch the reports to Decimal after the release.", "todo"),
        ("`cargo test -p core` runs the core tests only.", "procedure"),
        ("Let me look at the tests.", ""),
        ("Perfect!", ""),
    ],
)
def test_assistants(text: str, wanted: str) -> None:
    """What assistants find, mend, settle and leave."""
    assert intent(text.replace("\\n", "\n"), ASSISTANT) == wanted


def test_a_refusal_says_what_is_liked() -> None:
    """However short the reason is."""
    assert intent("use pnpm", USER, refusing=True) == "preference"


def test_code_asserts_nothing() -> None:
    """A block of code is no sentence."""
    assert intent("```\nwe decided to use this\n```", USER) == ""


def test_hedges() -> None:
    """Who is not sure says so."""
    assert hedged("It might be the cache.")
    assert not hedged("It is the cache.")


def test_intents_are_told_apart() -> None:
    """Each once."""
    assert len(set(INTENTS)) == len(INTENTS) == 9
