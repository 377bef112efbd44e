"""What goes with a memory that is forgotten: nothing of it stays where nobody can find it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from service_house import ServiceHouse, captured_of, door, exported
from talk import transcript

from vector_memory.model import DERIVED, PASSAGE, Scope, Status
from vector_memory.service.capture import session_summary

TALK = [
    ("Which journal mode does the ledger use?",
     "We decided to use WAL for the ledger, since readers never block the writer. " * 4),
    ("And how are invoices numbered?",
     "We decided to number invoices by year and month, as the tax office wants it. " * 4),
]  # fmt: skip


def test_what_gave_way_to_it_goes_with_it(house: ServiceHouse) -> None:
    """However long the chain; list, export and recall know none of them, and the preview shows all."""
    ids = [house.remember("The ledger speaks of florins.")["id"]]
    for money in ("crowns", "euros"):
        text = f"The ledger speaks of {money}."
        ids.append(house.remember(text, supersedes=ids[-1])["id"])
    seen = door(house.ctx, "forget", {"ids": [ids[-1]], "dry_run": True})
    assert {one["id"] for one in seen["memories"]} == set(ids)
    assert seen["forgotten"] == 0
    assert door(house.ctx, "forget", {"ids": [ids[-1]]})["forgotten"] == 3
    everything = {"all_projects": True}
    assert door(house.ctx, "list", everything)["total"] == 0
    assert exported(house.ctx, everything) == []
    assert door(house.ctx, "recall", {"query": "ledger florins", **everything})["hits"] == []
    journal = house.ctx.global_shelf().journal
    assert {one.text for one in journal.iter_memories(Scope(), statuses=tuple(Status))} == {""}


def test_a_query_finds_what_has_all_its_words(house: ServiceHouse) -> None:
    """However much a prompt's notes have to be worth."""
    house.ctx.settings = replace(house.ctx.settings, threshold=1.0)
    for text in ("The kiwi server is in rack four.", "Lunch is at noon."):
        house.remember(text)
    asked = {"query": "kiwi server", "all_projects": True, "dry_run": True}
    shown = door(house.ctx, "forget", asked)["memories"]
    assert [one["text"] for one in shown] == ["The kiwi server is in rack four."]
    asked["query"] = "kiwi server of the basement"
    assert door(house.ctx, "forget", asked)["memories"] == []


def test_what_it_gave_way_to_stays(house: ServiceHouse) -> None:
    """Forgetting how it was does not touch how it is."""
    old = house.remember("The ledger speaks of florins.")["id"]
    new = house.remember("The ledger speaks of crowns.", supersedes=old)["id"]
    assert door(house.ctx, "forget", {"ids": [old]})["forgotten"] == 1
    assert house.ctx.global_shelf().journal.get(new).status is Status.ACTIVE


def test_ideas_go_with_the_passage_they_were_drawn_from(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """Those of other passages stay, and the session's summary is made anew without it."""
    path = transcript(tmp_path, TALK)
    captured_of(house.ctx, str(path), str(tmp_path), final=True)
    session_summary.finish(house.ctx, "s1")
    journal = house.ctx.global_shelf().journal
    passages = [
        one for one in journal.iter_memories(Scope(kinds=(PASSAGE,))) if "invoices" in one.text
    ]
    before = [one for one in journal.iter_memories(Scope()) if one.kind != PASSAGE]
    assert any("invoices" in one.text and one.kind not in DERIVED for one in before)
    door(house.ctx, "forget", {"ids": [one.id for one in passages]})
    after = [str(one.text) for one in journal.iter_memories(Scope())]
    assert not any("invoices" in text for text in after)
    assert any("WAL" in text for text in after)
