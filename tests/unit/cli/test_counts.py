"""Counters in words."""

from __future__ import annotations

from vector_memory.cli import counts
from vector_memory.cli.answers import Row


def test_hooks_are_told_together_and_trouble_apart() -> None:
    """Zeros are left out; counters of another version keep their names; large numbers have commas."""
    counters = {
        "hook_Stop": 2_000,
        "hook_UserPromptSubmit": 1,
        "hook_inputs_broken": 3,
        "redactions": 1_234,
        "fixes_shown": 0,
        "of_tomorrow": 5,
        "hooks_late": 4,
    }
    assert counts.usual(counters) == [
        "2,001 hooks were answered",
        "1,234 secrets were taken out",
        "5 of_tomorrow",
    ]
    assert counts.nonzero_counts(counters, counts.TROUBLE) == [
        "4 hooks ended at their deadline without an answer",
        "3 hook inputs could not be read",
    ]


def test_what_happened_once_is_told_of_one() -> None:
    """Every counter has its words for one and for several, and none shows how they are written down."""
    for names in (counts.USUAL, counts.TROUBLE):
        for once, often in zip(
            counts.nonzero_counts(dict.fromkeys(names, 1), names),
            counts.nonzero_counts(dict.fromkeys(names, 2), names),
            strict=True,
        ):
            assert not set("[]") & set(once + often)
            assert once[1:] != often[1:] or " of them " in once
    told = counts.nonzero_counts({"hooks_late": 1, "errors": 1}, counts.TROUBLE)
    assert told[0] == "1 hook ended at its deadline without an answer"
    assert counts.usual({"hook_Stop": 1}) == ["1 hook was answered"]


def test_nothing_counted_is_nothing_told() -> None:
    """Neither of no counters nor of what is no number."""
    assert counts.usual({}) == []
    assert counts.nonzero_counts({"hooks_late": "many"}, counts.TROUBLE) == []


def test_no_counter_has_two_meanings() -> None:
    """What is trouble is not usual."""
    assert not counts.TROUBLE.keys() & counts.USUAL.keys()


def test_uses_in_words() -> None:
    """With how many were shown; nothing where nothing was."""
    found = Row({"shown": 1_040, "used": 312, "days": 30})
    assert counts.uses(found) == (
        "312 of 1,040 notes that sessions were shown were used (30 %, in the last 30 days)"
    )
    assert counts.uses(Row({"shown": 0, "used": 0, "days": 30})) == ""
    assert counts.uses(Row({})) == ""
