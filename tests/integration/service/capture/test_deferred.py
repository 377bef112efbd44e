"""What is due for sessions: noted with the cursor, made when nobody waits, and never left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fakes_ollama import running
from service_house import ServiceHouse, captured_of, door
from talk import transcript

from vector_memory.model import SUMMARY, TOPIC, Memory, Scope
from vector_memory.service.base.follow_journal import FAR_BEHIND, follow_once
from vector_memory.service.capture import backfill, deferred, model_ideas, model_reading
from vector_memory.service.jobs import turn_end
from vector_memory.service.jobs.turn_end import EndedTurn

WHY = "We keep the jobs of the importer in a spool folder, since a worker may die at any time. " * 4
TALK = [("Please make the importer survive a crash", WHY), ("And the retries of it?", WHY)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project's folder with a session that is long over."""
    made = tmp_path / "app"
    made.mkdir()
    transcript(made, TALK)
    return made


def fill(house: ServiceHouse, folder: Path) -> None:
    """Backfill a folder as the command does."""
    door(house.ctx, "backfill", {"paths": [str(folder)], "cwd": "/"})


def stored(house: ServiceHouse, kind: str) -> list[Memory]:
    """Return the active memories of a kind."""
    return list(house.ctx.global_shelf().journal.iter_memories(Scope(kinds=(kind,))))


@pytest.fixture
def long_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every transcript for one that nobody writes to."""
    monkeypatch.setattr(backfill, "LIVE_S", -1.0)


@pytest.mark.usefixtures("long_over")
def test_a_backfill_leaves_topics_for_later(house: ServiceHouse, folder: Path) -> None:
    """They are made bit by bit, once; a backfill that finds nothing new leaves nothing."""
    fill(house, folder)
    assert (stored(house, TOPIC), stored(house, SUMMARY)) == ([], [])
    assert house.ctx.state.due_keys(deferred.TOPICS) == ["s1"]
    assert house.ctx.state.due_keys(deferred.SUMMARY) == ["s1"]
    assert deferred.finish_some(house.ctx) == 1
    assert len(stored(house, TOPIC)) == len(stored(house, SUMMARY)) == 1
    assert deferred.finish_some(house.ctx) == 0
    assert not house.ctx.state.has_due()
    fill(house, folder)
    assert not house.ctx.state.has_due()


def test_a_session_that_goes_on_has_no_summary_yet(house: ServiceHouse, folder: Path) -> None:
    fill(house, folder)
    deferred.finish_some(house.ctx)
    assert len(stored(house, TOPIC)) == 1
    assert stored(house, SUMMARY) == []


@pytest.mark.usefixtures("long_over")
def test_who_looks_at_topics_sees_them(house: ServiceHouse, folder: Path) -> None:
    """They are made then, however soon after a backfill that is."""
    fill(house, folder)
    (session,) = door(house.ctx, "topics", {"session": "s1", "cwd": str(folder)})["sessions"]
    assert session["topics"][0]["summary"]
    assert (
        house.ctx.state.due_keys(deferred.TOPICS)
        == house.ctx.state.due_keys(deferred.SUMMARY)
        == []
    )


def test_killed_between_storing_and_topics(house: ServiceHouse, folder: Path) -> None:
    """The event is there still; what it finds due is made, though there is nothing new to read."""
    path = str(folder / "s1.jsonl")
    captured_of(house.ctx, path, tasks=(deferred.TOPICS,))
    assert stored(house, TOPIC) == []
    turn_end.learn(house.ctx, EndedTurn("s1", path, str(folder)))
    assert len(stored(house, TOPIC)) == 1
    assert not house.ctx.state.has_due()


def test_a_model_reads_on_after_a_restart(house: ServiceHouse, folder: Path) -> None:
    """The daemon ended before the model had read a finished session."""
    with running() as server:
        server.models["llama3.2:latest"] = "aa"
        house.ctx.settings = replace(
            house.ctx.settings, extraction=True, extraction_gate=False,
            generation_backend="ollama", ollama_host=server.address,
        )  # fmt: skip
        turn_end.learn(
            house.ctx, EndedTurn("s1", str(folder / "s1.jsonl"), str(folder), final=True)
        )
        assert server.prompts == []  # nothing does slow work in this house: its daemon has ended
        assert house.ctx.state.due_keys(deferred.MINING) == ["s1"]
        work = []
        house.ctx.slowly = work.append
        model_reading.read_due(house.ctx)
        while work:
            work.pop()()
        assert server.prompts
        assert not house.ctx.state.has_due()
        asked = len(server.prompts)
        assert model_ideas.mine(house.ctx, ["s1"], final=True)
        assert len(server.prompts) == asked


def test_the_index_follows_from_afar_while_many_are_stored(
    house: ServiceHouse, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal answers by words meanwhile; where it would be slow, the index goes on."""
    house.follow()
    fill(house, folder)
    shelf = house.ctx.global_shelf()
    assert shelf.journal.last_seq() < FAR_BEHIND
    assert follow_once(shelf, house.embedding, filling=True) == 0
    assert shelf.matching(["spool"], Scope(), 5)
    monkeypatch.setattr("vector_memory.service.base.follow_journal.FAR_BEHIND", 1)
    assert follow_once(shelf, house.embedding, filling=True) > 0


def test_filling_is_over_when_all_are_done(house: ServiceHouse) -> None:
    filling = house.ctx.filling
    assert not filling
    with filling.going_on():
        with filling.going_on():
            assert filling
        assert filling
    assert not filling
