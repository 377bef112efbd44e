"""A session is named by its id, by how that begins, or as the program called it that handed it over."""

from __future__ import annotations

from pathlib import Path

import pytest
from service_house import ServiceHouse, captured_of, door
from transcript_samples import Talk

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.service.base.session_memory import last_turn
from vector_memory.system.json_in import session_id

SPACED = session_id("feed:my chat")


@pytest.fixture
def asked(house: ServiceHouse, tmp_path: Path) -> dict[str, str]:
    """A project with two sessions that were handed over."""
    for session, word in (("feed:nightly", "herons"), (SPACED, "plovers")):
        talk = Talk(session, cwd=str(tmp_path))
        talk.user(f"Which pool do the {word} fish in?")
        talk.say(f"The {word} fish in the northern pool.")
        captured_of(house.ctx, talk.write(tmp_path / f"{word}.jsonl"), str(tmp_path), final=True)
    return {"project": str(tmp_path)}


@pytest.mark.parametrize(
    ("name", "session"),
    [("nightly", "feed:nightly"), ("feed:ni", "feed:nightly"), ("my chat", SPACED), (SPACED[:12], SPACED)],
)  # fmt: skip
def test_a_session_is_found_by_its_name(
    house: ServiceHouse, asked: dict[str, str], name: str, session: str
) -> None:
    """By every verb that is about one; a name of none finds none."""
    for memories in (
        door(house.ctx, "list", {**asked, "session": name})["memories"],
        door(house.ctx, "recall", {**asked, "session": name, "query": "northern pool"})["hits"],
    ):
        assert {memory["source"]["session"] for memory in memories} == {session}
    (outline,) = door(house.ctx, "topics", {**asked, "session": name})["sessions"]
    assert outline["session"] == session
    assert door(house.ctx, "wrapup", {**asked, "session": name})["session"] == session
    assert door(house.ctx, "list", {**asked, "session": "night"})["memories"] == []
    with pytest.raises(NotFoundError):
        door(house.ctx, "topics", {**asked, "session": "night"})


def test_a_session_is_known_once_a_hook_told_of_it(
    house: ServiceHouse, asked: dict[str, str]
) -> None:
    """Though nothing of it is stored before its first turn ends; looking makes none known."""
    for name, is_known in (("feed:nightly", True), ("first-turn", False), ("first-turn", False)):
        assert door(house.ctx, "wrapup", {**asked, "session": name})["known"] is is_known
    last_turn(house.ctx.running, "first-turn").hear("Fill the northern pool.")
    told = door(house.ctx, "wrapup", {**asked, "session": "first-turn"})
    assert (told["known"], told["done"], told["learned"]) == (True, [], [])


def test_an_agent_is_told_the_topics_of_its_projects_sessions_alone(
    house: ServiceHouse, asked: dict[str, str], tmp_path: Path
) -> None:
    """By their names, too; the user names any, wherever he is."""
    (elsewhere := tmp_path / "elsewhere").mkdir()
    talk_of_terns(house, str(elsewhere), "1e77")
    assert door(house.ctx, "topics", {**asked, "session": "1e77"})["sessions"]
    agent = {"actor": "agent", "session": "1e77"}
    with pytest.raises(NotFoundError):
        door(house.ctx, "topics", {**asked, **agent})
    assert door(house.ctx, "topics", {"project": str(elsewhere), **agent})["sessions"]
    assert door(house.ctx, "topics", {**asked, **agent, "all_projects": True})["sessions"]


def talk_of_terns(house: ServiceHouse, project: str, session: str) -> None:
    """Hold another session."""
    talk = Talk(session, cwd=project)
    talk.user("Which pool do the terns fish in?")
    talk.say("The terns fish in the southern pool.")
    path = talk.write(Path(project, "terns.jsonl"))
    captured_of(house.ctx, path, project, final=True)


def test_what_is_purged_is_one_session(house: ServiceHouse, asked: dict[str, str]) -> None:
    """A name that several have removes nothing."""
    talk_of_terns(house, asked["project"], "n8n:nightly")
    with pytest.raises(BadInputError, match="names 2 sessions"):
        door(house.ctx, "purge", {"session": "nightly", "dry_run": True})


def test_what_is_purged_is_named_whole(house: ServiceHouse, asked: dict[str, str]) -> None:
    """The same purge again means no other session, now that the first is gone."""
    talk_of_terns(house, asked["project"], "feed:nightly-2")
    assert door(house.ctx, "purge", {"session": "nightly"})["purged"] > 0
    for name in ("nightly", "feed:nightly", "feed:n"):
        with pytest.raises(NotFoundError, match="Nothing is stored"):
            door(house.ctx, "purge", {"session": name})
    assert door(house.ctx, "list", {**asked, "session": "feed:nightly-2"})["memories"]
