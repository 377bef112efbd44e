"""What is open is told to who asks for it, until the user says that it is done."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from service_house import ServiceHouse, captured_of, hook_question
from transcript_samples import Talk

from vector_memory.service.inject.prompt_recall import on_prompt
from vector_memory.service.inject.session_start import start_notes

TODO = "We still have to renew the calibration certificate of the heron probe."
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
    house.time += timedelta(minutes=1)
    return on_prompt(house.ctx, hook_question(house.ctx, f"n{house.time}", str(folder), prompt))


@pytest.mark.parametrize("prompt", ["What is still open?", "which todos are left?"])
def test_what_is_open_is_told_until_it_is_done(
    house: ServiceHouse, tmp_path: Path, prompt: str
) -> None:
    """A deadline and a todo, each gone when the user says so, in words that name nothing else."""
    said(house, tmp_path, "first", TODO, DUE)
    printed = answered(house, tmp_path, prompt)
    assert "calibration certificate" in printed
    assert "due 2026-05-20" in printed

    said(house, tmp_path, "second", "The heron report to the hospital is sent.", "Tidy the tests")
    printed = answered(house, tmp_path, prompt)
    assert "calibration certificate" in printed
    assert "due 2026-05-20" not in printed
    notes = start_notes(house.ctx, hook_question(house.ctx, "third", str(tmp_path)), set())
    assert not any("due 2026-05-20" in note.head for note in notes)

    said(house, tmp_path, "fourth", "The calibration certificate of the heron probe is renewed.")
    assert "We still have to renew" not in answered(house, tmp_path, prompt)


def test_what_the_assistant_says_settles_no_deadline(house: ServiceHouse, tmp_path: Path) -> None:
    """Only the user knows whether a letter went out."""
    said(house, tmp_path, "first", DUE)
    talk = Talk("second", cwd=str(tmp_path))
    talk.common["timestamp"] = house.time.isoformat()
    talk.user("Have a look at the folder of the letters")
    talk.say("The heron report to the hospital is sent.")
    captured_of(house.ctx, talk.write(tmp_path / "second.jsonl"), str(tmp_path), final=True)
    house.follow()
    assert "due 2026-05-20" in answered(house, tmp_path)


def test_a_question_about_one_thing_is_searched_for(house: ServiceHouse, tmp_path: Path) -> None:
    """The list is for who names nothing."""
    said(house, tmp_path, "first", TODO)
    assert "Open, as far as" not in answered(house, tmp_path, "is the login endpoint still open?")
