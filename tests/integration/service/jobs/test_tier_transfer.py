"""Tiers with real stores: what becomes cold, how it is found, and that it comes back."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from journal_samples import memory
from service_house import ServiceHouse, door, exported, hook_question

from vector_memory.errors import NotFoundError
from vector_memory.journal import readonly, schema
from vector_memory.journal.connection import create_file, open_writer
from vector_memory.journal.journal import Journal
from vector_memory.journal.opening import migrate
from vector_memory.journal.use_labels import UseLabel
from vector_memory.model import PASSAGE, Memory, Priority, Scope, Source, Status, Tier
from vector_memory.service.inject import prompt_recall
from vector_memory.service.jobs import runner, tier_transfer
from vector_memory.service.memory import applied_uses

COLD_TEXT = "the ledger service listens on port 7443 behind haproxy"
OTHERS = (
    "the nightly report is rendered by pandoc",
    "icons are drawn in inkscape and exported as svg",
    "the parser keeps its tables in a trie",
)


def talk(house: ServiceHouse, texts: Sequence[str], **fields: Any) -> list[Memory]:
    """Store passages of a session as if they were said now."""
    journal = house.ctx.global_shelf().journal
    first = journal.last_seq() + 1
    return journal.add(
        [
            memory(
                first + n,
                text,
                id=f"{first + n:032x}",
                created_at=house.time,
                kind=PASSAGE,
                source=Source(f"session {first + n}", f"/t/{first + n}.jsonl"),
                **fields,
            )
            for n, text in enumerate(texts)
        ]
    )


def tiers(house: ServiceHouse) -> dict[str, Tier]:
    """Return the tier of each memory that is not forgotten."""
    journal = house.ctx.global_shelf().journal
    living = (Status.ACTIVE, Status.SUPERSEDED)
    return {one.id: one.tier for one in journal.iter_memories(Scope(), statuses=living)}


def moved(house: ServiceHouse, dry_run: bool = False) -> dict[str, int]:
    """Transfer at the house's time and let the index follow; return how many went from where to where."""
    report = runner.run(house.ctx, "tier-transfer", dry_run).report
    house.follow()
    return {name: n for name, n in report.items() if " to " in name and isinstance(n, int)}


def recall(house: ServiceHouse, query: str, **more: Any) -> list[dict[str, Any]]:
    """Return the hits of a question."""
    found = door(house.ctx, "recall", {"query": query, "global": True, **more})["hits"]
    return [dict(hit) for hit in found]


@pytest.fixture
def aged(house: ServiceHouse) -> ServiceHouse:
    """A house whose first passage is cold; three younger ones are not."""
    talk(house, [COLD_TEXT])
    house.follow()
    house.pass_time(days=100)
    talk(house, OTHERS)
    house.follow()
    moved(house)
    return house


def test_a_memory_goes_from_hot_to_warm_to_cold(house: ServiceHouse) -> None:
    """By the days for which nobody used it; what matters stays at hand."""
    (passage,) = talk(house, [COLD_TEXT])
    (rule,) = talk(house, ["never deploy on fridays"], priority=Priority.HIGH)
    assert moved(house) == {}
    house.pass_time(days=8)
    assert moved(house) == {"hot to warm": 1, "hot to long-term": 1}
    house.pass_time(days=90)
    assert moved(house) == {"warm to cold": 1}
    assert tiers(house) == {passage.id: Tier.COLD, rule.id: Tier.LONG_TERM}


def test_cold_memories_leave_the_index_and_nothing_else(aged: ServiceHouse) -> None:
    """Neither words nor vectors of them are in it, also when it is made anew; the journal is whole."""
    shelf = aged.ctx.global_shelf()
    assert shelf.index is not None
    for again in (False, True):
        if again:
            door(aged.ctx, "rebuild", {})
        cold = [id for id, tier in tiers(aged).items() if tier is Tier.COLD]
        assert len(cold) == 1
        gone = shelf.journal.get(cold[0])
        assert gone.text == COLD_TEXT
        assert gone.seq not in shelf.index.seqs()
        assert len(shelf.index.seqs()) == 3
        vector = aged.embedding.query(COLD_TEXT)
        assert gone.seq not in [seq for seq, _ in shelf.nearest(vector, Scope(), 9)]
        assert gone.seq not in [seq for seq, _ in shelf.matching(["haproxy"], Scope(), 9)]
        assert door(aged.ctx, "check", {"read_data": True})["problems"] == []
        assert door(aged.ctx, "stats", {})["stores"][0]["pending_vectors"] == 0


def test_a_cold_memory_is_found_by_its_words_and_comes_back(aged: ServiceHouse) -> None:
    """Who asks finds it, first; from then on it is warm and found by its meaning, too."""
    (hit,) = [one for one in recall(aged, "which port does haproxy use?") if one["tier"] == "cold"]
    assert hit["text"] == COLD_TEXT
    assert hit["breakdown"]["cosine"] > 0
    aged.follow()
    assert tiers(aged)[hit["id"]] is Tier.WARM
    shelf = aged.ctx.global_shelf()
    now = shelf.journal.get(hit["id"])
    assert now.seq in [seq for seq, _ in shelf.nearest(aged.embedding.query(COLD_TEXT), Scope(), 9)]
    assert now.applied == 1
    # It was used today: the next transfer leaves it at hand.
    assert moved(aged) == {"warm to hot": 1}


def test_no_hook_brings_a_cold_memory(aged: ServiceHouse, tmp_path: Path) -> None:
    """It comes to who asks, not to who works."""
    folder = tmp_path / "work"
    folder.mkdir()
    question = hook_question(aged.ctx, "s9", str(folder), "which port does haproxy listen on?")
    assert "7443" not in prompt_recall.on_prompt(aged.ctx, question)
    assert Tier.COLD in tiers(aged).values()


def test_a_change_brings_it_back(aged: ServiceHouse) -> None:
    """What is edited is in use; so is what is said again."""
    (id,) = [id for id, tier in tiers(aged).items() if tier is Tier.COLD]
    door(aged.ctx, "edit", {"id": id, "kind": "note"})
    assert tiers(aged)[id] is Tier.WARM
    aged.follow()
    assert aged.ctx.global_shelf().index.rows() == 4  # type: ignore[union-attr]


def test_a_second_transfer_moves_nothing(
    house: ServiceHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In small steps, over two stores: each memory is moved once."""
    monkeypatch.setattr(tier_transfer, "AT_ONCE", 4)
    folder = Path(house.ctx.home.global_store).parent / "project"
    (folder / ".git").mkdir(parents=True)
    door(house.ctx, "init", {"dir": str(folder)})
    house.remember("the schema of the project", project=folder)
    talk(house, [f"{text} {n}" for n in range(7) for text in OTHERS])
    house.pass_time(days=200)
    assert moved(house) == {"hot to cold": 21, "hot to warm": 1}
    before = tiers(house)
    assert moved(house) == {}
    assert tiers(house) == before


def test_a_dry_run_changes_nothing(house: ServiceHouse) -> None:
    """It tells what would be."""
    talk(house, OTHERS)
    house.pass_time(days=200)
    before = tiers(house)
    told = moved(house, dry_run=True)
    assert told == {"hot to cold": 3}
    assert tiers(house) == before
    assert moved(house) == told


def test_what_gave_way_to_a_summary_is_cold_at_once(house: ServiceHouse) -> None:
    """The summary says what it said; what gave way to another statement stays, for who asks in old words."""
    old, other, new = talk(house, OTHERS)
    journal = house.ctx.global_shelf().journal
    (summary,) = talk(house, ["reports and icons are made by programs"])
    journal.update(replace(summary, kind="summary"))
    journal.supersede(old.id, summary.id, house.time)
    journal.supersede(other.id, new.id, house.time)
    moved(house)
    assert tiers(house)[old.id] is Tier.COLD
    assert tiers(house)[other.id] is not Tier.COLD
    (hit,) = recall(house, "pandoc nightly report", k=1)
    assert hit["id"] == summary.id


def test_forget_and_purge_reach_cold_memories(aged: ServiceHouse) -> None:
    """By a question, and by their words; no file holds these afterwards."""
    listed = door(aged.ctx, "forget", {"query": "haproxy port", "global": True, "dry_run": True})
    (id,) = [id for id, tier in tiers(aged).items() if tier is Tier.COLD]
    assert id in [one["id"] for one in listed["memories"]]
    done = door(aged.ctx, "purge", {"text": "port 7443"})
    assert done["purged"] == 1
    with pytest.raises(NotFoundError):
        aged.ctx.global_shelf().journal.get(id)
    for file in Path(aged.ctx.home.root).rglob("*"):
        assert not file.is_file() or b"haproxy" not in file.read_bytes()


def test_an_export_carries_tiers_and_uses(aged: ServiceHouse, tmp_path: Path) -> None:
    """What it brings elsewhere is as cold and as sure there, and not in the index."""
    recall(aged, "what renders the report?", for_session="s1")
    journal = aged.ctx.global_shelf().journal
    lines = exported(aged.ctx, {"all_projects": True})
    (cold,) = [line for line in lines if line.get("tier") == "cold"]
    assert cold["text"] == COLD_TEXT
    path = tmp_path / "out.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    other = ServiceHouse(tmp_path / "other")
    try:
        other.time = aged.time
        door(other.ctx, "import", {"path": str(path), "global": True, "verbatim": True})
        other.follow()
        assert tiers(other) == tiers(aged)
        index = other.ctx.global_shelf().index
        assert index is not None
        assert index.rows() == 3
        brought = other.ctx.global_shelf().journal
        for one in journal.iter_memories(Scope()):
            assert (brought.get(one.id).applied, brought.get(one.id).applied_at) == (
                one.applied,
                one.applied_at,
            )
    finally:
        other.close()


def test_use_is_counted_once_a_session_and_never_for_being_shown(house: ServiceHouse) -> None:
    """Asked for, or followed by what it says: 0.02 each, up to 0.8."""
    id = house.remember("deploys go through the blue gate")["id"]

    def told() -> dict[str, Any]:
        return dict(door(house.ctx, "get", {"id": id})["memory"])

    assert told()["confidence"] == 0.7
    house.ctx.uses.count(house.ctx.global_shelf(), [id], house.time)
    house.ctx.uses.write()
    assert (told()["confidence"], told()["uses"]) == (0.7, 1)
    for session, sure in (("a", 0.72), ("a", 0.72), ("b", 0.74)):
        house.pass_time(minutes=1)
        recall(house, "where do deploys go through?", for_session=session)
        assert told()["confidence"] == sure
    assert told()["last_used_at"] is not None
    house.pass_time(minutes=1)
    at = house.time
    label = UseLabel("c", id, at, "prompt", "note", 0.0, True)
    house.ctx.state.add_use_labels([label, replace(label, session="d", used=False)])
    for _ in range(2):
        applied_uses.followed(house.ctx, "c")
        applied_uses.followed(house.ctx, "d")
        assert told()["confidence"] == 0.76
    for n in range(9):
        house.ctx.global_shelf().journal.apply([id], f"x{n}", at + timedelta(hours=n + 1))
    assert told()["confidence"] == 0.8


def test_a_verdict_sets_the_clock_anew(house: ServiceHouse) -> None:
    """What decays is doubted with the time; who looks at it starts it again."""
    id = house.remember("the cache is 2 GB", half_life_days=30)["id"]
    house.pass_time(days=60)
    told = door(house.ctx, "get", {"id": id})["memory"]
    assert (told["temporal"], told["half_life_days"]) == ("decaying", 30)
    assert told["confidence"] == pytest.approx(0.05 + 0.65 / 4)
    told = door(house.ctx, "verify", {"id": id, "verdict": "confirmed"})["memory"]
    told = door(house.ctx, "get", {"id": id})["memory"]
    assert told["confidence"] == pytest.approx(0.85)


# -- what may interrupt it ------------------------------------------------------------------------------

KILLED = """
import os, signal, sqlite3, sys
sys.path[:0] = {paths!r}
from pathlib import Path
left = int(sys.argv[2])

class Connection(sqlite3.Connection):
    def execute(self, *values):
        step()
        return super().execute(*values)

def step():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

true = sqlite3.connect
from service_house import ServiceHouse
house = ServiceHouse(Path(sys.argv[1]))
house.ctx.global_shelf()
house.pass_time(days=200)
sqlite3.connect = true
for connections in (house.ctx.global_shelf().journal.connections, house.ctx.state._connections):
    connections._writer.close()
    connections._writer = true(connections.path, isolation_level=None, check_same_thread=False, factory=Connection)
from vector_memory.service.jobs import runner, tier_transfer
tier_transfer.AT_ONCE = 5
assert runner.run(house.ctx, "tier-transfer", False).outcome == "ok"
"""


def test_killed_anywhere_it_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """kill -9 at every few statements: everything is there, and the next transfer completes it."""
    here = Path(__file__).parents[3]
    code = KILLED.format(paths=[str(here), str(here.parent / "lib")])
    n, killed, ended_early = 4, True, 0
    while killed:
        house = ServiceHouse(tmp_path / str(n))
        passages = talk(house, [f"{text} {n}" for n in range(4) for text in OTHERS])
        house.close()
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / str(n)), str(n)], check=False
        )
        killed = done.returncode == -signal.SIGKILL
        ended_early += killed
        assert killed or done.returncode == 0
        house = ServiceHouse(tmp_path / str(n))
        house.pass_time(days=200)
        journal = house.ctx.global_shelf().journal
        assert journal.check(read_data=True) == []
        assert {one.id for one in journal.iter_memories(Scope())} == {one.id for one in passages}
        moved(house)
        assert set(tiers(house).values()) == {Tier.COLD}
        assert len(tiers(house)) == len(passages) == journal.count()
        assert house.ctx.global_shelf().index.rows() == 0  # type: ignore[union-attr]
        house.close()
        n += 17
    assert ended_early >= 4


# -- journals of the version before -----------------------------------------------------------------------


def older(folder: Path) -> None:
    """Make a journal of the third version."""
    path = str(folder / "journal.db")
    create_file(path)
    writer = open_writer(path, "FULL")
    migrate(writer, schema.MIGRATIONS[:3], path)
    from vector_memory.journal import writes

    writer.execute("BEGIN")
    writes.insert(writer, [memory(n) for n in range(9)], memory(1).created_at)
    writer.execute("INSERT INTO usage VALUES (2, 3, 4)")
    writer.execute("COMMIT")
    writer.close()


def test_a_journal_of_the_version_before_opens(tmp_path: Path) -> None:
    """Its memories are hot, keep their uses, and can be moved; a damaged one is mended with all of them."""
    older(tmp_path)
    journal = Journal.open(str(tmp_path))
    assert {one.tier for one in journal.iter_memories(Scope())} == {Tier.HOT}
    assert journal.get("m0001").uses == 3
    journal.move_to_tiers({"m0003": Tier.COLD, "m0004": Tier.WARM})
    journal.apply(["m0002"], "s", memory(5).created_at)
    for _ in range(2):
        assert journal.get("m0003").tier is Tier.COLD
        assert journal.get("m0004").tier is Tier.WARM
        assert journal.get("m0002").applied == 1
        assert journal.get("m0001").uses == 3
        assert journal.count() == 9
        assert journal.check(read_data=True) == []
        assert journal.mend("for a test") is not None
    journal.close()


def test_a_store_that_can_only_be_read_is_not_paged_through(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing could be moved there; the others are, and where none can be written there is nothing to do."""
    (tmp_path / "app").mkdir()
    door(house.ctx, "init", {"dir": str(tmp_path / "app")})
    own = house.ctx.shelf_of(house.ctx.place(str(tmp_path / "app"))).journal
    own.add([memory(n) for n in range(3)])
    talk(house, OTHERS)
    house.pass_time(days=400)
    readonly_ones = [own]
    writable = Journal.writable
    monkeypatch.setattr(
        Journal,
        "writable",
        property(lambda one: one not in readonly_ones and writable.__get__(one)),
    )

    def none(*given: object) -> list[Memory]:
        raise AssertionError("a page that is thrown away was read")

    monkeypatch.setattr(own, "after", none)
    report = runner.run(house.ctx, "tier-transfer", False).report
    assert (report["looked_at"], report["moved"]) == (3, 3)
    everywhere = house.ctx.global_shelf().journal
    readonly_ones.append(everywhere)
    monkeypatch.setattr(everywhere, "after", none)
    assert runner.run(house.ctx, "tier-transfer", False).outcome == "ok"


def test_a_journal_of_the_version_before_can_be_read_where_it_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store on a medium that is read-only cannot be migrated."""
    older(tmp_path)
    from vector_memory.journal import opening

    monkeypatch.setattr(opening, "_writable", lambda path: False)
    journal = Journal.open(str(tmp_path))
    assert not journal.writable
    assert [one.tier for one in journal.iter_memories(Scope())] == [Tier.HOT] * 9
    assert journal.get("m0001").uses == 3
    assert len(journal.matching(["number"], Scope(), 99)) == 9
    assert len(journal.recent(Scope(projects=("",)), 3)) == 3
    journal.close()
    with sqlite3.connect(tmp_path / "journal.db") as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (3,)


def test_a_move_to_another_store_keeps_tiers(tmp_path: Path) -> None:
    """With uses and cached vectors."""
    from vector_memory.journal.repair.transfer import move

    one, two = Journal.open(str(tmp_path / "one")), Journal.open(str(tmp_path / "two"))
    one.add([memory(n) for n in range(3)])
    one.move_to_tiers({"m0001": Tier.COLD})
    one.apply(["m0002"], "s", memory(1).created_at)
    hashes = [key for _, _, key in one.changes(0, 9)]
    one.put_vectors("m@1", hashes, np.eye(3, dtype=np.float32))
    assert move(one, Scope(), two) == 3
    assert two.get("m0001").tier is Tier.COLD
    assert two.get("m0002").applied == 1
    assert [
        candidate.seq
        for candidate in two.matching(["number"], Scope(tiers=(Tier.COLD,)), 9, cold=True)
    ] == [two.get("m0001").seq]
    one.close()
    two.close()


def test_what_a_hook_finds_without_a_daemon(tmp_path: Path) -> None:
    """All of a journal of the version before; of this one what is not cold and still holds."""
    older(tmp_path)

    def found() -> set[str]:
        hits = readonly.search(str(tmp_path), ["number"], [""], 99, time.monotonic() + 9)
        return {hit["id"] for hit in hits}

    every = {f"m{n:04}" for n in range(9)}
    assert found() == every
    journal = Journal.open(str(tmp_path))
    journal.move_to_tiers({"m0003": Tier.COLD})
    journal.update(replace(journal.get("m0004"), valid_until=memory(5).created_at))
    journal.close()
    assert found() == every - {"m0003", "m0004"}
