"""Where a new memory goes, with real stores and the real model: merged, superseding, linked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from fakes_embed import models_folder
from service_house import ServiceHouse, door, hook_question

from vector_memory import redact
from vector_memory.config import Settings
from vector_memory.embed import registry
from vector_memory.errors import BadInputError, EmbeddingError, NotFoundError
from vector_memory.model import PASSAGE, Memory, Origin, Relation, Scope, Source, Status
from vector_memory.service.inject import prompt_recall
from vector_memory.service.memory import placement
from vector_memory.service.memory.placement import Neighbour

WHEN = datetime(2026, 5, 3, tzinfo=timezone.utc)
OLD_PORT = "Postgres in the dev environment listens on port 5432."
NEW_PORT = "Postgres in the dev environment listens on port 5433."


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    made = ServiceHouse(tmp_path, lambda: registry.create(Settings(), models_folder()))
    yield made
    made.close()


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    folder = tmp_path / "ledger"
    folder.mkdir()
    return folder


def draft(house: ServiceHouse, text: str, name: str = "a", **more: Any) -> Memory:
    return Memory(
        id=name * 32, text=redact.clean(text).text, created_at=house.time,
        **{"origin": Origin.ASSISTANT, **more},
    )  # fmt: skip


def place(house: ServiceHouse, one: Memory) -> tuple[str, str, str]:
    """Place an idea as a transcript's reader does; return id, action and the other's id."""
    shelf = house.ctx.global_shelf()
    placed = placement.place(house.ctx, shelf, one, placement.vector_of(house.ctx, one))
    return placed.memory.id, placed.action, placed.ties[0].other.id if placed.ties else ""


def stored(house: ServiceHouse, memory_id: str) -> Memory:
    return house.ctx.global_shelf().journal.get(memory_id)


def test_a_paraphrase_is_merged_and_both_are_kept_in_mind(house: ServiceHouse) -> None:
    """The newer wording, all tags, the higher priority, both sources; it is no surer for it."""
    first = house.remember("Run make lint before every commit.", tags=["lint"], priority="HIGH")
    house.pass_time(days=1)
    again = house.remember("Before every commit, run make lint.", tags=["ci"])
    assert (again["action"], again["id"], again["of"]) == ("merged", first["id"], first["id"])
    memory = stored(house, first["id"])
    assert memory.text == "Before every commit, run make lint."
    assert memory.tags == ("lint", "ci")
    assert memory.priority == "HIGH"
    assert memory.confidence == 0.7
    (source,) = door(house.ctx, "get", {"id": memory.id})["memory"]["sources"]
    assert source["at"].startswith("2026-05-04")


def test_what_was_said_a_moment_ago_is_known(house: ServiceHouse) -> None:
    """A memory that the index has not reached yet is found all the same."""
    request = {"global": True}
    first = door(house.ctx, "remember", {"text": "Never commit the .env file.", **request})
    again = door(house.ctx, "remember", {"text": "Do not commit the .env file.", **request})
    assert (again["action"], again["id"]) == ("merged", first["id"])


def test_an_older_wording_does_not_replace_a_newer_one(house: ServiceHouse) -> None:
    """What is told late of an earlier time leaves the wording alone."""
    first = house.remember("Run make lint before every commit.")
    earlier = (house.time - timedelta(days=3)).isoformat()
    again = house.remember("Before every commit, run make lint.", at=earlier)
    assert again["action"] == "merged"
    assert stored(house, first["id"]).text == "Run make lint before every commit."


def test_a_tool_does_not_rewrite_what_a_person_said(house: ServiceHouse) -> None:
    """Text of a tool merges, but neither its words nor a sign in it take a person's place."""
    first = house.remember("Run make lint before every commit.")
    house.pass_time(days=1)
    house.remember("Before every commit, run make lint.", origin="tool")
    assert stored(house, first["id"]).text == "Run make lint before every commit."
    told = house.remember("We no longer run make lint before every commit.", origin="tool")
    assert told["action"] == "linked"
    assert stored(house, first["id"]).status is Status.ACTIVE


def test_a_differing_number_stays_beside_and_says_how_to_settle_it(house: ServiceHouse) -> None:
    """Without a sign both stay, linked as contradicting; the suggestion settles it."""
    old = house.remember(OLD_PORT)
    house.pass_time(days=2)
    new = house.remember(NEW_PORT)
    assert (new["action"], new["of"], new["relation"]) == ("linked", old["id"], "contradicts")
    assert new["suggestion"]["differs"] == "5432 and 5433"
    words = new["suggestion"]["if_replaced"].split()
    request = {"from": words[2], "to": words[3], "relation": words[5]}
    assert door(house.ctx, "link", request)["action"] == "linked"
    assert stored(house, old["id"]).status is Status.SUPERSEDED
    links = door(house.ctx, "links", {"id": new["id"]})["links"]
    assert [one["relation"] for one in links] == ["supersedes"]


def test_contradicting_memories_are_shown_both_newest_first(
    house: ServiceHouse, ledger: Path
) -> None:
    """The newer comes first, each with its date, where the question is as much about both; what it
    names stands before what differs in it."""
    old = house.remember(OLD_PORT, ledger)
    house.pass_time(days=2)
    new = house.remember(NEW_PORT, ledger)
    named = {"query": "does Postgres in dev listen on port 5432?", "project": str(ledger)}
    hits = door(house.ctx, "recall", named)["hits"]
    assert [hit["id"] for hit in hits] == [old["id"], new["id"]]
    assert hits[1]["contradicts"] == [{"id": old["id"], "created_at": hits[0]["created_at"]}]
    request = {"query": "on which port does Postgres in dev listen?", "project": str(ledger)}
    hits = door(house.ctx, "recall", request)["hits"]
    assert [hit["id"] for hit in hits] == [new["id"], old["id"]]
    assert hits[0]["score"] >= hits[1]["score"]
    assert hits[0]["contradicts"] == [{"id": old["id"], "created_at": hits[1]["created_at"]}]
    ask = hook_question(house.ctx, "s1", str(ledger), "On which port does Postgres listen in dev?")
    shown = prompt_recall.on_prompt(house.ctx, ask)
    assert shown.index("5433") < shown.index("5432")
    assert f"contradicts the older {old['id'][:8]} of 2026-05-03" in shown


def test_a_sign_lets_the_older_one_give_way(house: ServiceHouse) -> None:
    """ "changed from" supersedes what it names, and not the same thing elsewhere."""
    dev = house.remember("The dev database listens on port 5432.")
    staging = house.remember("The staging database listens on port 5432.")
    new = house.remember("The port of the dev database was changed from 5432 to 5433.")
    assert (new["action"], new["of"]) == ("superseded", dev["id"])
    assert stored(house, dev["id"]).superseded_by == new["id"]
    (was, now) = door(house.ctx, "history", {"id": new["id"]})["chain"]
    assert was["reason"].startswith('contradicted: the newer says "')
    assert "reason" not in now
    door(house.ctx, "link", {"from": new["id"], "to": dev["id"], "remove": True})
    assert stored(house, dev["id"]).gave_way == "", "what holds again gave way to nothing"
    assert stored(house, staging["id"]).status is Status.ACTIVE


def test_an_answer_closes_its_question(house: ServiceHouse, ledger: Path) -> None:
    """What plainly answers an open question is linked to it, and it is open no more."""
    asked = house.remember("Which port does the dev database use?", ledger, kind="question")
    told = house.remember("The dev database uses port 5433.", ledger)
    assert (told["action"], told["of"], told["relation"]) == ("linked", asked["id"], "answers")
    journal = house.ctx.global_shelf().journal
    assert journal.open_items(Scope(), 9) == []
    door(house.ctx, "link", {"from": told["id"], "to": asked["id"], "remove": True})
    assert [one.id for one in journal.open_items(Scope(), 9)] == [asked["id"]]


def test_a_todo_is_done_when_a_memory_says_so(house: ServiceHouse) -> None:
    """What says that a todo is done is linked to it."""
    todo = house.remember("Add retry to uploads.", kind="todo")
    told = house.remember("Retry was added to uploads.", kind="solution")
    assert (told["relation"], told["of"]) == ("answers", todo["id"])


def test_a_priority_is_suggested_and_not_taken(house: ServiceHouse) -> None:
    """What speaks of security looks CORE or HIGH; nobody is overruled."""
    told = house.remember("Never commit secrets or API keys to the repository.")
    assert (told["priority"], told["suggested_priority"]) == ("NORMAL", "CORE")
    assert "suggested_priority" not in house.remember("All services use mTLS.", priority="LOW")
    assert "suggested_priority" not in house.remember("The lunch menu is on the wall.")


def test_without_a_model_words_find_the_duplicate(tmp_path: Path) -> None:
    """The same words merge, many common ones link, and a number contradicts."""

    def no_model() -> Any:
        raise EmbeddingError("no model")

    house = ServiceHouse(tmp_path, no_model)
    first = house.remember(OLD_PORT)
    again = house.remember("postgres in the dev environment listens on port 5432")
    other = house.remember(NEW_PORT)
    house.close()
    assert (again["action"], again["id"]) == ("merged", first["id"])
    assert (other["action"], other["relation"]) == ("linked", "contradicts")


def test_an_idea_is_placed_once(house: ServiceHouse) -> None:
    """The same id again changes nothing: stored, linked, merged or forgotten meanwhile."""
    first = draft(house, OLD_PORT)
    assert place(house, first) == ("a" * 32, "stored", "")
    assert place(house, replace(first, confidence=0.9)) == ("a" * 32, "unchanged", "")
    assert place(house, draft(house, NEW_PORT, "b"))[1] == "linked"
    assert place(house, draft(house, NEW_PORT, "b"))[1] == "unchanged"
    source = Source(session="s2", path="/t.jsonl", line_start=3, line_end=9)
    twin = draft(house, OLD_PORT, "c", source=source)
    assert place(house, twin) == ("a" * 32, "merged", "a" * 32)
    confidence = stored(house, "a" * 32).confidence
    assert place(house, twin) == ("a" * 32, "unchanged", "")
    assert stored(house, "a" * 32).confidence == confidence
    (told,) = stored(house, "a" * 32).extra["sources"]
    assert (told["id"], told["session"], told["line_end"]) == ("c" * 32, "s2", 9)
    house.ctx.global_shelf().journal.forget(["b" * 32])
    assert place(house, draft(house, NEW_PORT, "b"))[1] == "unchanged"


def test_talk_as_it_was_is_no_duplicate(house: ServiceHouse) -> None:
    """A passage that says the same is neither merged with nor linked."""
    house.ctx.global_shelf().journal.add([draft(house, OLD_PORT, "a", kind=PASSAGE)])
    house.follow()
    assert place(house, draft(house, OLD_PORT, "b"))[1] == "stored"


def test_talk_as_it_was_hides_no_memory(house: ServiceHouse) -> None:
    """What a memory contradicts is found, however many passages are nearer to it."""
    old = house.remember(OLD_PORT)
    said = [draft(house, f"{NEW_PORT} {n}", f"{n:x}", kind=PASSAGE) for n in range(1, 13)]
    house.ctx.global_shelf().journal.add(said)
    house.follow()
    assert house.remember(NEW_PORT)["of"] == old["id"]


def test_who_stores_is_asked_about_what_stands_near(house: ServiceHouse, ledger: Path) -> None:
    """What may have ended in other words is told, and nothing is linked: but no errand, no question, nothing that
    is linked already, and nothing that who asks may not see."""
    old = house.remember("The payload is encoded with CayenneLPP.", ledger)
    house.remember("Document how the payload is encoded.", ledger, kind="todo")
    house.remember("Is the payload encoded in CBOR?", ledger, kind="question")
    house.remember("The payload is encoded by key 77.", ledger, sensitivity="restricted")
    house.remember("The cat sleeps on the sofa.", ledger)
    request = {"text": "We use our own packed struct for the payload.", "project": str(ledger)}
    new = door(house.ctx, "remember", {**request, "origin": "assistant", "actor": "mcp"})
    assert (new["action"], [one["id"] for one in new["near"]]) == ("stored", [old["id"]])
    assert door(house.ctx, "links", {"id": new["id"]})["links"] == []
    again = house.remember("The payload is encoded with CayenneLPP and sent twice.", ledger)
    told = {one["id"] for name in ("links", "near") for one in again.get(name) or ()}
    assert old["id"] in told
    assert old["id"] not in {one["id"] for one in again.get("near") or ()}


def test_an_agent_is_told_of_nothing_that_it_may_not_be_given(
    house: ServiceHouse, ledger: Path
) -> None:
    """Neither by a contradiction's values nor by an id."""
    old = house.remember(OLD_PORT, ledger, sensitivity="restricted")["id"]
    request = {"text": NEW_PORT, "project": str(ledger), "origin": "assistant", "actor": "mcp"}
    told = door(house.ctx, "remember", request)
    assert told["action"] == "stored"
    assert old not in str(told)
    assert "5432" not in str(told)
    same = door(house.ctx, "remember", {**request, "text": OLD_PORT})
    assert same["action"] != "merged"
    assert old not in str(same)


def test_many_at_once_are_one(house: ServiceHouse) -> None:
    """Several who say the same at the same moment make one memory."""
    answers: list[dict[str, Any]] = []

    def say() -> None:
        answers.append(door(house.ctx, "remember", {"text": OLD_PORT, "global": True}))

    threads = [threading.Thread(target=say) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one["action"] for one in answers) == ["merged"] * 5 + ["stored"]
    assert house.ctx.global_shelf().journal.count() == 1


def test_links_are_made_and_removed_by_hand(house: ServiceHouse) -> None:
    """A link has a direction and a relation; one that replaces is undone when it is removed."""
    one, other = house.remember("The lunch menu is on the wall."), house.remember(OLD_PORT)
    ends = {"from": one["id"][:10], "to": other["id"][:10]}
    made = door(house.ctx, "link", {**ends, "relation": "builds_on"})
    assert (made["from"], made["to"], made["relation"]) == (one["id"], other["id"], "builds_on")
    (seen,) = door(house.ctx, "links", {"id": other["id"]})["links"]
    assert (seen["direction"], seen["other"]["text"]) == ("in", one["text"])
    door(house.ctx, "link", {**ends, "relation": "supersedes"})
    assert stored(house, other["id"]).status is Status.SUPERSEDED
    assert door(house.ctx, "link", {**ends, "remove": True})["removed"] == 2
    assert stored(house, other["id"]).status is Status.ACTIVE
    assert door(house.ctx, "links", {"id": one["id"]})["links"] == []


def test_what_cannot_be_linked_is_said_clearly(house: ServiceHouse) -> None:
    """Unknown ids, relations and links, and a memory with itself."""
    one, other = house.remember("The lunch menu is on the wall."), house.remember(OLD_PORT)
    ends = {"from": one["id"], "to": other["id"]}
    with pytest.raises(NotFoundError, match="no memory"):
        door(house.ctx, "link", {**ends, "to": "nothing"})
    with pytest.raises(BadInputError, match="itself"):
        door(house.ctx, "link", {**ends, "to": one["id"]})
    with pytest.raises(BadInputError, match="relation cannot be"):
        door(house.ctx, "link", {**ends, "relation": "likes"})
    with pytest.raises(NotFoundError, match="no link"):
        door(house.ctx, "link", {**ends, "remove": True})
    assert door(house.ctx, "link", ends)["relation"] == Relation.RELATES_TO


def test_what_was_so_before_gives_way_to_what_came_after(house: ServiceHouse) -> None:
    """Told of later, it is still the older one: the advice says so."""
    newer = door(house.ctx, "remember", {"text": NEW_PORT, "global": True})
    told = {"text": OLD_PORT, "global": True, "at": "2025-01-01T10:00:00Z"}
    older = door(house.ctx, "remember", told)
    assert older["suggestion"]["older"] == older["id"]
    replacing = older["suggestion"]["if_replaced"].split()
    assert replacing.index(newer["id"][:12]) < replacing.index(older["id"][:12])


def test_what_was_found_in_one_session_contradicts_nothing() -> None:
    """What the assistant found was so at that moment; what the user said, or what was decided, still holds."""
    older = Memory(
        id="a" * 32, text="The dev database listens on port 5432.", created_at=WHEN, kind="fact", origin=Origin.ASSISTANT,
        source=Source("s1", "/t.jsonl"),
    )  # fmt: skip
    newer = replace(older, id="b" * 32, text="The dev database listens on port 5433.")
    tie = placement.tie_of(newer, Neighbour(older, 0.97))
    assert tie is not None
    assert tie.relation is Relation.RELATES_TO
    for change in ({"origin": Origin.USER}, {"kind": "decision"}, {"source": Source()}):
        both = (replace(one, **change) for one in (newer, older))  # type: ignore[arg-type]
        tie = placement.tie_of(next(both), Neighbour(next(both), 0.97))
        assert tie is not None
        assert tie.relation is Relation.CONTRADICTS
