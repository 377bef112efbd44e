"""Decisions are put before the user where the setting says so, each once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from service_house import ServiceHouse, captured_of, hook_question
from talk import transcript

from vector_memory.service.inject import prompt_recall

TALK = [
    ("We decided to keep the ledger in SQLite instead of Postgres.", "It is in SQLite now."),
    ("Which tests are there for the export of the totals?", "None, so I wrote one."),
]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    """The service, with a session in which something was decided."""
    made = ServiceHouse(tmp_path)
    folder = tmp_path / "app"
    folder.mkdir()
    captured_of(made.ctx, str(transcript(folder, TALK)), final=True)
    made.follow()
    yield made
    made.close()


def prompt(house: ServiceHouse, tmp_path: Path, session: str = "s1") -> str:
    """Return what a prompt is given."""
    ask = hook_question(
        house.ctx, session, str(tmp_path / "app"), "Please write the changelog of this release now"
    )
    return prompt_recall.on_prompt(house.ctx, ask)


def test_nobody_is_asked_by_default(house: ServiceHouse, tmp_path: Path) -> None:
    assert "Noted as decided" not in prompt(house, tmp_path)


def test_each_decision_is_put_before_the_user_once(house: ServiceHouse, tmp_path: Path) -> None:
    """In its own session, fenced, with the id that removes it."""
    house.ctx.settings = replace(house.ctx.settings, confirm_decisions=True)
    told = prompt(house, tmp_path)
    assert "Noted as decided" in told and "SQLite instead of Postgres" in told
    assert told.count("<vector-memory mark=") == 1
    assert "Noted as decided" not in prompt(house, tmp_path)
    assert "Noted as decided" not in prompt(house, tmp_path, session="another")
