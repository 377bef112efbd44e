"""What is changed, merged or forgotten by two at once: nothing comes back, nothing is lost, and no list misses it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from service_house import ServiceHouse, door

from vector_memory.errors import OvertakenError
from vector_memory.model import Scope, Status
from vector_memory.service.edit import edit_forget
from vector_memory.service.memory import merging

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
        monkeypatch, edit_forget, "changed_by", lambda: door(house.ctx, "forget", {"ids": [id]})
    )
    with pytest.raises(OvertakenError):
        door(house.ctx, "edit", {"id": id, "tags": ["x"]})
    stone = house.ctx.global_shelf().journal.get(id)
    assert (stone.status, stone.text, stone.tags) == (Status.FORGOTTEN, "", ())


def test_what_is_merged_while_it_is_edited_keeps_both(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(house, tags=["tree"])["id"]
    others = once_before(
        monkeypatch, edit_forget, "changed_by", lambda: remember(house, tags=["oak"])
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
    others = once_before(monkeypatch, edit_forget, "changed_by", lambda: remember(house, **newer))
    with pytest.raises(OvertakenError):
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
