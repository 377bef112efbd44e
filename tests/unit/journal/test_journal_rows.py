"""Memories as rows: what goes in comes out, and damage shows."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from journal_samples import START, memory

from vector_memory.errors import BadInputError
from vector_memory.journal import rows
from vector_memory.journal.readonly import match_expression
from vector_memory.journal.scopes import condition
from vector_memory.model import (
    CleanText,
    Memory,
    Origin,
    Priority,
    Scope,
    Sensitivity,
    Source,
    Status,
    Temporal,
    Tier,
)

FULL = Memory(
    id="full", text=CleanText("Überall 日本"), created_at=START, kind="decision",
    title=CleanText("A title"), collection="learnings", project="p-1", priority=Priority.CORE,
    confidence=0.1 + 0.2, origin=Origin.TOOL, temporal=Temporal.DEADLINE,
    sensitivity=Sensitivity.RESTRICTED, jurisdiction="EU", tags=("a", 'quote"d'),
    files=("src/app/x.py",), source=Source("s", "/t/s.jsonl", 3, 9, 4, "Ann"), external_id="e",
    valid_from=START, valid_until=START + timedelta(1), expires_at=START + timedelta(2),
    status=Status.SUPERSEDED, superseded_by="other", model="m@1", extra={"done": [1, "é"]},
    seq=7, stored_at=START, updated_at=START, uses=3, last_used_at=START,
    tier=Tier.LONG_TERM, applied=2, applied_at=START,
)  # fmt: skip

PLAIN = memory(1, stored_at=START)


def read_back(one: Memory) -> rows.Row:
    """Return the row of `SELECT` that the journal would read for a memory."""
    row = rows.to_row(one, 1, 1)
    used = None if one.last_used_at is None else rows.microseconds(one.last_used_at)
    applied = None if one.applied_at is None else rows.microseconds(one.applied_at)
    size = len(rows.NUMBERS) + len(rows.WORDS)
    values = dict(zip(rows.ALL, row, strict=True))
    return (
        *row[:size], one.source.session, one.source.path, values["checksum"], values["model"],
        one.uses, used, str(one.tier), one.applied, applied, values["lexical"], values["hash"],
    )  # fmt: skip


def test_every_field_comes_back() -> None:
    """A memory with a value of its own in every field is the same after a row."""
    untouched = [f.name for f in fields(Memory) if getattr(FULL, f.name) == getattr(PLAIN, f.name)]
    assert untouched == ["stored_at"]
    assert rows.to_memory(read_back(FULL), {1: "m@1"}) == FULL


def test_defaults_come_back() -> None:
    """A memory of defaults is the same after a row, of the same types."""
    found = rows.to_memory(read_back(PLAIN), {1: ""})
    assert found == PLAIN
    assert isinstance(found.text, CleanText)
    assert vars(found).keys() == vars(PLAIN).keys()
    assert vars(found.source).keys() == vars(PLAIN.source).keys()


def test_two_memories_share_no_extra() -> None:
    """Changing one memory's `extra` leaves others alone."""
    first, second = (rows.to_memory(read_back(PLAIN), {1: ""}) for _ in range(2))
    first.extra["x"] = 1
    assert second.extra == {}


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=200),
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=3),
)
def test_any_text_and_time_come_back(text: str, at: datetime, tags: list[str]) -> None:
    """Text, times to the microsecond and tags survive, whatever they are."""
    one = replace(
        PLAIN, text=CleanText(text), created_at=at.replace(tzinfo=timezone.utc), tags=tuple(tags)
    )
    row = read_back(one)
    assert rows.is_sound(row)
    assert rows.to_memory(row, {1: ""}) == one


@pytest.mark.parametrize("column", range(len(rows.NUMBERS) + len(rows.WORDS) + len(rows.SOURCE)))
def test_a_changed_column_is_noticed(column: int) -> None:
    """Each column that the checksum covers makes the row unsound when it changes."""
    row = list(read_back(FULL))
    row[column] = row[column] + "x" if isinstance(row[column], str) else row[column] + 1
    assert not rows.is_sound(tuple(row))


def test_a_column_of_another_type_is_unsound() -> None:
    """Damage that turns text into something else is damage, not a crash."""
    row = list(read_back(FULL))
    row[rows.AT_TEXT] = None
    assert not rows.is_sound(tuple(row))


@pytest.mark.parametrize(
    "bad",
    [
        {"created_at": datetime(2026, 1, 1)},
        {"valid_until": datetime.fromisoformat("9999-12-31T23:59:59-23:00")},
        {"extra": {"x": object()}},
        {"confidence": "high"},
        {"kind": 3},
        {"source": Source(turn="second")},  # type: ignore[arg-type]
    ],
)
def test_what_has_no_form_is_refused(bad: dict[str, object]) -> None:
    """Naive times, those that no clock has in UTC, objects and wrong types are the caller's mistake."""
    with pytest.raises(BadInputError):
        rows.to_row(replace(PLAIN, **bad), 0, 0)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"text": "plain"}, {"title": "plain"}])
def test_text_past_the_redactor_is_refused(bad: dict[str, str]) -> None:
    """Neither text nor title gets in as a plain string."""
    with pytest.raises(TypeError, match=r"redact\.clean"):
        rows.to_row(replace(PLAIN, **bad), 0, 0)  # type: ignore[arg-type]


def test_open_means_active_and_not_done() -> None:
    """Only active questions, todos and problems that are not done are open."""

    def is_open(**changes: object) -> int:
        one = replace(PLAIN, kind="todo", **changes)  # type: ignore[arg-type]
        return int(dict(zip(rows.ALL, rows.to_row(one, 0, 0), strict=True))["open"])

    assert is_open() == 1
    assert is_open(extra={"done": False}) == 1
    assert is_open(extra={"done": True}) == 0
    assert is_open(status=Status.SUPERSEDED) == 0
    assert dict(zip(rows.ALL, rows.to_row(PLAIN, 0, 0), strict=True))["open"] == 0


def test_hash_takes_any_string() -> None:
    """Even a lone surrogate has a hash, and texts differ in theirs."""
    hashes = {rows.text_hash(text) for text in ("", "a", "\ud800")}
    assert len(hashes) == 3
    assert {len(one) for one in hashes} == {16}


def test_query_terms_are_quoted() -> None:
    """No term can be an operator, end its quotes, or be empty."""
    assert match_expression(["a", 'b" OR "c', "NOT", "\0"]) == '"a" OR "b"" OR ""c" OR "NOT"'


def test_scope_values_are_parameters() -> None:
    """What a user writes never becomes SQL."""
    evil = "' OR 1=1 --"
    scope = Scope((evil,), (evil,), (evil,), (evil,), (evil,), START, START)
    sql, values = condition(scope)
    assert evil not in sql
    assert sql.count("?") == len(values) == 7


def test_an_empty_scope_limits_nothing() -> None:
    """Without limits the condition is true, and with no project at all it is not."""
    assert condition(Scope()) == ("1", [])
    assert condition(Scope(projects=())) == ("m.project IN ()", [])
