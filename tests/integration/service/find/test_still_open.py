"""What is open is the same wherever it is told; what was closed is so nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from journal_samples import memory
from service_house import ServiceHouse, door, hook_question

from vector_memory.service.inject import open_items

TODO = "Replace the bilge pump of the ferry."
ASKED = "Which yard repairs the ferry?"


@pytest.fixture
def app(house: ServiceHouse, tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def told(house: ServiceHouse, app: Path, **more: Any) -> list[set[str]]:
    """Return what is open by the dashboard, by `resume`, and by a prompt that asks for it."""
    asked = {"project": str(app), **more}
    of_page = door(house.ctx, "open_items", asked)["open"]
    of_resume = door(house.ctx, "resume", asked)["open"]
    prompt = "what is still open?"
    notes = open_items.notes(house.ctx, hook_question(house.ctx, "s1", str(app), prompt))
    return [{one["id"] for one in of_page}, {one["id"] for one in of_resume}, {one.id for one in notes}]  # fmt: skip


def test_what_is_closed_is_open_nowhere(house: ServiceHouse, app: Path) -> None:
    """And opened again everywhere."""
    id = house.remember(TODO, app, kind="todo")["id"]
    assert told(house, app) == [{id}] * 3
    house.pass_time(seconds=1)
    door(house.ctx, "verify", {"id": id, "verdict": "outdated"})
    house.pass_time(seconds=1)
    assert told(house, app) == [set()] * 3
    door(house.ctx, "verify", {"id": id, "verdict": "confirmed"})
    assert told(house, app) == [{id}] * 3


@pytest.mark.parametrize("more", [{"due": "2026-05-03"}, {"expires": "2026-05-04"}])
def test_what_is_over_by_its_date_is_open_no_more(
    house: ServiceHouse, app: Path, more: dict[str, str]
) -> None:
    """At once, not when the next sweep comes."""
    id = house.remember(TODO, app, kind="todo", **more)["id"]
    assert told(house, app) == [{id}] * 3
    house.pass_time(days=1)
    assert told(house, app) == [set()] * 3


def test_what_is_answered_comes_with_its_answers(house: ServiceHouse, app: Path) -> None:
    """What answers nothing does not come along, and an agent is not told what is held back."""
    asked = house.remember(ASKED, app, kind="question")["id"]
    house.remember(TODO, app, kind="todo")
    answer = house.remember("The one at the east quay.", app, answers=asked)["id"]
    other = house.remember("The yard opens at six.", app)["id"]
    door(house.ctx, "link", {"from": other, "to": asked})
    (one,) = door(house.ctx, "open_items", {"project": str(app)})["answered"]
    assert (one["memory"]["id"], [each["id"] for each in one["answers"]]) == (asked, [answer])
    door(house.ctx, "edit", {"id": answer, "sensitivity": "restricted"})
    (one,) = door(house.ctx, "open_items", {"project": str(app), "actor": "mcp"})["answered"]
    assert one["answers"] == []


@pytest.mark.parametrize("more", [{"verdict": "refuted"}, {"verdict": "outdated"}, {}])
def test_what_an_answer_left_that_holds_no_more_is_open(
    house: ServiceHouse, app: Path, more: dict[str, str]
) -> None:
    """It was found to be wrong, to hold no longer, or is over by its date; nor does a deadline pass as done by it."""
    asked = house.remember(ASKED, app, kind="question")["id"]
    todo = house.remember(TODO, app, kind="todo", due="2026-05-20")["id"]
    answers = [
        house.remember(f"It is known now: {one}.", app, answers=id, valid_until="2026-05-05")["id"]
        for one, id in (("east quay", asked), ("the pump is new", todo))
    ]
    assert told(house, app) == [set()] * 3
    for id in answers:
        if more:
            door(house.ctx, "verify", {"id": id, **more})
    house.pass_time(seconds=1) if more else house.pass_time(days=4)
    assert told(house, app) == [{asked, todo}] * 3
    assert door(house.ctx, "open_items", {"project": str(app)})["answered"] == []
    due = door(house.ctx, "list", {"project": str(app), "due": True})["memories"]
    assert [one["id"] for one in due] == [todo]
    again = house.remember("The north quay repairs it.", app, answers=asked)["id"]
    (one,) = door(house.ctx, "open_items", {"project": str(app)})["answered"]
    assert (one["memory"]["id"], again in {each["id"] for each in one["answers"]}) == (asked, True)


def test_what_takes_the_place_of_an_answer_answers(house: ServiceHouse, app: Path) -> None:
    """Two that say the same become one, and what was done stays so."""
    asked = house.remember(ASKED, app, kind="question")["id"]
    answer = house.remember("The one at the east quay.", app, answers=asked)["id"]
    newer = house.remember("The one at the north quay, since May.", app, supersedes=answer)["id"]
    assert told(house, app) == [set()] * 3
    (one,) = door(house.ctx, "open_items", {"project": str(app)})["answered"]
    assert [each["id"] for each in one["answers"]] == [newer]


def test_what_comes_back_is_open_however_often_it_was_done(house: ServiceHouse, app: Path) -> None:
    todo = house.remember(TODO, app, kind="todo", every="weekly", due="2026-05-04")["id"]
    house.remember("The bilge pump was replaced.", app, answers=todo)
    assert told(house, app)[0] == {todo}
    assert door(house.ctx, "open_items", {"project": str(app)})["answered"] == []


def test_what_others_of_a_team_left_open_is_shown_with_who_did(
    house: ServiceHouse, app: Path
) -> None:
    own = house.remember(TODO, app, kind="todo")["id"]
    shelf, project = house.ctx.team_shelf(make=True), house.ctx.place(str(app)).id
    assert shelf is not None
    extra = {"author": {"key": "ab" * 16, "name": "ann"}}
    shelf.journal.add([memory(1, project=project, kind="question", extra=extra)])
    shown = door(house.ctx, "open_items", {"project": str(app)})["open"]
    assert {one["id"]: one.get("author", {}).get("name") for one in shown} == {own: None, "m0001": "ann"}  # fmt: skip
