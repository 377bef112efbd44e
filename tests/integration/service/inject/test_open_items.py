"""What is open is told to who asks for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from journal_samples import memory
from service_house import ServiceHouse, captured_of, door, hook_question
from transcript_samples import Talk

from vector_memory.errors import StoreDamagedError
from vector_memory.model import PASSAGE, Link, Relation, Scope, Source, Tier
from vector_memory.service.inject.prompt_recall import on_prompt
from vector_memory.service.inject.session_start import on_start

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
    assert bool(journal.with_dates(Scope())) == bool(wish)
    door(house.ctx, "edit", {"id": keys["id"], "due": "2026-05-20"})
    assert [one.id for one in journal.with_dates(Scope())] == [keys["id"]]


def test_a_question_about_one_thing_is_searched_for(house: ServiceHouse, tmp_path: Path) -> None:
    """The list is for who names nothing."""
    said(house, tmp_path, "first", TODO)
    assert "Open, as far as" not in answered(house, tmp_path, "is the login endpoint still open?")


def test_what_the_user_left_open_is_open(house: ServiceHouse, tmp_path: Path) -> None:
    """The assistant answers at once with what stays open; what it names after its work was for the next prompt."""
    talk = Talk("s1", cwd=str(tmp_path), timestamp=house.time.isoformat())
    talk.user("should we log the humidity in the hive as well? SHT45 maybe")
    talk.say(
        "It would work on the same bus, and bees cover such sensors with propolis within weeks."
    )
    talk.user("yeah leave that open for now")
    talk.say(
        "Left open: whether to log the humidity with an SHT45, to be decided after the field test."
    )
    talk.user("add the cable gland to the parts list")
    talk.say(
        "The gland is on the list of the parts. Left open: whether its thread fits the enclosure of 2024."
    )
    talk.user("print the list please, and put it beside the bench")
    talk.say("The list of the parts is printed and lies beside the bench.")
    captured_of(house.ctx, talk.write(tmp_path / "s1.jsonl"), str(tmp_path), final=True)
    house.follow()
    house.pass_time(hours=1)
    printed = answered(house, tmp_path)
    assert "humidity with an SHT45" in printed
    assert "its thread" not in printed


def test_a_box_of_a_list_is_told_until_it_is_ticked(house: ServiceHouse, tmp_path: Path) -> None:
    """At a start, too, after what the end of the session before says already."""
    talk = Talk("s1", cwd=str(tmp_path), timestamp=house.time.isoformat())
    talk.user("the gland leaked in the shower test, we need another one")
    talk.edit(
        str(tmp_path / "TODO.md"), "", "- [ ] another M12 cable gland (leaked in shower test)\\n"
    )
    talk.say(
        "I put another gland on the list, and wrote down what the test of the enclosure showed."
    )
    talk.user("now write the reader of the frames of the heron probe, in the folder of the tools")
    talk.say(
        "The reader of the frames is written, and its twelve tests pass on both of the recordings."
    )
    captured_of(house.ctx, talk.write(tmp_path / "s1.jsonl"), str(tmp_path), final=True)
    house.follow()
    house.pass_time(hours=1)
    assert "M12 cable gland" in answered(house, tmp_path)
    started = on_start(house.ctx, hook_question(house.ctx, "new", str(tmp_path), source="startup"))
    assert "M12 cable gland" in started


RUNBOOK = "TODO: write the runbook of %s for the night shift."


@pytest.mark.parametrize("is_done", [False, True])
def test_a_todo_is_not_taken_up_by_one_like_it(
    house: ServiceHouse, tmp_path: Path, is_done: bool
) -> None:
    """Neither by the sentence that raises that one nor by the work on it, also once that one is done."""
    said(house, tmp_path, "first", RUNBOOK % "Kafka")
    said(house, tmp_path, "second", RUNBOOK % "Redis")
    if is_done:
        journal = house.ctx.all_shelves()[0].journal
        for memory in journal.open_items(Scope(), 9):
            if "Redis" in memory.text:
                journal.update(replace(memory, extra={**memory.extra, "done": True}))
    said(house, tmp_path, "third", "Please write the runbook of Redis for the night shift now.")
    printed = answered(house, tmp_path)
    assert "Kafka" in printed
    assert "Redis" not in printed


@pytest.mark.parametrize(
    "work", ["Write the runbook of Kafka for the night shift.", RUNBOOK % "all, Kafka and Redis,"]
)
def test_a_todo_that_is_worked_on_is_taken_up(
    house: ServiceHouse, tmp_path: Path, work: str
) -> None:
    """Also where another one like it is open, or where it is raised again in other words, which are told."""
    said(house, tmp_path, "first", RUNBOOK % "Kafka")
    said(house, tmp_path, "second", RUNBOOK % "Redis")
    said(house, tmp_path, "third", work)
    printed = answered(house, tmp_path)
    assert (RUNBOOK % "Kafka") not in printed
    assert ((RUNBOOK % "Redis") in printed) == ("Redis" not in work)


@pytest.mark.parametrize("is_cold", [True, False])
def test_what_was_taken_up_long_ago_stays_so(
    house: ServiceHouse, tmp_path: Path, is_cold: bool
) -> None:
    """Though the talk that did is cold by now, or hundreds of passages were said since; what nobody took up is told."""
    said(house, tmp_path, "first", RUNBOOK % "Kafka", TODO)
    said(house, tmp_path, "second", "I wrote the runbook of Kafka for the night shift today.")
    journal, project = house.ctx.global_shelf().journal, house.ctx.place(str(tmp_path)).id
    if is_cold:
        talk = journal.iter_memories(Scope(kinds=(PASSAGE,)))
        journal.move_to_tiers(dict.fromkeys((one.id for one in talk), Tier.COLD))
    else:
        journal.add(
            [
                memory(
                    number,
                    f"User: paint the panel {number} of the probe",
                    kind=PASSAGE,
                    project=project,
                    created_at=house.time,
                    source=Source(f"s{number // 9}", "/t/s.jsonl", turn=number % 9),
                )
                for number in range(320)
            ]
        )
    printed = answered(house, tmp_path)
    assert "Kafka" not in printed
    assert TODO in printed


def test_what_is_named_to_who_asks_what_is_open_stays_open(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """The answer has all words of it, and takes up nothing."""
    said(house, tmp_path, "first", RUNBOOK % "Kafka", TODO)
    talk = Talk("second", cwd=str(tmp_path))
    talk.common["timestamp"] = house.time.isoformat()
    talk.user("What is still open?")
    talk.say("Open is one thing: write the runbook of Kafka for the night shift.")
    captured_of(house.ctx, talk.write(tmp_path / "second.jsonl"), str(tmp_path), final=True)
    house.follow()
    assert "Kafka" in answered(house, tmp_path)


def test_without_its_words_an_index_hides_nothing(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is open is told while the index of words is made anew."""
    said(house, tmp_path, "first", RUNBOOK % "Kafka", TODO)
    journal = house.ctx.global_shelf().journal

    def damaged(*_: object, **__: object) -> None:
        raise StoreDamagedError("The index of words is damaged.")

    monkeypatch.setattr(type(journal), "matching", damaged)
    assert "Kafka" in answered(house, tmp_path)


def test_a_start_tells_a_todo_beside_one_like_it(house: ServiceHouse, tmp_path: Path) -> None:
    """The end of the session before has all its words but the one that matters."""
    said(house, tmp_path, "first", RUNBOOK % "Kafka")
    said(house, tmp_path, "second", RUNBOOK % "Redis")
    started = on_start(house.ctx, hook_question(house.ctx, "new", str(tmp_path), source="startup"))
    assert started.count("Kafka") == 1
    assert started.count("Redis") == 1


@pytest.mark.parametrize(
    ("todo", "is_told"),
    [
        ("TODO: rotate the API keys.", True),
        ("TODO: write the runbook.", False),
        ("We still have to rotate the keys.", False),
    ],
)
def test_a_start_tells_a_short_todo_that_is_marked_as_one(
    house: ServiceHouse, tmp_path: Path, todo: str, is_told: bool
) -> None:
    """Three words beside the mark say what it is about; without a mark so few may be about anything. Who asks what is
    open is told each."""
    said(house, tmp_path, "first", todo)
    said(house, tmp_path, "second", "Please rename the module of the billing to invoices.")
    started = on_start(house.ctx, hook_question(house.ctx, "new", str(tmp_path), source="startup"))
    assert (todo in started) == is_told
    assert todo in answered(house, tmp_path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("issue 12", "issue 13"),
        ("staging1", "staging2"),
        ("the sync client", "the async client"),
        ("host 10.0.0.1", "host 10.0.0.2"),
        ("Python 3.8", "Python 3.9"),
        ("the release 2.4", "the release 2.5"),
        ("the talk with Jan", "the talk with Jana"),
    ],
)
@pytest.mark.parametrize("is_worked_on", [False, True])
def test_what_differs_in_a_number_or_a_letter_is_another(
    house: ServiceHouse, tmp_path: Path, one: str, other: str, is_worked_on: bool
) -> None:
    """Whether it puts the one before right nobody can tell: better one too many is told than one too few."""
    todo = "TODO: write the notes on %s for the night shift."
    said(house, tmp_path, "first", todo % one)
    said(house, tmp_path, "second", todo % other)
    if is_worked_on:
        said(house, tmp_path, "third", f"Write the notes on {other} for the night shift.")
    printed = answered(house, tmp_path)
    assert (todo % one) in printed
    assert ((todo % other) in printed) != is_worked_on


def test_no_todo_is_taken_up_by_the_mark_of_another(house: ServiceHouse, tmp_path: Path) -> None:
    """Half of its words and "TODO" are no more than half of its words."""
    said(house, tmp_path, "first", "TODO: write the runbook of the Kafka brokers.")
    said(house, tmp_path, "second", "TODO: write the runbook of the Redis nodes.")
    printed = answered(house, tmp_path)
    assert "Kafka" in printed
    assert "Redis" in printed
