"""Ideas are found in passages that are stored: whatever was read first, and wherever a daemon was killed."""

from __future__ import annotations

import os
import signal
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from fakes_embed import FakeEmbedder
from service_house import ServiceHouse, captured_of, exported
from transcript_samples import Talk

from vector_memory.index.worth import weights
from vector_memory.model import PASSAGE, Scope
from vector_memory.service.capture import find_ideas, store_session
from vector_memory.service.memory import last_session

RULE = "We always use pnpm in this repo, never npm."


def spoken(number: int, *prompts: str) -> Talk:
    """Return a session that says the rule, at a time of its own."""
    talk = Talk(f"s{number}", cwd="/nowhere/app", timestamp=f"2026-11-2{number}T10:00:00.000Z")
    for prompt in prompts or (RULE,):
        talk.user(prompt)
        talk.say("The lock file of pnpm is in the root, since all packages share one store.")
    return talk


def ideas(house: ServiceHouse) -> dict[str, dict[str, Any]]:
    """Return the stored ideas by their names."""
    told = exported(house.ctx, {"all_projects": True})
    return {one["external_id"]: one for one in told if one["external_id"].startswith("idea:")}


def told(house: ServiceHouse) -> dict[str, tuple[str, str, str, datetime]]:
    """Return what is known of each idea and where it was said."""
    return {
        name: (one["text"], one["kind"], one["session"], one["created_at"])
        for name, one in ideas(house).items()
    }


def read(house: ServiceHouse, *paths: Path) -> None:
    """Read transcripts, one after the other."""
    for path in paths:
        captured_of(house.ctx, str(path), final=True)


def test_the_order_of_reading_does_not_matter(tmp_path: Path) -> None:
    """An idea stands where it was said first; a rule is counted once for each session that says it."""
    paths = [tmp_path / f"s{number}.jsonl" for number in (1, 2, 3)]
    for number, path in enumerate(paths, start=1):
        spoken(number).write(path)
    seen = []
    for order in (paths, paths[::-1], [paths[1], paths[0], paths[2], paths[1]]):
        house = ServiceHouse(tmp_path / f"home{len(seen)}")
        read(house, *order)
        (rule,) = [one for one in ideas(house).values() if "npm in this repo" in one["text"]]
        sessions = {
            rule["session"],
            *(one["session"] for one in rule["extra"]["sources"]),
        }
        assert sessions == {"s1", "s2", "s3"}
        assert len(rule["extra"]["sources"]) == 2
        seen.append(told(house))
        house.close()
    assert seen[0]
    assert seen[0] == seen[1] == seen[2]


def test_what_is_answered_later_was_never_open(house: ServiceHouse, tmp_path: Path) -> None:
    """A question that is read before its answer is none any more when the answer is there."""
    path = tmp_path / "s1.jsonl"
    talk = Talk("s1", cwd="/nowhere/app")
    talk.user("I don't know if we want one pool for the workers or one pool for each of them?")
    talk.say("Let me look at pool.py.")
    talk.write(path)
    read(house, path)
    before = [one for one in ideas(house).values() if one["kind"] == "question"]
    talk.say("One pool for all of them, since the server allows only a hundred connections.")
    talk.write(path)
    read(house, path)
    assert [one["kind"] for one in before] == ["question"]
    assert not [one for one in ideas(house).values() if one["kind"] == "question"]


@pytest.mark.parametrize("where", ["before", "between"])
def test_killed_between_passages_and_ideas(tmp_path: Path, where: str) -> None:
    """Nothing is lost and nothing is there twice: when no idea was found yet, and when they were stored but
    not noted."""
    path = tmp_path / "s1.jsonl"
    spoken(1, RULE, "Let's use Postgres for the queue instead of Redis.").write(path)
    whole = ServiceHouse(tmp_path / "whole")
    read(whole, path)
    child = os.fork()
    if not child:
        _read_and_die(tmp_path / "killed", path, where)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    again = ServiceHouse(tmp_path / "killed")
    passages = [
        one for one in exported(again.ctx, {"all_projects": True}) if one["kind"] == PASSAGE
    ]
    assert passages
    assert bool(ideas(again)) is (where == "between")
    again.ctx.all_shelves()
    find_ideas.find_all(again.ctx)
    find_ideas.find_all(again.ctx)
    assert told(again) == told(whole) != {}
    whole.close()
    again.close()


def _read_and_die(home: Path, path: Path, where: str) -> None:
    house = ServiceHouse(home)
    store_session.store(house.ctx, [store_session.read_turn(house.ctx, str(path), True)])
    if where == "between":
        house.ctx.state.set_cursor = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
        find_ideas.find_all(house.ctx)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_long_exchange_is_read_once(house: ServiceHouse, tmp_path: Path) -> None:
    """Its sentences are not embedded again for each few of its passages."""
    talk = Talk("s1", cwd="/nowhere/app")
    talk.user(RULE)
    for number in range(100):
        talk.say(
            f"Package {number} has a lock file of its own, which I folded into that of the root."
        )
    path = tmp_path / "s1.jsonl"
    talk.write(path)
    read(house, path)
    shelf = house.ctx.global_shelf()
    passages = sum(one["kind"] == PASSAGE for one in exported(house.ctx, {"all_projects": True}))
    before = told(house)
    house.ctx.state.set_cursor(f"ideas:{shelf.journal.store_id}", {"seq": 0})
    times = 0
    while find_ideas.find(house.ctx, shelf, 1):
        times += 1
    assert times <= 1 + len(before) < passages
    assert told(house) == before


def test_a_turn_that_grows_has_only_new_sentences_embedded(tmp_path: Path) -> None:
    """It is read whole each time, since what comes later answers what was said before."""
    models: list[FakeEmbedder] = []

    def model() -> FakeEmbedder:
        models.append(FakeEmbedder(384, weights().model))
        return models[-1]

    house = ServiceHouse(tmp_path / "home", model)
    talk = Talk("s1", cwd="/nowhere/app")
    talk.user(RULE)
    path = tmp_path / "s1.jsonl"
    counts = []
    for step in range(4):
        for number in range(step * 10, step * 10 + 10):
            talk.say(f"Package {number} has a lock file, which I folded into number {number + 1}.")
        talk.write(path)
        before = sum(one.texts_embedded for one in models)
        captured_of(house.ctx, str(path), final=False)
        counts.append(sum(one.texts_embedded for one in models) - before)
    assert ideas(house)
    assert max(counts[1:]) <= counts[0]
    house.close()


def test_a_kind_that_is_not_captured_is_not(house: ServiceHouse, tmp_path: Path) -> None:
    """What the user left out of capture does not come as an idea."""
    path = tmp_path / "s1.jsonl"
    spoken(1).write(path)
    house.ctx.settings = type(house.ctx.settings)(capture_without=("preference", "decision"))
    read(house, path)
    assert not {one["kind"] for one in ideas(house).values()} & {"preference", "decision"}


def test_what_is_saved_by_hand_names_its_entities(house: ServiceHouse) -> None:
    """As ideas do, so that it is found by them."""
    house.remember("The events of orders go through Kafka, see src/events/bus.py.")
    (saved,) = exported(house.ctx, {"all_projects": True})
    assert {"technology:kafka", "file:src/events/bus.py"} <= set(saved["extra"]["entities"])


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "cd /app && vector-memory recall 'which package manager?' | head"}),
        ("mcp__plugin_vector-memory_memory__memory_recall", {"query": "which package manager?"}),
    ],
)
def test_what_was_looked_up_is_not_said_anew(
    house: ServiceHouse, tmp_path: Path, tool: str, given: dict[str, str]
) -> None:
    """Who repeats what memory says decides nothing, and the question is neither open nor the last work."""
    spoken(1, "Please set up the workspace of pnpm for all packages").write(tmp_path / "s1.jsonl")
    path = tmp_path / "s2.jsonl"
    talk = Talk("s2", cwd="/nowhere/app", timestamp="2026-11-22T10:00:00.000Z")
    talk.user("What did we decide about the retry limit of the queue?")
    talk.call(tool, **given)
    talk.result("2026-11-02 decision We decided that the retry limit is 5.")
    talk.say("We decided that the retry limit of the queue is 5, since the broker drops more.")
    talk.write(path)
    read(house, tmp_path / "s1.jsonl", path)
    assert not [one for one in ideas(house).values() if one["session"] == "s2"]
    shelf = house.ctx.global_shelf()
    (end,) = last_session.ends([shelf], Scope(projects=None), most=2)
    assert end.session == "s1"
    talk.call("Edit", "t2", file_path="/nowhere/app/queue.py", old_string="3", new_string="5")
    talk.result("Done.", "t2")
    talk.say("The queue retries five times now, and the broker keeps what it drops.")
    talk.write(path)
    read(house, path)
    assert last_session.ends([shelf], Scope(projects=None))[0].session == "s2"
