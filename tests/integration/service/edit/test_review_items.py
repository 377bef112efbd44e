"""A review asks about what was captured, what disagrees, what repeats itself and what is said often; what is
settled is settled, and no start nags."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse, door, exported, hook_question

from vector_memory.errors import BadInputError
from vector_memory.journal.use_labels import UseLabel
from vector_memory.model import (
    REVIEWED,
    CleanText,
    Link,
    Memory,
    Origin,
    Priority,
    Relation,
    Scope,
    Source,
    Status,
)
from vector_memory.service.capture import link_ideas
from vector_memory.service.inject import session_start
from vector_memory.service.memory import proposals
from vector_memory.text import fence

Put = Callable[..., Memory]


@pytest.fixture
def put(house: ServiceHouse, app: Path) -> Put:
    """Store a memory as capture does."""
    shelf, place = house.ctx.global_shelf(), house.ctx.place(str(app))

    def putting(text: str, session: str = "s1", kind: str = "decision", **more: Any) -> Memory:
        source = Source(session, f"/t/{session}.jsonl" if session else "", 1, 2, 1)
        fields = {
            "project": place.id,
            "source": source,
            "confidence": 0.6,
            "stored_at": house.time,
            **more,
        }
        number = shelf.journal.last_seq()
        memory = Memory(f"{number:032x}", CleanText(text), house.time, kind, **fields)
        return shelf.journal.add([memory])[0]

    return putting


def listed(house: ServiceHouse, **more: Any) -> list[dict[str, Any]]:
    """Return what a review asks about."""
    items: list[dict[str, Any]] = door(house.ctx, "review", more)["items"]
    return items


def stored(house: ServiceHouse, memory: Memory) -> Memory:
    """Return a memory as it is now."""
    return house.ctx.global_shelf().journal.by_ids([memory.id])[memory.id]


def started(house: ServiceHouse, app: Path, session: str) -> str:
    """Return what a session starts with."""
    return session_start.on_start(house.ctx, hook_question(house.ctx, session, str(app)))


# -- what is asked about --


def test_the_most_worth_of_the_latest_session_comes_first(house: ServiceHouse, put: Put) -> None:
    """The user's decision before the assistant's; what the assistant merely found, and questions, are not
    asked about, nor what the user stored on purpose."""
    old = put("We deploy on Mondays.", "s1")
    house.pass_time(days=1)
    assistants = put("The queue holds ten jobs.", "s2", origin=Origin.ASSISTANT)
    users = put("Sessions live in Redis.", "s2")
    put("The build takes a minute.", "s2", kind="conclusion", origin=Origin.ASSISTANT)
    put("Why is it slow?", "s2", kind="question")
    put("Found by a subagent.", "s2", tags=("subagent",))
    put("Allow a single agent", "s2", kind="fact", title=CleanText("allow a single agent…"))
    own = put("An agent stored this.", "", kind="note", origin=Origin.ASSISTANT)
    put("The user stored this.", "", kind="note")
    ids = [item["id"] for item in listed(house)]
    assert ids == [users.id, assistants.id, own.id, old.id] or ids == [own.id, users.id, assistants.id, old.id]  # fmt: skip
    first = next(item for item in listed(house) if item["id"] == users.id)
    assert (first["reason"], first["kind"], first["session"]) == ("decision", "decision", "s2")
    assert first["actions"] == ["confirm", "keep", "edit", "drop", "raise"]


def test_what_is_decided_about_one(house: ServiceHouse, put: Put) -> None:
    """Confirmed it is the user's word; kept it stays; raised it counts more; dropped it is gone."""
    one, two, three, four = (
        put(f"Decision {n}.", f"s{n}", origin=Origin.ASSISTANT) for n in range(4)
    )
    request = {"confirm": [one.id], "keep": [two.id[:40]], "raise": [three.id], "drop": [four.id]}
    done = door(house.ctx, "review", request)
    assert done == {
        "confirmed": [one.id], "kept": [two.id], "dropped": [four.id], "raised": [three.id],
    }  # fmt: skip
    assert stored(house, one).origin is Origin.USER and stored(house, one).confidence >= 0.95
    assert stored(house, two).origin is Origin.ASSISTANT
    assert stored(house, three).priority is Priority.HIGH
    assert stored(house, four).status is Status.FORGOTTEN
    assert listed(house) == []
    actions = [entry["action"] for entry in door(house.ctx, "audit", {})["entries"]]
    assert {"review_confirm", "review_keep", "review_drop", "review_raise"} <= set(actions)


def test_what_cannot_be_decided_is_refused_whole(house: ServiceHouse, put: Put) -> None:
    """An id that does not wait for that changes nothing of the others."""
    one = put("Decision one.")
    plain = house.remember("What the user stored.")["id"]
    with pytest.raises(BadInputError, match="does not wait for that"):
        door(house.ctx, "review", {"keep": [one.id, plain]})
    with pytest.raises(BadInputError, match="Only the user"):
        door(house.ctx, "review", {"finish": True, "actor": "agent"})
    assert [item["id"] for item in listed(house)] == [one.id]


def test_what_is_settled_is_not_asked_again_unless_its_words_change(
    house: ServiceHouse, put: Put
) -> None:
    """By the user himself they may."""
    one, two = put("The port is 8080.", "s1"), put("Logs are kept a week.", "s2")
    door(house.ctx, "review", {"keep": [one.id]})
    door(house.ctx, "edit", {"id": two.id, "text": "Logs are kept two weeks."})
    assert listed(house) == []
    assert stored(house, two).extra[REVIEWED]["as"] == "edited"
    changed = door(house.ctx, "edit", {"id": one.id, "text": "The port is 9090.", "actor": "agent"})
    assert [item["id"] for item in listed(house)] == [changed["memory"]["id"]]


def test_what_says_the_same_is_settled_with_it(house: ServiceHouse, put: Put) -> None:
    """A later session's wording is not asked about when the earlier one was kept."""
    one = put("Sessions live in Redis.", "s1")
    door(house.ctx, "review", {"keep": [one.id]})
    house.pass_time(days=1)
    later = put("Sessions live in Redis!", "s2")
    shelf = house.ctx.global_shelf()
    link_ideas.become_one(house.ctx, shelf, later, stored(house, one))
    assert stored(house, one).superseded_by == later.id
    assert listed(house) == []


def test_finishing_keeps_all_that_is_there(house: ServiceHouse, put: Put, app: Path) -> None:
    """What waits for the user's word goes on waiting; what comes later is asked about."""
    put("Decision one.")
    rule = {"text": "Never test.", "kind": "rule", "actor": "agent", "project": str(app)}
    waiting = door(house.ctx, "remember", {**rule, "wait": False})["id"]
    house.pass_time(seconds=1)
    door(house.ctx, "review", {"finish": True})
    assert [item["id"] for item in listed(house)] == [waiting]
    house.pass_time(seconds=1)
    later = put("Decision two.")
    assert [item["id"] for item in listed(house)] == [waiting, later.id]


def test_a_mark_is_exported_and_comes_back(
    house: ServiceHouse, put: Put, app: Path, tmp_path: Path
) -> None:
    """Of an import of the user's; an agent's import cannot say that the user has looked."""
    one = put("Decision one.")
    door(house.ctx, "review", {"keep": [one.id]})
    path = tmp_path / "lines.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in exported(house.ctx, {"all_projects": True})))  # fmt: skip
    for actor, is_settled in (("user", True), ("agent", False)):
        other = ServiceHouse(tmp_path / actor)
        request = {"path": str(path), "project": str(app), "actor": actor}
        done = door(other.ctx, "import", request)
        assert done["errors"] == []
        stored_now = list(other.ctx.global_shelf().journal.iter_memories(Scope()))
        assert [REVIEWED in memory.extra for memory in stored_now] == [is_settled]
        other.close()


# -- two that disagree, or say nearly the same --


@pytest.mark.parametrize(
    ("action", "left"), [("confirm", {"newer"}), ("drop", {"older"}), ("keep", {"newer", "older"})]
)
def test_of_two_that_disagree_one_holds_or_both(
    house: ServiceHouse, put: Put, action: str, left: set[str]
) -> None:
    """What gives way stays in the history; where both hold, neither is told as contradicting again."""
    older = put("Tokens live for ten minutes.", "s1")
    house.pass_time(days=1)
    newer = put("Tokens live for thirty minutes.", "s2")
    shelf = house.ctx.global_shelf()
    shelf.journal.link(Link(newer.id, older.id, Relation.CONTRADICTS))
    house.follow()
    item = listed(house)[0]
    assert (item["reason"], item["id"], item["other"]["id"]) == (
        "contradiction",
        newer.id,
        older.id,
    )
    door(house.ctx, "review", {action: [newer.id]})
    active = {"newer": stored(house, newer), "older": stored(house, older)}
    assert {name for name, memory in active.items() if memory.status is Status.ACTIVE} == left
    house.follow()
    while link_ideas.weave(house.ctx, shelf):
        pass
    assert not any(item["reason"] == "contradiction" for item in listed(house))
    links = shelf.journal.links_of([newer.id])
    assert not any(link.relation is Relation.CONTRADICTS for link in links)


def test_what_the_assistant_found_twice_is_nobodys_question(house: ServiceHouse, put: Put) -> None:
    """Nor what one session says otherwise in the end; what the user decided against it is."""
    shelf = house.ctx.global_shelf()
    found = {"kind": "conclusion", "origin": Origin.ASSISTANT}
    first, second = put("It takes 3 s.", "s1", **found), put("It takes 5 s.", "s2", **found)
    users = put("It may take 2 s.", "s2")
    same = put("It may take 4 s.", "s2")
    for one, other in ((second, first), (same, users)):
        shelf.journal.link(Link(one.id, other.id, Relation.CONTRADICTS))
    assert not any(item["reason"] == "contradiction" for item in listed(house))
    shelf.journal.link(Link(users.id, first.id, Relation.CONTRADICTS))
    assert [item["reason"] for item in listed(house)].count("contradiction") == 1


def test_what_says_nearly_the_same_is_asked_about_once(house: ServiceHouse, put: Put) -> None:
    """Both may stay; then they stay."""
    shelf = house.ctx.global_shelf()
    older = put("Releases are tagged on Thursdays.", "s1")
    house.pass_time(days=1)
    newer = put("We tag releases each Thursday after lunch.", "s2")
    shelf.journal.link(Link(newer.id, older.id, Relation.RELATES_TO, 0.95))
    assert [item["reason"] for item in listed(house)] == ["duplicate", "decision"]
    door(house.ctx, "review", {"keep": [newer.id, older.id]})
    assert listed(house) == []


@pytest.mark.parametrize("relation", [one for one in Relation if one is not Relation.SUPERSEDES])
@pytest.mark.parametrize("is_alike", [False, True])
def test_a_link_by_hand_says_nothing_of_how_close_both_are(
    house: ServiceHouse, relation: Relation, is_alike: bool
) -> None:
    """One that says that both disagree is asked about; else their words have to be the same."""
    ids = [house.remember("The printer on floor two needs black toner")["id"]]
    other = "the printer on floor two needs black toner!" if is_alike else "Releases are signed"
    ids.append(house.remember(other, wait=False)["id"])
    asked = {"from": ids[1], "to": ids[0], "relation": relation.value}
    door(house.ctx, "link", asked)
    reasons = [item["reason"] for item in listed(house)]
    is_close = relation in (Relation.RELATES_TO, Relation.BUILDS_ON, Relation.CLARIFIES)
    disagrees = relation is Relation.CONTRADICTS
    assert reasons == ["contradiction"] * disagrees + ["duplicate"] * (is_close and is_alike)


# -- what might be worth storing, and what is used everywhere --


def test_what_is_said_often_and_answered_by_nothing(house: ServiceHouse, put: Put) -> None:
    """It is stored in the user's words, or in others; a command or a form of words is not asked about."""
    for number in range(3):
        for title in ("Run the linter before you commit anything", "/compact", "Implement the following plan:"):  # fmt: skip
            put(f"{title}. Done {number}.", f"s{number}", kind="exchange", title=CleanText(title))
    (item,) = listed(house)
    assert (item["reason"], item["sessions"], item["kind"]) == ("unanswered", 3, "preference")
    door(house.ctx, "review", {"confirm": [item["id"]], "text": "Lint before each commit."})
    house.follow()
    shelf = house.ctx.global_shelf()
    made = [one for one in shelf.journal.recent(Scope(), 10) if one.kind == "preference"]
    assert [(str(one.text), one.origin) for one in made] == [
        ("Lint before each commit.", Origin.USER)
    ]
    assert listed(house) == []


def test_what_is_global_and_often_used_may_become_core(house: ServiceHouse, put: Put) -> None:
    """Only what was used, in three sessions, counts; not what was merely shown."""
    used = put("Answer in English.", "", kind="preference", project="")
    shown = put("Be brief.", "", kind="preference", project="")
    house.ctx.state.add_use_labels(
        UseLabel(f"s{n}", memory.id, house.time, "prompt", "preference", 1.0, memory is used)
        for n in range(3)
        for memory in (used, shown)
    )
    (item,) = listed(house)
    assert (item["reason"], item["id"], item["sessions"]) == ("core", used.id, 3)
    door(house.ctx, "review", {"confirm": [used.id]})
    assert stored(house, used).priority is Priority.CORE
    assert listed(house) == []


# -- at a start --


def test_a_start_tells_of_ten_and_does_not_nag(house: ServiceHouse, put: Put, app: Path) -> None:
    """Not of nine; then once, until ten more have come, or a week has passed."""
    numbers = iter(range(100))

    def come(count: int) -> list[Memory]:
        return [put(f"Decision {next(numbers)} holds.", f"t{count}") for _ in range(count)]

    come(9)
    assert "review" not in started(house, app, "a")
    first = come(1)
    told = started(house, app, "b")
    assert "10 memories from sessions can be looked through: `vector-memory review`" in told
    assert fence.tokens(told) <= house.ctx.settings.start_tokens
    assert "review" not in started(house, app, "c")
    come(9)
    assert "review" not in started(house, app, "d")
    come(1)
    assert "20 memories" in started(house, app, "e")
    house.pass_time(days=6)
    assert "review" not in started(house, app, "f")
    house.pass_time(days=1)
    assert "20 memories" in started(house, app, "g")
    door(house.ctx, "review", {"keep": [one.id for one in first]})
    come(proposals.WORTH_TELLING - 1)
    assert "review" not in started(house, app, "h")
    come(1)
    assert "29 memories" in started(house, app, "i")
    house.pass_time(days=31)
    assert "review" not in started(house, app, "j")


def test_an_agent_reads_what_was_captured_and_decides_nothing(
    house: ServiceHouse, app: Path, put: Put, tmp_path: Path
) -> None:
    """It may recall these words anyway."""
    one, here = put("Decision one."), {"actor": "agent", "project": str(app)}
    (item,) = listed(house, **here)
    assert item["text"] == "Decision one."
    # Of its own project; the user goes through all.
    (other := tmp_path / "other").mkdir()
    house.remember("Decision two.", other, kind="decision", actor="mcp")
    assert len(listed(house)) == 2
    assert [one["text"] for one in listed(house, **here)] == ["Decision one."]
    assert [one["text"] for one in listed(house, actor="agent", project=str(other))] == [
        "Decision two."
    ]
    assert len(listed(house, actor="agent", all_projects=True)) == 2
    for name in ("confirm", "keep", "drop", "raise"):
        with pytest.raises(BadInputError, match="Only the user"):
            door(house.ctx, "review", {name: [one.id], "actor": "mcp"})
    assert replace(stored(house, one)).extra == {}


def test_notes_that_the_user_imported_are_not_asked_about(
    house: ServiceHouse, app: Path, put: Put
) -> None:
    """They are of a file and of no session: whoever imported them has them."""
    put(
        "We deploy from main.",
        session="",
        source=Source("", "/notes/deploys.md", 1, 1),
        origin=Origin.IMPORT,
    )
    assert [item["sort"] for item in listed(house, project=str(app))] == []
    put("We deploy from main on Fridays.")
    assert len(listed(house, project=str(app))) == 1
