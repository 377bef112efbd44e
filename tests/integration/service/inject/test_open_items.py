"""What is open is told to who asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from service_house import ServiceHouse, captured_of, door, hook_question
from transcript_samples import Talk

from vector_memory.model import Link, Relation, Scope
from vector_memory.service.inject.prompt_recall import on_prompt

TODO = "We still have to renew the calibration certificate of the heron probe."
LAST = "last"
DUE = "We have to send the heron report to the hospital by 20 May, don't forget."


def said(house: ServiceHouse, folder: Path, session: str, *prompts: str) -> None:
    """Hold a session, and let an hour go by."""
    talk = Talk(session, cwd=str(folder))
    talk.common["timestamp"] = house.time.isoformat()
    for prompt in prompts:
        talk.user(prompt)
        talk.say("The notes on it are in the folder docs, beside the plan.")
    captured_of(house.ctx, talk.write(folder / f"{session}.jsonl"), str(folder), final=True)
    house.follow()
    house.pass_time(hours=1)


def answered(house: ServiceHouse, folder: Path, prompt: str = "What is still open?") -> str:
    """Return what a new session's prompt is given."""
    return on_prompt(house.ctx, hook_question(house.ctx, LAST, str(folder), prompt))


@pytest.mark.parametrize("prompt", ["What is still open?", "which todos are left?"])
def test_what_is_open_is_told_once(house: ServiceHouse, tmp_path: Path, prompt: str) -> None:
    """A deadline and a todo; what a session was given it is not given again."""
    said(house, tmp_path, "first", TODO, DUE)
    printed = answered(house, tmp_path, prompt)
    assert "calibration certificate" in printed
    assert "due 2026-05-20" in printed
    again = on_prompt(house.ctx, hook_question(house.ctx, LAST, str(tmp_path), prompt))
    assert "calibration certificate" not in again


def test_what_is_answered_is_open_no_more(house: ServiceHouse, tmp_path: Path) -> None:
    """What another memory says is done has no date to come."""
    due = house.remember("Send the heron report", tmp_path, kind="todo", due="2026-05-20")
    assert "heron report" in answered(house, tmp_path)
    done = house.remember("The letter with it went out", tmp_path)
    house.ctx.all_shelves()[0].journal.link_all(
        [Link(done["id"], due["id"], Relation.ANSWERS, 1.0, house.time)]
    )
    assert "heron report" not in answered(house, tmp_path)


@pytest.mark.parametrize("wish", [{"every": "weekly"}, {}])
def test_what_comes_again_is_told_again(
    house: ServiceHouse, tmp_path: Path, wish: dict[str, str]
) -> None:
    """Done this week it comes back the next one; a day that is set anew is to come, though it was done once."""
    keys = house.remember(
        "Update the signing keys of the heron probe.",
        tmp_path,
        kind="todo",
        due="2026-05-04",
        **wish,
    )
    house.pass_time(hours=1)
    house.remember("The signing keys of the heron probe are updated.", tmp_path)
    house.pass_time(hours=1)
    journal = house.ctx.all_shelves()[0].journal
    assert bool(journal.dated(Scope())) == bool(wish)
    door(house.ctx, "edit", {"id": keys["id"], "due": "2026-05-20"})
    assert [one.id for one in journal.dated(Scope())] == [keys["id"]]


def test_a_question_about_one_thing_is_searched_for(house: ServiceHouse, tmp_path: Path) -> None:
    """The list is for who names nothing."""
    said(house, tmp_path, "first", TODO)
    assert "Open, as far as" not in answered(house, tmp_path, "is the login endpoint still open?")
