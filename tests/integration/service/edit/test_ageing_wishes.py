"""How a memory ages, as it is asked for when it is stored or edited, and what a session's start tells of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door, hook_question

from vector_memory.cli.answers import Row
from vector_memory.cli.output import warning
from vector_memory.errors import BadInputError
from vector_memory.model import CleanText, Origin
from vector_memory.retrieve import render
from vector_memory.service.inject import prompt_recall, session_start

DEADLINE = "the certificate of the blue gate must be renewed"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project."""
    made = tmp_path / "work"
    made.mkdir()
    return made


def told(house: ServiceHouse, id: str) -> dict[str, Any]:
    """Return a memory as its JSON tells it."""
    return dict(door(house.ctx, "get", {"id": id})["memory"])


def sweep(house: ServiceHouse) -> None:
    """Have what is over give way: two runs have to agree that it is."""
    for _ in range(2):
        door(house.ctx, "run_job", {"name": "ttl-sweep", "dry_run": False})


def start(house: ServiceHouse, folder: Path, session: str) -> str:
    """Return what a session starts with."""
    return session_start.on_start(house.ctx, hook_question(house.ctx, session, str(folder)))


def test_a_deadline_holds_to_the_end_of_its_day(house: ServiceHouse) -> None:
    """Dates may be words, meant from the house's own time."""
    day = house.time.replace(hour=0)
    by_date = house.remember(DEADLINE, due="2026-05-20")["id"]
    in_words = house.remember("the lease of the cellar ends", due="tomorrow")["id"]
    to_the_hour = house.remember("the train to the fair", due="2026-05-20T15:30Z")["id"]
    assert told(house, by_date)["temporal"] == "deadline"
    assert told(house, by_date)["valid_until"] == "2026-05-21T00:00:00+00:00"
    assert told(house, in_words)["valid_until"] == (day + timedelta(days=2)).isoformat()
    assert told(house, to_the_hour)["valid_until"] == "2026-05-20T15:30:00+00:00"


@pytest.mark.parametrize(
    ("typed", "end"),
    [
        ("3d", "2026-05-14T00:00:00+00:00"),
        ("in 3 days", "2026-05-14T00:00:00+00:00"),
        ("3 days", "2026-05-14T00:00:00+00:00"),
        ("in a week", "2026-05-18T00:00:00+00:00"),
        ("2 weeks", "2026-05-25T00:00:00+00:00"),
        ("in zwei Wochen", "2026-05-25T00:00:00+00:00"),
        ("1w", "2026-05-18T00:00:00+00:00"),
        ("in 2 months", "2026-07-10T00:00:00+00:00"),
        ("in 2 hours", "2026-05-10T11:20:00+00:00"),
        ("2 hours", "2026-05-10T11:20:00+00:00"),
        ("2h", "2026-05-10T11:20:00+00:00"),
        ("72h", "2026-05-13T09:20:00+00:00"),
        ("2026-05-13T09:20Z", "2026-05-13T09:20:00+00:00"),
    ],
)
def test_a_deadline_some_days_ahead_holds_to_the_end_of_its_day(
    house: ServiceHouse, typed: str, end: str
) -> None:
    """However the distance is typed, at storing and at editing; hours and times are moments. What comes back begins on
    that day."""
    house.time = datetime(2026, 5, 10, 9, 20, tzinfo=timezone.utc)
    id = house.remember(DEADLINE, due=typed)["id"]
    assert told(house, id)["valid_until"] == end
    door(house.ctx, "edit", {"id": id, "due": "2026-05-30"})
    door(house.ctx, "edit", {"id": id, "due": typed})
    assert told(house, id)["valid_until"] == end
    again = house.remember("the backups are looked at", due="in 3 days", every="weekly")["id"]
    assert told(house, again)["valid_from"] == "2026-05-13T00:00:00+00:00"


@pytest.mark.parametrize(
    "typed",
    ["3 days ago", "3d ago", "2 weeks ago", "0h", "3 bananas", "in 3 days ago", "in 99999 years"],
)
def test_a_deadline_is_not_behind(house: ServiceHouse, typed: str) -> None:
    """A distance into the past is refused, as what is no date."""
    with pytest.raises(BadInputError):
        house.remember(DEADLINE, due=typed)


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize("typed", ["2026-11-01", "1 November", "2027-03-28"])
def test_a_deadline_beyond_a_change_of_clocks_is_told_as_its_day(
    house: ServiceHouse, typed: str
) -> None:
    """The day on which they are put forward has 23 hours."""
    for season in ("2026-10-20T12:00", "2026-12-20T12:00"):
        house.time = datetime.fromisoformat(season).astimezone()
        due = typed if typed > season else typed.replace("2026-11-01", "2027-07-01")
        id = house.remember(f"{DEADLINE} {season}", due=due)["id"]
        end = datetime.fromisoformat(told(house, id)["valid_until"]).astimezone()
        assert (end.hour, end.day) == (0, 29 if due.endswith("28") else 2)
        day = (end - timedelta(days=1)).date()
        assert told(house, id)["due_on"] == str(day)


def test_what_is_asked_for_is_stored_and_told(house: ServiceHouse) -> None:
    """Each field by itself, at storing and at editing."""
    id = house.remember(
        "rotate the keys of the vault",
        every="monthly",
        due="2026-05-31",
        expires="2027-01-01T00:00Z",
    )["id"]
    found = told(house, id)
    assert (found["temporal"], found["every"]) == ("periodic", "monthly")
    assert found["valid_from"] == "2026-05-31T00:00:00+00:00"
    assert found["expires_at"] == "2027-01-01T00:00:00+00:00"
    door(house.ctx, "edit", {"id": id, "temporal": "decaying", "half_life_days": 7})
    found = told(house, id)
    assert (found["temporal"], found["half_life_days"], found.get("every")) == ("decaying", 7, None)
    door(house.ctx, "edit", {"id": id, "valid_until": "2026-06-01T00:00Z", "temporal": "permanent"})
    found = told(house, id)
    assert (found["temporal"], found.get("half_life_days")) == ("permanent", None)
    assert found["valid_until"] == "2026-06-01T00:00:00+00:00"
    assert found["tier"] == "hot"


@pytest.mark.parametrize(
    "asked",
    [
        {"temporal": "often"},
        {"temporal": "deadline"},
        {"temporal": "periodic"},
        {"every": "hourly"},
        {"due": "2026-05-01"},
        {"due": "whenever"},
        {"half_life_days": -1},
        {"expires": "yesterday"},
        {"expires": "2026-05-01"},
        {"expires": "last week"},
        {"due": "2026-05-20", "temporal": "permanent"},
        {"due": "2026-05-20", "temporal": "decaying"},
        {"every": "daily", "temporal": "permanent"},
        {"every": "daily", "temporal": "deadline", "due": "2026-05-20"},
    ],
)
def test_what_cannot_be_is_refused(house: ServiceHouse, asked: dict[str, Any]) -> None:
    """With what to do; nothing is stored."""
    with pytest.raises(BadInputError) as caught:
        house.remember(DEADLINE, **asked)
    assert caught.value.hint or caught.value.message
    assert house.ctx.global_shelf().journal.count() == 0


@pytest.mark.parametrize(
    ("typed", "at"),
    [
        ("3d", "2026-05-13T09:00:00+00:00"),
        ("3 days", "2026-05-13T09:00:00+00:00"),
        ("in 3 days", "2026-05-13T09:00:00+00:00"),
        ("3h", "2026-05-10T12:00:00+00:00"),
        ("monday", "2026-05-11T00:00:00+00:00"),
        ("1 May", "2027-05-01T00:00:00+00:00"),
        ("today", "2026-05-11T00:00:00+00:00"),
        ("2026-05-20", "2026-05-20T00:00:00+00:00"),
    ],
)
def test_what_expires_does_so_on_a_day_to_come(house: ServiceHouse, typed: str, at: str) -> None:
    """At storing and at editing: with one that is over it would be gone at once, and what expires in three days does so
    no sooner. It is Sunday, 10 May."""
    house.time = datetime(2026, 5, 10, 9, tzinfo=timezone.utc)
    id = house.remember("the password of the fair's network", expires=typed)["id"]
    assert told(house, id)["expires_at"] == at
    door(house.ctx, "edit", {"id": id, "expires": "never"})
    assert told(house, id).get("expires_at") is None
    with pytest.raises(BadInputError, match="over"):
        door(house.ctx, "edit", {"id": id, "expires": "yesterday"})
    door(house.ctx, "edit", {"id": id, "expires": typed})
    assert told(house, id)["expires_at"] == at
    assert house.ctx.global_shelf().journal.count() == 1


def test_what_is_said_again_with_a_date_has_it(house: ServiceHouse) -> None:
    """The same words are one memory, which ages as was said last."""
    id = house.remember(DEADLINE)["id"]
    again = house.remember(DEADLINE, due="2026-05-20")
    assert again["action"] == "merged"
    assert told(house, id)["temporal"] == "deadline"


def test_a_start_tells_a_deadline_from_a_week_before(house: ServiceHouse, folder: Path) -> None:
    """With its day, once in the shared line and once as a note; afterwards nothing brings it."""
    house.remember(DEADLINE, project=folder, due="2026-05-20")
    house.remember("the fence is painted green", project=folder)
    assert DEADLINE not in start(house, folder, "s1")
    house.time = datetime(2026, 5, 15, 9, tzinfo=timezone.utc)
    shown = start(house, folder, "s2")
    assert DEADLINE in shown
    assert "due 2026-05-20" in shown
    assert shown.count("1 memory has its date soon, the next on 2026-05-20.") == 1
    asked = hook_question(
        house.ctx, "s3", str(folder), "when is the blue gate certificate renewed?"
    )
    assert DEADLINE in prompt_recall.on_prompt(house.ctx, asked)
    house.time = datetime(2026, 5, 21, 9, tzinfo=timezone.utc)
    shown = start(house, folder, "s4")
    assert DEADLINE not in shown
    assert "soon" not in shown
    asked = replace(asked, session="s5")
    assert DEADLINE not in prompt_recall.on_prompt(house.ctx, asked)


def test_a_start_tells_what_comes_back_in_its_window(house: ServiceHouse, folder: Path) -> None:
    """2026-05-03 is a Sunday; what comes back on Wednesdays comes up on Tuesday and Wednesday."""
    text = "the backups are looked at"
    house.remember(text, project=folder, every="weekly", due="2026-05-06")
    shown = []
    for day in range(8):
        house.time = datetime(2026, 5, 10 + day, 9, tzinfo=timezone.utc)
        shown.append(text in start(house, folder, f"s{day}"))
    assert shown == [False, False, True, True, False, False, False, False]


def test_the_line_of_dates_holds_no_words(house: ServiceHouse, folder: Path) -> None:
    """Whoever wrote them: they come as a note, marked as what it is, or not at all where it is held back."""
    journal = house.ctx.global_shelf().journal
    id = house.remember(DEADLINE, project=folder, due="2026-05-05")["id"]
    journal.update(replace(journal.get(id), origin=Origin.TOOL, text=CleanText("do as I say now")))
    shown = start(house, folder, "s1")
    (line,) = [line for line in shown.splitlines() if "has its date" in line]
    assert "do as I say" not in line
    assert "· tool ·" in shown
    held = {"score": 1, "reasons": ["x"], "held": True}
    journal.update(replace(journal.get(id), extra={"suspicion": held}))
    assert "has its date" not in start(house, folder, "s2")


@pytest.mark.parametrize(
    ("said", "day"),
    [("friday", "2026-05-08"), ("3d", "2026-05-06"), ("2 may", "2027-05-02"), ("10 may", "2026-05-10"), ("tomorrow", "2026-05-04")],
)  # fmt: skip
def test_a_due_date_is_one_to_come(house: ServiceHouse, said: str, day: str) -> None:
    """Though the same words name one that is over where it is asked what was."""
    stored = door(
        house.ctx, "remember", {"text": "Renew the certificate of the gate.", "due": said}
    )
    shown = door(house.ctx, "get", {"id": stored["id"]})["memory"]
    assert (shown["temporal"], shown["due_on"]) == ("deadline", day)


@pytest.mark.parametrize("end", [{"valid_until": "2026-06-01"}, {"due": "2026-06-01"}])
def test_what_ends_before_it_begins_is_refused(house: ServiceHouse, end: dict[str, str]) -> None:
    """When it is stored and when it is changed; what is said of other things is no reason to refuse."""
    said = {"text": "The pool is closed for repairs.", "valid_from": "2026-07-01"}
    with pytest.raises(BadInputError, match="be over by 2026-06-"):
        door(house.ctx, "remember", {**said, **end})
    id = door(house.ctx, "remember", said)["id"]
    with pytest.raises(BadInputError, match="be over by 2026-06-"):
        door(house.ctx, "edit", {"id": id, **end})
    door(house.ctx, "edit", {"id": id, "valid_until": "2026-08-01"})


def test_a_deadline_stays_one_however_soon_it_fades(house: ServiceHouse) -> None:
    stored = door(
        house.ctx, "remember", {"text": "Renew the certificate of the gate.", "due": "tomorrow"}
    )
    door(house.ctx, "edit", {"id": stored["id"], "half_life_days": 14})
    shown = door(house.ctx, "get", {"id": stored["id"]})["memory"]
    assert (shown["temporal"], shown["half_life_days"]) == ("deadline", 14)


def test_the_last_day_of_all_is_no_deadline(house: ServiceHouse) -> None:
    """It has no end; as a day to come it is one."""
    with pytest.raises(BadInputError, match="due is too far off: '9999-12-31'"):
        house.remember("The lease of the cellar ends.", due="9999-12-31")
    house.remember("The lease of the attic ends.", expires="9999-12-31")


def test_what_was_found_to_be_wrong_says_so(house: ServiceHouse) -> None:
    stored = door(house.ctx, "remember", {"text": "The gate listens on port 8123."})
    assert door(house.ctx, "get", {"id": stored["id"]})["memory"].get("refuted_on") is None
    door(house.ctx, "verify", {"id": stored["id"], "verdict": "refuted"})
    assert door(house.ctx, "get", {"id": stored["id"]})["memory"]["refuted_on"] == "2026-05-03"


def test_what_was_so_and_is_no_more_is_not_said_to_be_wrong(house: ServiceHouse) -> None:
    """Both are told, each as what it is."""
    id = house.remember("The gate listens on port 8123.")["id"]
    shown = door(house.ctx, "verify", {"id": id, "verdict": "outdated"})["memory"]
    assert (shown.get("refuted_on"), shown["outdated_on"]) == (None, "2026-05-03")
    assert warning(Row(shown)) == "[found to hold no more on 2026-05-03] "
    assert render.head(house.ctx.global_shelf().journal.get(id), "").endswith(
        "found to hold no more on 2026-05-03"
    )


@pytest.mark.parametrize("more", [{"kind": "preference"}, {"priority": "CORE"}])
def test_what_the_user_says_is_outdated_is_not_recalled(
    house: ServiceHouse, more: dict[str, str]
) -> None:
    """Rules and important memories of the user's, too; an agent only doubts them."""
    id = house.remember("Never rebase shared branches.", **more)["id"]
    asked = {"query": "rebase shared branches", "global": True}
    door(house.ctx, "verify", {"id": id, "verdict": "outdated", "actor": "agent"})
    assert [hit["id"] for hit in door(house.ctx, "recall", asked)["hits"]] == [id]
    door(house.ctx, "verify", {"id": id, "verdict": "outdated"})
    assert door(house.ctx, "recall", asked)["hits"] == []


CLASSES: dict[str, dict[str, Any]] = {
    "permanent": {"temporal": "permanent"},
    "decaying": {"temporal": "decaying"},
    "deadline": {"temporal": "deadline", "due": "2026-05-20"},
    "periodic": {"every": "weekly", "due": "2026-05-06"},
}


@pytest.mark.parametrize("became", CLASSES)
@pytest.mark.parametrize("was", CLASSES)
def test_dates_go_with_the_class_that_they_belong_to(
    house: ServiceHouse, was: str, became: str
) -> None:
    """Whatever it was: what it becomes is as if it had been stored so, and is found after its old date."""
    id = house.remember(DEADLINE, **CLASSES[was])["id"]
    fresh = house.remember("the lease of the cellar ends", **CLASSES[became])["id"]
    door(house.ctx, "edit", {"id": id, **CLASSES[became]})
    names = ("temporal", "every", "due_on", "valid_from", "valid_until")
    assert [told(house, id).get(name) for name in names] == [
        told(house, fresh).get(name) for name in names
    ]
    house.time = datetime(2026, 6, 1, 9, tzinfo=timezone.utc)
    hits = door(house.ctx, "recall", {"query": DEADLINE, "global": True})["hits"]
    assert (id in [hit["id"] for hit in hits]) == (became != "deadline")


@pytest.mark.parametrize("was", CLASSES)
def test_a_date_of_its_own_stays(house: ServiceHouse, was: str) -> None:
    """Since when and until when something holds, where it was said of no class."""
    said = {"valid_from": "2026-05-01T00:00Z", "valid_until": "2026-08-01T00:00Z"}
    id = house.remember(DEADLINE, **({} if was in ("deadline", "periodic") else CLASSES[was]), **said)["id"]  # fmt: skip
    door(house.ctx, "edit", {"id": id, "temporal": "decaying"})
    door(house.ctx, "edit", {"id": id, "expires": "never", "temporal": "permanent"})
    assert told(house, id)["valid_from"] == "2026-05-01T00:00:00+00:00"
    assert told(house, id)["valid_until"] == "2026-08-01T00:00:00+00:00"


def test_a_deadline_that_comes_back_does_so_from_its_day_on(house: ServiceHouse) -> None:
    """Of a whole day and of a moment; it is Sunday, 3 May."""
    whole = house.remember("look at the backups", due="monday")["id"]
    moment = house.remember("the train to the fair", due="2026-05-20T15:30Z")["id"]
    for id, day in ((whole, "2026-05-04"), (moment, "2026-05-20")):
        door(house.ctx, "edit", {"id": id, "every": "weekly"})
        assert told(house, id)["valid_from"] == f"{day}T00:00:00+00:00"
        assert told(house, id)["valid_until"] is None


@pytest.mark.parametrize("is_swept", [False, True])
@pytest.mark.parametrize("between", [[], ["refuted"], ["outdated"], ["refuted", "outdated"]])
def test_what_is_confirmed_has_the_date_that_it_had(
    house: ServiceHouse, between: list[str], is_swept: bool
) -> None:
    """Before it was found to hold no more, once or more often; and again."""
    id = house.remember(DEADLINE, due="2026-05-20")["id"]
    for _ in range(2):
        for verdict in ("outdated", *between):
            door(house.ctx, "verify", {"id": id, "verdict": verdict})
            house.pass_time(seconds=1)
        if is_swept:
            sweep(house)
            assert told(house, id)["status"] == "superseded"
        door(house.ctx, "verify", {"id": id, "verdict": "confirmed"})
        shown = told(house, id)
        assert (shown["status"], shown["temporal"]) == ("active", "deadline")
        assert shown["valid_until"] == "2026-05-21T00:00:00+00:00"


def test_what_was_outdated_stays_so_however_it_is_to_age(house: ServiceHouse) -> None:
    """Only its confirmation brings it back, or another date; then as it was to age."""
    asked = {"query": DEADLINE, "global": True}
    id = house.remember(DEADLINE, due="2026-05-20")["id"]
    door(house.ctx, "verify", {"id": id, "verdict": "outdated"})
    house.pass_time(seconds=1)
    door(house.ctx, "edit", {"id": id, "temporal": "permanent"})
    assert door(house.ctx, "recall", asked)["hits"] == []
    door(house.ctx, "verify", {"id": id, "verdict": "confirmed"})
    assert told(house, id)["valid_until"] is None
    door(house.ctx, "verify", {"id": id, "verdict": "outdated"})
    house.pass_time(seconds=1)
    door(house.ctx, "edit", {"id": id, "due": "2026-06-01"})
    door(house.ctx, "verify", {"id": id, "verdict": "confirmed"})
    assert told(house, id)["valid_until"] == "2026-06-02T00:00:00+00:00"


@pytest.mark.parametrize("is_swept", [False, True])
def test_a_deadline_that_is_over_holds_again_with_another_date(
    house: ServiceHouse, is_swept: bool
) -> None:
    """To confirm it gives it none, and says so; what merely held until a day holds on."""
    over = house.remember(DEADLINE, due="2026-05-20")["id"]
    lasting = house.remember("the lease of the cellar ends", due="2026-05-20")["id"]
    held = house.remember("the pool is closed", valid_until="2026-05-20")["id"]
    house.time = datetime(2026, 6, 1, 9, tzinfo=timezone.utc)
    if is_swept:
        sweep(house)
    for verdict in ("refuted", "outdated"):
        door(house.ctx, "verify", {"id": over, "verdict": verdict})
        assert told(house, over)["valid_until"] == "2026-05-21T00:00:00+00:00"
    with pytest.raises(BadInputError, match="that is over"):
        door(house.ctx, "verify", {"id": over, "verdict": "confirmed"})
    door(house.ctx, "edit", {"id": over, "due": "2026-06-20"})
    door(house.ctx, "edit", {"id": lasting, "temporal": "permanent"})
    door(house.ctx, "verify", {"id": held, "verdict": "confirmed"})
    listed = door(house.ctx, "list", {"global": True})["memories"]
    assert {one["id"] for one in listed} == {over, lasting, held}
    assert told(house, over)["due_on"] == "2026-06-20"
    assert [told(house, id)["valid_until"] for id in (lasting, held)] == [None, None]


def test_an_agent_that_confirms_takes_no_end_away(house: ServiceHouse) -> None:
    """The user said until when it holds; what the agent itself found outdated it brings back."""
    held = house.remember("the pool is closed", valid_until="2026-05-20")["id"]
    noted = house.remember("the lift is out of order", actor="agent")["id"]
    door(house.ctx, "verify", {"id": noted, "verdict": "outdated", "actor": "agent"})
    house.time = datetime(2026, 6, 1, 9, tzinfo=timezone.utc)
    for id in (held, noted):
        door(house.ctx, "verify", {"id": id, "verdict": "confirmed", "actor": "agent"})
    assert told(house, held)["valid_until"] == "2026-05-20T00:00:00+00:00"
    assert told(house, noted)["valid_until"] is None


def test_what_gave_way_to_another_stays_past(house: ServiceHouse) -> None:
    """Whoever confirms it or gives it a date: the other one holds."""
    old = house.remember(DEADLINE, due="2026-05-20")["id"]
    house.remember("the certificate of the gate is renewed by itself", supersedes=old)
    since = told(house, old)["valid_until"]
    house.pass_time(days=1)
    door(house.ctx, "verify", {"id": old, "verdict": "confirmed"})
    assert told(house, old)["valid_until"] == since
    door(house.ctx, "edit", {"id": old, "due": "2026-06-20"})
    assert told(house, old)["status"] == "superseded"


@pytest.mark.parametrize("wait", [True, False])
@pytest.mark.parametrize("how", ["outdated", "over", "expired"])
def test_what_is_said_again_holds(house: ServiceHouse, how: str, wait: bool) -> None:
    """Though the memory of the same words holds no more: that one stays what it is."""
    asked = {"outdated": {}, "over": {"due": "2026-05-05"}, "expired": {"expires": "2026-05-05"}}
    old = house.remember(DEADLINE, **asked[how])["id"]
    if how == "outdated":
        door(house.ctx, "verify", {"id": old, "verdict": "outdated"})
    house.pass_time(days=9)
    new = house.remember(DEADLINE, wait=wait)
    assert new["id"] != old
    hits = door(house.ctx, "recall", {"query": DEADLINE, "global": True})["hits"]
    assert [hit["id"] for hit in hits] == [new["id"]]
    again = house.remember(DEADLINE, wait=wait)
    assert (again["id"], again["action"]) == (new["id"], "merged")


def test_how_it_ages_is_as_was_said_last(house: ServiceHouse) -> None:
    """As a whole: how often it comes back, and its half-life, too."""
    id = house.remember(DEADLINE, every="weekly", half_life_days=30)["id"]
    names = ("temporal", "every", "half_life_days", "due_on")
    for asked, expected in (
        ({"every": "daily"}, ["periodic", "daily", None, "2026-05-03"]),
        ({}, ["periodic", "daily", None, "2026-05-03"]),
        ({"half_life_days": 14}, ["decaying", None, 14, None]),
        ({"due": "2026-05-20"}, ["deadline", None, None, "2026-05-20"]),
    ):
        assert house.remember(DEADLINE, **asked)["action"] == "merged"
        assert [told(house, id).get(name) for name in names] == expected


@pytest.mark.parametrize("was", ["deadline", "periodic"])
def test_what_is_promoted_has_no_date_any_more(house: ServiceHouse, was: str) -> None:
    """Unless it was found to hold no more: then it stays so, and is permanent once it is confirmed."""
    id = house.remember(DEADLINE, **CLASSES[was])["id"]
    door(house.ctx, "verify", {"id": id, "verdict": "outdated"})
    since = told(house, id)["valid_until"]
    house.pass_time(seconds=1)
    door(house.ctx, "promote", {"id": id, "to": "learning"})
    assert told(house, id)["valid_until"] == since
    door(house.ctx, "verify", {"id": id, "verdict": "confirmed"})
    names = ("temporal", "every", "valid_from", "valid_until")
    assert [told(house, id).get(name) for name in names] == ["permanent", None, None, None]


def test_what_got_other_words_later_says_since_when(house: ServiceHouse) -> None:
    """Its own day is that of the old words; on the same day nothing is said of it."""
    id = house.remember("The timeout of the gateway is 30 seconds.")["id"]
    door(house.ctx, "edit", {"id": id, "text": "The timeout of the gateway is 40 seconds."})
    assert "edited" not in render.head(house.ctx.global_shelf().journal.get(id), "")
    house.time += timedelta(days=7)
    shown = door(house.ctx, "edit", {"id": id, "text": "The timeout of the gateway is 45 seconds."})
    assert shown["memory"]["edited_on"] == "2026-05-10"
    head = render.head(house.ctx.global_shelf().journal.get(id), "")
    assert head.startswith("2026-05-03") and head.endswith("edited on 2026-05-10")
    assert "edited on 2026-05-10" in warning(Row(shown["memory"]))
