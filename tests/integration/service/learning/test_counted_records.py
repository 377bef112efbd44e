"""Records of observers: one for each key, out of the way of questions and lists; and the vectors of what the
index has not reached."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from service_house import ServiceHouse, door, exported

from vector_memory.model import HEURISTICS, QUIET, TRAILS
from vector_memory.service.base import privacy
from vector_memory.service.base.asker import asker_in
from vector_memory.service.learning import counted_records


def keep(house: ServiceHouse, folder: Path, key: str, text: str) -> None:
    asker = asker_in(house.ctx, house.ctx.place(str(folder)))
    counted_records.keep(house.ctx, asker, counted_records.CountedRecord(TRAILS, key, text))


def test_a_key_has_one_record(house: ServiceHouse, tmp_path: Path) -> None:
    """Written anew it keeps its id and its date; forgotten it stays so."""
    asker = asker_in(house.ctx, house.ctx.place(str(tmp_path)))
    keep(house, tmp_path, "fix", "read, edit, test: 1 of 1")
    house.pass_time(days=1)
    keep(house, tmp_path, "fix", "read, edit, test: 2 of 2")
    keep(house, tmp_path, "docs", "read, write")
    found = {one.text: one for one in counted_records.counted_records_of(asker, TRAILS)}
    assert set(found) == {"read, edit, test: 2 of 2", "read, write"}
    one = found["read, edit, test: 2 of 2"]
    assert one.updated_at is not None and one.created_at < one.updated_at
    assert counted_records.get(asker, TRAILS, "fix") == one
    assert counted_records.counted_records_of(asker, HEURISTICS) == []
    door(house.ctx, "forget", {"ids": [one.id]})
    assert (
        counted_records.keep(
            house.ctx, asker, counted_records.CountedRecord(TRAILS, "fix", "again")
        )
        is None
    )
    assert counted_records.get(asker, TRAILS, "fix") is None


def test_a_record_has_the_level_of_all_that_it_keeps(house: ServiceHouse, tmp_path: Path) -> None:
    """Of its details, too. A level that rules gave it ends with the words, one that the user gave it stays."""
    (tmp_path / "CLAUDE.md").write_text("## Sensitivity\n- restricted: Nightjar\n")
    asker = asker_in(house.ctx, house.ctx.place(str(tmp_path)))

    def level(extra: dict[str, object]) -> str:
        record = counted_records.CountedRecord(TRAILS, "fix", "edit, run", extra=extra)
        with privacy.for_folder(house.ctx, str(tmp_path)):
            kept = counted_records.keep(house.ctx, asker, record)
        assert kept is not None
        return kept.sensitivity

    assert level({"steps": [{"line": "make Nightjar"}]}) == "restricted"
    assert level({}) == "internal"
    (one,) = counted_records.counted_records_of(asker, TRAILS)
    door(house.ctx, "edit", {"id": one.id, "sensitivity": "restricted"})
    assert level({"steps": []}) == "restricted"


def test_records_are_in_nobodys_way(house: ServiceHouse, tmp_path: Path) -> None:
    """Questions, lists, figures and exports are of memories, unless a collection is named."""
    house.remember("We test the ledger before each release.", tmp_path)
    keep(house, tmp_path, "test", "We test the ledger: read, edit, test.")
    house.follow()
    here = {"project": str(tmp_path)}
    asked = {**here, "query": "test the ledger"}
    assert len(door(house.ctx, "recall", asked)["hits"]) == 1
    assert len(door(house.ctx, "recall", {**asked, "collection": [TRAILS]})["hits"]) == 1
    assert door(house.ctx, "list", here)["total"] == 1
    assert door(house.ctx, "list", {**here, "collection": [TRAILS]})["total"] == 1
    told = door(house.ctx, "stats", here)
    assert (told["memories"], told["by_collection"][TRAILS]) == (1, 1)
    assert [one["collection"] for one in exported(house.ctx, here)] == ["claude_memories"]
    assert TRAILS in QUIET


def test_what_was_stored_just_now_has_its_vector(house: ServiceHouse, tmp_path: Path) -> None:
    """It is compared by meaning before the index has it."""
    house.remember("The gateway listens on port 8080.", tmp_path)
    house.follow()
    door(
        house.ctx,
        "remember",
        {"text": "The zeppelin protocol is spoken by the gateway.", "project": str(tmp_path)},
    )
    shelf = house.ctx.global_shelf()
    last = shelf.journal.last_seq()
    assert shelf.index is not None
    assert shelf.index.reached() < last
    vectors = shelf.vectors(np.array([last - 1, last, last + 5]))
    assert vectors is not None
    assert [bool(one.any()) for one in vectors] == [True, True, False]
    first = door(house.ctx, "recall", {"query": "zeppelin gateway", "project": str(tmp_path)})[
        "hits"
    ][0]
    assert "zeppelin" in first["text"]
