"""What is open is the same wherever it is told; what was closed is so nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
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
