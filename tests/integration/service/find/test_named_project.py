"""Questions that name another project of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door, hook_question

from vector_memory.service.inject import prompt_recall

FACT = "The unit tests run with vitest in watch mode."
QUESTION = "Which runner do the unit tests of ledger use?"


@pytest.fixture
def filled(house: ServiceHouse, tmp_path: Path) -> ServiceHouse:
    """A house with a fact in the project "ledger"."""
    ledger = tmp_path / "ledger"
    ledger.mkdir()
    house.remember(FACT, ledger)
    return house


def asked(house: ServiceHouse, app: Path, query: str, **more: Any) -> dict[str, Any]:
    return door(house.ctx, "recall", {"query": query, "project": str(app), **more})


@pytest.mark.parametrize("name", ["ledger", "Ledger's"])
def test_the_user_is_told_where_it_is_and_no_word_of_it(
    filled: ServiceHouse, app: Path, name: str
) -> None:
    answer = asked(filled, app, QUESTION.replace("ledger", name))
    assert not any(hit["fits"] for hit in answer["hits"])
    assert "in the project ledger 1 memory fits" in answer["note"]
    assert f"--project {app.parent / 'ledger'}" in answer["note"]
    assert "vitest" not in str(answer)


@pytest.mark.parametrize(
    "query",
    [
        "Which runner do the unit tests use?",
        "Which runner do the unit tests of ledger-ui use?",
        "ledger",
    ],
)
def test_nothing_is_offered_without_the_name_or_without_a_question(
    filled: ServiceHouse, app: Path, query: str
) -> None:
    assert asked(filled, app, query).get("note") is None


def test_what_fits_here_is_not_all_there_is(filled: ServiceHouse, app: Path) -> None:
    """It is the answer, however the project is called; but what is alike may be of this project alone."""
    filled.remember("The unit tests run with pytest, four at once.", app)
    answer = asked(filled, app, QUESTION)
    assert answer["hits"][0]["fits"] and answer["note"].startswith("In the project ledger 1 memory")


def test_put_to_all_projects_it_is_about_the_one_that_it_names(
    filled: ServiceHouse, app: Path
) -> None:
    filled.remember("The unit tests run with pytest in watch mode.", app)
    found = door(filled.ctx, "recall", {"query": QUESTION, "all_projects": True})
    assert found["hits"][0]["text"] == FACT


def test_who_may_see_one_project_alone_hears_of_no_other(filled: ServiceHouse, app: Path) -> None:
    """As a program whose token is for one project and speaks for the user."""
    assert asked(filled, app, QUESTION, only_project=True).get("note") is None


@pytest.mark.parametrize("limit", [{"jurisdictions": ["EU"]}, {"kind": "decision"}])
def test_what_limits_the_question_limits_what_is_counted(
    filled: ServiceHouse, app: Path, limit: dict[str, Any]
) -> None:
    assert asked(filled, app, QUESTION, **limit).get("note") is None


def test_no_agent_hook_or_program_of_one_project_hears_of_other_projects(
    filled: ServiceHouse, app: Path
) -> None:
    for who in ({"actor": "agent"}, {"only_project": True}):
        assert "ledger" not in str(asked(filled, app, QUESTION, **who).get("note"))
    told = prompt_recall.on_prompt(filled.ctx, hook_question(filled.ctx, "s", str(app), QUESTION))
    assert "ledger" not in told and "vitest" not in told
