"""What takes a memory's place, or answers it, is stored where that is, wherever it is said from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from git_repositories import git, repository
from service_house import ServiceHouse, door

from vector_memory.errors import BadInputError
from vector_memory.service.base import privacy

OLD = "Deploys go through the staging branch."
NEW = "Deploys go through main."
ASKED = "Which branch do deploys go through?"
NO_HERON = "# Never remember\n- heron\n"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Where it is said, and where it belongs."""
    made = tmp_path / "here", tmp_path / "there"
    for folder in made:
        folder.mkdir()
    return made


def say(house: ServiceHouse, folder: Path, **more: Any) -> dict[str, Any]:
    """Remember something from a folder, as it is done there without a word on the project."""
    sent = {"text": NEW, "cwd": str(folder), **more}
    with privacy.for_request(house.ctx, sent):
        done = door(house.ctx, "remember", sent)
    house.follow()
    memory: dict[str, Any] = door(house.ctx, "get", {"id": done["id"]})["memory"]
    return {**memory, "told": done["project"]}


def texts(house: ServiceHouse, **asked: Any) -> list[str]:
    return [
        one["text"] for one in door(house.ctx, "list", {"only_project": True, **asked})["memories"]
    ]


@pytest.mark.parametrize("has_store", [False, True])
def test_it_is_stored_where_that_is(
    house: ServiceHouse, folders: tuple[Path, Path], has_store: bool
) -> None:
    """In its project, and in that project's own store."""
    here, there = folders
    if has_store:
        door(house.ctx, "init", {"dir": str(there)})
    old = house.remember(OLD, there)["id"]
    question = house.remember(ASKED, there, kind="question")["id"]
    memory = say(house, here, supersedes=old)
    answer = say(house, here, text="It is main, since May.", answers=question)
    assert (memory["project"], memory["told"], answer["told"]) == ("there", "there", "there")
    assert texts(house, project=str(here)) == []
    assert {NEW, "It is main, since May."} <= set(texts(house, project=str(there)))
    gone = door(house.ctx, "history", {"id": old})["chain"]
    assert [one["id"] for one in gone] == [old, memory["id"]]
    (link,) = door(house.ctx, "links", {"id": question})["links"]
    assert (link["relation"], link["from"]) == ("answers", answer["id"])


def test_what_is_about_the_user_stays_so(house: ServiceHouse, folders: tuple[Path, Path]) -> None:
    old = house.remember("I always want tabs.", kind="preference")["id"]
    memory = say(house, folders[0], text="I always want spaces.", supersedes=old)
    assert (memory["project"], memory["kind"]) == ("", "preference")


def test_a_project_that_is_named_counts(house: ServiceHouse, folders: tuple[Path, Path]) -> None:
    here, there = folders
    old = house.remember(OLD, there)["id"]
    assert say(house, there, supersedes=old, project=str(here))["project"] == "here"
    old = house.remember(ASKED, there)["id"]
    assert say(house, there, supersedes=old, **{"global": True})["project"] == ""
    door(house.ctx, "init", {"dir": str(here)})
    for name in ("supersedes", "answers"):
        with pytest.raises(BadInputError, match="of its own store"):
            say(house, there, project=str(here), **{name: old})


def test_rules_of_where_it_goes_hold(house: ServiceHouse, folders: tuple[Path, Path]) -> None:
    """What must not be remembered there, and what a contract says there of agents."""
    here, there = folders
    (there / "CLAUDE.md").write_text(NO_HERON)
    old = house.remember(OLD, there)["id"]
    memory = say(house, here, text="Deploys go through the branch heron.", supersedes=old)
    assert "heron" not in memory["text"]
    house.remember("The contract is here.", there)
    asked = {"action": "create", "name": "quiet", "prohibited": ["store"], "folders": [str(there)]}
    door(house.ctx, "contract", asked)
    with pytest.raises(BadInputError, match="quiet"):
        say(house, here, supersedes=memory["id"], actor="mcp")


def stands(house: ServiceHouse, id: str) -> tuple[str, list[str]]:
    """Return what became of a memory, and how others are linked to it, but that they are alike."""
    links = door(house.ctx, "links", {"id": id})["links"]
    found = [one["relation"] for one in links if one["relation"] != "relates_to"]
    return door(house.ctx, "get", {"id": id})["memory"]["status"], found


@pytest.mark.parametrize("where", ["here", "there", "named"])
def test_who_may_change_nothing_closes_nothing(
    house: ServiceHouse, folders: tuple[Path, Path], where: str
) -> None:
    """By a contract of where it is said, of where it goes, and of where it is said to go."""
    here, there = folders
    old = house.remember(OLD, there, origin="assistant")["id"]
    bound = here if where == "here" else there
    named = {"project": str(there)} if where == "named" else {}
    asked = {"action": "create", "name": "still", "prohibited": ["change"]}
    door(house.ctx, "contract", {**asked, "folders": [str(bound)]})
    for name in ("answers", "supersedes"):
        with pytest.raises(BadInputError, match="still"):
            say(house, here, actor="mcp", **named, **{name: old})
    assert (stands(house, old), len(texts(house, project=str(there)))) == (("active", []), 1)
    for name in ("answers", "supersedes"):
        say(house, here, **named, **{name: old})
        assert name in stands(house, old)[1], "no contract keeps the user from it"


def test_who_may_recall_nothing_there_is_told_nothing_beside(
    house: ServiceHouse, folders: tuple[Path, Path]
) -> None:
    here, there = folders
    question = house.remember(ASKED, there, kind="question")["id"]
    house.remember("Deploys go through main; the code of the vault is on the wall.", there)
    asked = {"text": "Deploys go through main; the vault is closed.", "answers": question}
    by_mcp = {**asked, "cwd": str(here), "actor": "mcp"}
    terms = {"action": "create", "name": "blind", "prohibited": ["recall"], "folders": [str(there)]}
    door(house.ctx, "contract", terms)
    told = door(house.ctx, "remember", by_mcp)
    assert ("links" in told, "near" in told) == (False, False)


@pytest.mark.parametrize("name", ["supersedes", "answers"])
def test_nothing_is_put_where_the_user_wants_no_memory(
    house: ServiceHouse, folders: tuple[Path, Path], name: str
) -> None:
    """By the model; the user does as he likes."""
    here, there = folders
    old = house.remember(OLD, there, origin="assistant")["id"]
    house.ctx.settings = replace(house.ctx.settings, excluded_projects=(str(there),))
    with pytest.raises(BadInputError, match="wants no memory"):
        say(house, here, actor="mcp", **{name: old})
    assert stands(house, old) == ("active", [])
    assert say(house, here, **{name: old})["project"] == "there"


def test_an_answer_that_waits_for_the_user_answers_with_his_word(
    house: ServiceHouse, folders: tuple[Path, Path]
) -> None:
    """Not before, and not where he drops it."""
    here, there = folders
    for choice, answers in (("confirm", 1), ("keep", 1), ("drop", 0)):
        question = house.remember(f"{ASKED} And {choice}?", there, kind="question")["id"]
        text = f"Deploys must always go through {choice}."
        asked = {"text": text, "answers": question, "priority": "CORE", "actor": "mcp"}
        waiting = say(house, here, **asked)
        assert (bool(waiting["proposed"]), stands(house, question)) == (True, ("active", []))
        door(house.ctx, "review", {choice: [waiting["id"]]})
        assert stands(house, question)[1] == ["answers"] * answers, choice


def test_an_agent_says_nothing_everywhere_by_it(
    house: ServiceHouse, folders: tuple[Path, Path]
) -> None:
    """What takes the place of something global would be global: that waits for the user."""
    old = house.remember(OLD)["id"]
    memory = say(house, folders[0], supersedes=old, actor="mcp")
    assert memory["proposed"]
    assert door(house.ctx, "get", {"id": old})["memory"]["status"] == "active"


def of_heron(house: ServiceHouse, folder: Path, **more: Any) -> tuple[str, str]:
    """Say from a folder what must not be kept there, and return all that is kept of it, and in which project."""
    told = {"text": "Deploys go by heron.", "title": "The heron", "tags": ["heron", "bird"]}
    memory = say(house, folder, **told, **more)
    return f"{memory['text']} {memory['title']} {memory['tags']}", memory["project"]


@pytest.mark.parametrize("actor", ["user", "mcp"])
@pytest.mark.parametrize("name", ["supersedes", "answers"])
@pytest.mark.parametrize("project", ["", "there", "here"])
def test_rules_of_where_it_is_said_hold(
    house: ServiceHouse, folders: tuple[Path, Path], project: str, name: str, actor: str
) -> None:
    """Wherever it goes, and also where it waits for the user."""
    here, there = folders
    (here / "CLAUDE.md").write_text(NO_HERON)
    old = house.remember(OLD, {"here": here, "there": there}.get(project))["id"]
    for more in ({}, {"priority": "CORE"}):
        kept, where = of_heron(house, here, actor=actor, **{name: old}, **more)
        assert ("heron" in kept, "bird" in kept, where) == (False, True, project)


@pytest.mark.parametrize("name", ["supersedes", "answers"])
def test_rules_of_a_worktree_hold(house: ServiceHouse, tmp_path: Path, name: str) -> None:
    """What is stored of the project has its main checkout for its folder."""
    main, tree = repository(tmp_path / "main"), tmp_path / "tree"
    git(main, "worktree", "add", "-b", "other", str(tree))
    (tree / "CLAUDE.md").write_text(NO_HERON)
    old = house.remember(OLD, tree)["id"]
    assert "heron" not in of_heron(house, tree, **{name: old})[0]


@pytest.mark.parametrize("name", ["supersedes", "answers"])
def test_rules_of_where_a_project_is_now_hold(
    house: ServiceHouse, tmp_path: Path, name: str
) -> None:
    """Its folder was moved since; and its new one is known from then on, to whoever says something elsewhere."""
    old_place, place = repository(tmp_path / "one"), tmp_path / "two"
    git(old_place, "remote", "add", "origin", "https://git.example/a/b.git")
    old = house.remember(OLD, old_place)["id"]
    old_place.rename(place)
    house.ctx.forget_places()
    (place / "CLAUDE.md").write_text(NO_HERON)
    assert "heron" not in of_heron(house, place, **{name: old})[0]
    (tmp_path / "else").mkdir()
    other = house.remember("The harbour opens at six.", place)["id"]
    assert "heron" not in of_heron(house, tmp_path / "else", **{name: other})[0]
