"""What is changed, merged or forgotten by two at once: nothing comes back, nothing is lost, and no list misses it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory import redact
from vector_memory.errors import NotFoundError, OvertakenError
from vector_memory.model import Memory, Scope, Sensitivity, Status
from vector_memory.service.edit import classify, edit_forget
from vector_memory.service.memory import confidence, merging
from vector_memory.service.tools import fix_feedback

HERONS = "The herons nest in the old oak tree."


def remember(house: ServiceHouse, **more: Any) -> Any:
    return door(house.ctx, "remember", {"text": HERONS, "global": True, **more})


def once_before(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, act: Callable[[], object]
) -> list[threading.Thread]:
    """Let something be done by somebody else right before a function is called for the first time, or as soon as what
    calls that lets it."""
    real, others = getattr(module, name), [threading.Thread(target=act)]

    def acting(*args: Any, **named: Any) -> Any:
        while others:
            other = others.pop()
            other.start()
            other.join(0.5)
            begun.append(other)
        return real(*args, **named)

    begun: list[threading.Thread] = []
    monkeypatch.setattr(module, name, acting)
    return begun


def test_what_is_forgotten_while_it_is_edited_stays_forgotten(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(house)["id"]
    once_before(
        monkeypatch, edit_forget, "with_changes", lambda: door(house.ctx, "forget", {"ids": [id]})
    )
    with pytest.raises(NotFoundError):
        door(house.ctx, "edit", {"id": id, "tags": ["x"]})
    stone = house.ctx.global_shelf().journal.get(id)
    assert (stone.status, stone.text, stone.tags) == (Status.FORGOTTEN, "", ())


def test_what_is_merged_while_it_is_edited_keeps_both(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(house, tags=["tree"])["id"]
    others = once_before(
        monkeypatch, edit_forget, "with_changes", lambda: remember(house, tags=["oak"])
    )
    door(house.ctx, "edit", {"id": id, "priority": "HIGH"})
    others[0].join()
    memory = house.ctx.global_shelf().journal.get(id)
    assert ({*memory.tags}, memory.priority) == ({"tree", "oak"}, "HIGH")


def test_what_gives_way_while_it_is_edited_does_not_come_back(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(house)["id"]
    newer = {"text": "The herons moved to the willow.", "supersedes": id}
    others = once_before(monkeypatch, edit_forget, "with_changes", lambda: remember(house, **newer))
    door(house.ctx, "edit", {"id": id, "tags": ["x"]})
    others[0].join()
    texts = [one["text"] for one in door(house.ctx, "list", {"all_projects": True})["memories"]]
    assert texts == [newer["text"]]


def test_what_is_forgotten_while_the_same_is_stored_is_stored_anew(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(house, tags=["private"])["id"]
    once_before(monkeypatch, merging, "merge", lambda: door(house.ctx, "forget", {"ids": [id]}))
    again = remember(house)
    journal = house.ctx.global_shelf().journal
    assert journal.get(id).status is Status.FORGOTTEN
    assert (again["action"], journal.get(again["id"]).tags) == ("stored", ())


@pytest.mark.parametrize("limit", [5, 5_000])
def test_what_is_written_anew_while_somebody_lists_is_listed(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    id = remember(house)["id"]
    journal = house.ctx.global_shelf().journal

    def write_anew() -> None:
        memory = journal.get(id)
        journal.update(replace(memory, tags=(*memory.tags, "anew")))

    for name in ("by_seqs", "by_ids"):
        once_before(monkeypatch, journal, name, write_anew)
    listed = list(journal.iter_memories(Scope(), newest_first=True, limit=limit))
    assert [one.id for one in listed] == [id]


def test_what_is_sent_twice_is_stored_once(house: ServiceHouse) -> None:
    """Under its id, too, where nobody waits for a look at others."""
    wanted = {"id": "ab" * 16, "wait": False}
    remember(house, **wanted)
    again = remember(house, **wanted)
    assert again["action"] == "unchanged"


SWANS = {"text": "The swans nest in the reeds.", "sensitivity": "confidential", "tags": ["swans"]}


@pytest.mark.parametrize(
    ("module", "name", "verb", "more"),
    [
        (confidence, "_store_change", "boost", {}),
        (confidence, "_store_change", "promote", {}),
    ],
)
def test_what_is_edited_while_it_is_weighed_stays_edited(
    house: ServiceHouse,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    verb: str,
    more: Any,
) -> None:
    """The words that the user took out, and the level that was set, hold; the weight is judged anew by these."""
    before = remember(house, text="We decided to use Docker in src/app.py for the herons.")
    edit = {"id": before["id"], **SWANS}
    others = once_before(monkeypatch, module, name, lambda: door(house.ctx, "edit", edit))
    door(house.ctx, verb, {"id": before["id"], **more})
    others[0].join()
    memory = house.ctx.global_shelf().journal.get(before["id"])
    assert (memory.text, memory.sensitivity) == (SWANS["text"], Sensitivity.CONFIDENTIAL)
    weighed = (memory.confidence, memory.priority, memory.kind, len(memory.tags))
    assert "swans" in memory.tags and weighed != (1.0, "NORMAL", "note", 1)


def test_a_verdict_on_other_words_is_refused(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(house)["id"]
    once_before(
        monkeypatch,
        confidence,
        "_store_change",
        lambda: door(house.ctx, "edit", {"id": id, **SWANS}),
    )
    with pytest.raises(OvertakenError):
        door(house.ctx, "verify", {"id": id, "verdict": "confirmed"})


def test_what_is_suggested_for_other_words_is_not_applied(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "We decided to use Docker in src/app.py for the herons."
    first, second = (remember(house, text=text.replace("app", name))["id"] for name in "ab")
    edit = {"id": first, **SWANS}
    once_before(monkeypatch, classify, "_apply", lambda: door(house.ctx, "edit", edit))
    applied = door(house.ctx, "organize", {"ids": [first, second], "apply": True})
    memory = house.ctx.global_shelf().journal.get(first)
    assert (memory.text, memory.tags) == (SWANS["text"], ("swans",))
    assert [one["id"] for one in applied["memories"]] == [second]


def test_a_weighed_fix_keeps_what_was_edited(house: ServiceHouse) -> None:
    stale = house.ctx.global_shelf().journal.get(remember(house)["id"])
    door(house.ctx, "edit", {"id": stale.id, **SWANS})
    shelf = house.ctx.global_shelf()
    fix_feedback._weigh(house.ctx, shelf, stale, "s1", helped=True)
    fix_feedback._weigh(house.ctx, shelf, stale, "s2", helped=False)
    memory = shelf.journal.get(stale.id)
    assert (memory.text, memory.extra["verdicts"]) == (
        SWANS["text"],
        {"s1": "helped", "s2": "failed"},
    )


def test_both_changes_of_one_reading_hold(house: ServiceHouse) -> None:
    """A tag is added and one taken away, a mark is set and one removed, and the stricter level stays."""
    journal = house.ctx.global_shelf().journal
    read = journal.get(remember(house, tags=["a", "b"])["id"])
    read = journal.update(replace(read, extra={**read.extra, "gone": 1, "kept": 1}))

    def changed(**of: Any) -> Memory:
        extra = {"kept": 1, **of.pop("marks")}
        return replace(read, extra={**read.extra, **extra}, **of)

    journal.update(
        changed(tags=("a", "b", "c"), sensitivity=Sensitivity.RESTRICTED, marks={"one": 1}), read
    )
    without = changed(tags=("b", "d"), sensitivity=Sensitivity.CONFIDENTIAL, marks={"two": 2})
    del without.extra["gone"]
    journal.write([], [without], [], {read.id: read})
    stored = journal.get(read.id)
    assert (set(stored.tags), stored.sensitivity) == ({"b", "c", "d"}, Sensitivity.RESTRICTED)
    marks = {name: stored.extra.get(name) for name in ("gone", "kept", "one", "two")}
    assert marks == {"gone": None, "kept": 1, "one": 1, "two": 2}


def test_a_change_of_which_nobody_says_from_what_is_refused_or_left_out(
    house: ServiceHouse,
) -> None:
    journal = house.ctx.global_shelf().journal
    read = journal.get(remember(house)["id"])
    edited = journal.update(replace(read, tags=("edited",)))
    with pytest.raises(OvertakenError):
        journal.update(replace(read, tags=("stale",)))
    journal.write([], [replace(read, tags=("stale",))], [])
    assert journal.get(read.id) == edited


def test_what_was_judged_by_other_words_is_judged_again(house: ServiceHouse) -> None:
    """A release does not let go what was written meanwhile; a level does not depend on words."""
    journal = house.ctx.global_shelf().journal
    read = journal.get(remember(house)["id"])
    door(house.ctx, "edit", {"id": read.id, "text": SWANS["text"]})
    with pytest.raises(OvertakenError):
        journal.update(replace(read, extra={**read.extra, "released": 1}), read)
    with pytest.raises(OvertakenError):
        journal.update(replace(read, text=read.text), replace(read, kind="decision"))
    journal.update(replace(read, sensitivity=Sensitivity.RESTRICTED), read)
    stored = journal.get(read.id)
    assert (stored.text, stored.sensitivity) == (SWANS["text"], Sensitivity.RESTRICTED)


def test_what_gets_other_words_while_it_is_merged_is_compared_again(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(house)["id"]
    journal = house.ctx.global_shelf().journal
    text = redact.clean(SWANS["text"]).text
    once_before(
        monkeypatch, merging, "merge", lambda: journal.update(replace(journal.get(id), text=text))
    )
    again = remember(house, tags=["anew"])
    assert again["id"] != id and journal.get(again["id"]).text == HERONS
    assert (journal.get(id).text, journal.get(id).tags) == (SWANS["text"], ())


def test_a_fix_that_is_forgotten_is_weighed_no_more(house: ServiceHouse) -> None:
    shelf = house.ctx.global_shelf()
    fix = shelf.journal.get(remember(house)["id"])
    door(house.ctx, "forget", {"ids": [fix.id]})
    stone = shelf.journal.get(fix.id)
    fix_feedback._weigh(house.ctx, shelf, fix, "s1", helped=True)
    assert shelf.journal.get(fix.id) == stone
