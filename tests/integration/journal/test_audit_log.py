"""The audit log: who did what to which memories; older entries in files, one chain through all."""

from __future__ import annotations

import gzip
import json
import sqlite3
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from journal_samples import START
from service_house import ServiceHouse, door, exported, hook_question
from talk import transcript

from vector_memory.errors import StoreDamagedError
from vector_memory.journal import audit, audit_files
from vector_memory.journal.audit_log import LOOK_AFTER
from vector_memory.journal.state import State
from vector_memory.model import Scope
from vector_memory.service.inject import prompt_recall


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few entries be many."""
    monkeypatch.setattr(audit, "MOST_ROWS", 10)
    monkeypatch.setattr(audit, "ROWS_KEPT", 4)
    monkeypatch.setattr("vector_memory.journal.audit_log.LOOK_AFTER", 1)


@pytest.fixture
def state(tmp_path: Path, few: None) -> Iterator[State]:
    one = State.open(str(tmp_path / "state.db"), clock=lambda: START)
    yield one
    one.close()


def fill(state: State, count: int, first: int = 0) -> None:
    """Add entries, each with a number of its own."""
    for n in range(first, first + count):
        state.audit("store", "hook", [f"m{n}"], {"n": n})


def numbers(state: State, k: int = 1_000) -> list[int]:
    return [entry.detail["n"] for entry in state.audit_entries(k)]


def test_older_entries_move_to_a_file(state: State, tmp_path: Path) -> None:
    """The file is private, all entries are read from both, and the chain is whole over the seam."""
    fill(state, 9)
    assert state.rotate_audit() == ""
    fill(state, 3, first=9)
    path = Path(state.rotate_audit())
    assert path.name == f"audit-{START:%Y%m}-000000001-000000008.jsonl.gz"
    assert path.parent == tmp_path / "audit"
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert [line["detail"]["n"] for line in lines] == list(range(8))
    assert numbers(state) == list(range(11, -1, -1))
    assert numbers(state, 6) == [11, 10, 9, 8, 7, 6]
    assert (state.audit_break(), state.audit_break(whole=True)) == ("", "")
    fill(state, 30, first=12)
    assert state.rotate_audit()
    assert len(audit_files.files(str(tmp_path / "audit"))) == 2
    assert numbers(state) == list(range(41, -1, -1))
    assert state.audit_break(whole=True) == ""


def test_size_bounds_the_table_too(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few entries with many ids move as well."""
    monkeypatch.setattr(audit, "MOST_BYTES", 2_000)
    for n in range(4):
        state.audit("store", "hook", [f"{one:032x}" for one in range(20)], {"n": n})
    assert state.rotate_audit()
    assert numbers(state) == [3, 2, 1, 0]


@pytest.mark.parametrize("harm", ["change", "remove", "cut", "first", "table"])
def test_a_change_of_older_entries_shows(state: State, tmp_path: Path, harm: str) -> None:
    """A file that was changed, shortened, damaged or deleted, and a table whose first entry is gone."""
    for first in (0, 12, 24):
        fill(state, 12, first=first)
        state.rotate_audit()
    oldest, *_, newest = [Path(one) for one in audit_files.files(str(tmp_path / "audit"))]
    rows = [json.loads(line) for line in gzip.decompress(oldest.read_bytes()).splitlines()]
    if harm == "change":
        rows[2]["actor"] = "nobody"
    if harm == "remove":
        del rows[2]
    if harm in ("change", "remove"):
        oldest.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    elif harm == "cut":
        oldest.write_bytes(oldest.read_bytes()[:-20])
    elif harm == "first":
        newest.unlink()
    else:
        state.close()
        raw = sqlite3.connect(tmp_path / "state.db")
        raw.execute("DELETE FROM audit WHERE number = (SELECT min(number) FROM audit)")
        raw.commit()
        raw.close()
        state = State.open(str(tmp_path / "state.db"), clock=lambda: START)
    assert state.audit_break(whole=True)
    # Without reading all files it is told what concerns the newest one and the table.
    assert bool(state.audit_break()) == (harm in ("first", "table"))
    if harm == "cut":
        with pytest.raises(StoreDamagedError):
            state.audit_entries(1_000)
    state.close()


def test_a_crash_between_file_and_table_adds_nothing_twice(
    state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The entries stand in both then: they are told once, and the next rotation goes on."""
    fill(state, 12)

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(audit, "remove_up_to", crash)
        state.rotate_audit()
    assert numbers(state) == list(range(11, -1, -1))
    assert state.audit_break(whole=True) == ""
    fill(state, 6, first=12)
    assert state.rotate_audit()
    assert numbers(state) == list(range(17, -1, -1))
    assert state.audit_break(whole=True) == ""


def test_a_file_that_cannot_be_written_leaves_the_table(state: State, tmp_path: Path) -> None:
    """Nothing is lost, and the next time tries again."""
    fill(state, 12)
    (tmp_path / "audit").write_text("in the way")
    with pytest.raises(OSError):
        state.rotate_audit()
    assert numbers(state) == list(range(11, -1, -1))
    (tmp_path / "audit").unlink()
    fill(state, 1, first=12)
    assert state.rotate_audit()


def test_it_is_not_looked_after_each_entry(tmp_path: Path) -> None:
    """Counting the table costs time; it is done once in a while."""
    state = State.open(str(tmp_path / "state.db"))
    state.rotate_audit()
    assert state._appended == 0
    fill(state, 3)
    assert 0 < state._appended < LOOK_AFTER
    state.close()


def test_notes_are_written_later_and_in_order(state: State, tmp_path: Path) -> None:
    """`note` waits for nothing; what is audited next, a flush or the end writes it, before itself."""
    state.note("recall", "hook", ["a"], {"n": 0})
    raw = sqlite3.connect(tmp_path / "state.db")
    assert raw.execute("SELECT count(*) FROM audit").fetchone() == (0,)
    state.audit("forget", "user", ["a"], {"n": 1})
    assert numbers(state) == [1, 0]
    state.note("recall", "hook", ["b"], {"n": 2})
    state.close()
    assert raw.execute("SELECT count(*) FROM audit").fetchone() == (3,)
    raw.close()


def test_notes_of_many_threads_are_all_there(state: State) -> None:
    """None is lost between noting and writing."""

    def work(first: int) -> None:
        for n in range(first, first + 100):
            state.note("recall", "hook", [], {"n": n})
            if n % 20 == 0:
                state.flush()

    threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state.flush()
    assert sorted(numbers(state)) == list(range(400))
    assert not state.audit_break()


def test_notes_that_cannot_be_written_stay_noted(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk loses none of them."""
    state.note("recall", "hook", [], {"n": 0})

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patched, pytest.raises(Exception, match="full"):
        patched.setattr(audit, "append", full)
        state.flush()
    state.note("recall", "hook", [], {"n": 1})
    assert numbers(state) == [1, 0]


def test_many_ids_are_cut(state: State) -> None:
    """An entry of a great import names some of the memories, and how many more there were."""
    state.audit("forget", "user", [f"m{n}" for n in range(300)], {})
    (entry,) = state.audit_entries(1)
    assert len(entry.ids) == audit.MOST_IDS
    assert entry.detail == {"ids_left_out": 300 - audit.MOST_IDS}


def test_entries_are_found_by_action_and_time(tmp_path: Path, few: None) -> None:
    """Also in older files."""
    now = [START]
    state = State.open(str(tmp_path / "state.db"), clock=lambda: now[0])
    for n in range(12):
        now[0] = START + timedelta(days=n)
        state.audit("forget" if n % 3 == 0 else "store", "user", [], {"n": n})
    state.rotate_audit()
    found = state.audit_entries(99, action="forget")
    assert [entry.detail["n"] for entry in found] == [9, 6, 3, 0]
    found = state.audit_entries(99, since=START + timedelta(days=5), action="forget")
    assert [entry.detail["n"] for entry in found] == [9, 6]
    state.close()


def test_everything_done_leaves_an_entry(house: ServiceHouse, tmp_path: Path) -> None:
    """With who did it and the ids concerned, and without a word of what they say."""
    ctx = house.ctx
    one = house.remember("The zanzibar ledger speaks of florins.", actor="agent")["id"]
    two = house.remember("The zanzibar ledger speaks of crowns.", supersedes=one)["id"]
    door(ctx, "recall", {"query": "zanzibar crowns", "all_projects": True})
    ask = hook_question(ctx, "s9", str(tmp_path), "What does the zanzibar ledger speak of?")
    assert "crowns" in prompt_recall.on_prompt(ctx, ask)
    talk = [("Which zanzibar mode is it?", "We decided to use the zanzibar WAL mode. " * 5)]
    path = transcript(tmp_path, talk)
    door(ctx, "backfill", {"paths": [str(path)]})
    exported(ctx, {"all_projects": True})
    door(ctx, "forget", {"ids": [two]})
    door(ctx, "purge", {"forgotten": True})
    entries = ctx.state.audit_entries(99)[::-1]
    told = [(entry.action, entry.actor, entry.ids) for entry in entries]
    assert told[0] == ("remember", "agent", [one])
    assert told[1] == ("remember", "user", [two, one])
    assert told[2] == ("recall", "user", [two])
    assert told[3] == ("recall", "hook", [two])
    by_action = {action: (actor, ids) for action, actor, ids in told}
    stored = {m.id for m in ctx.global_shelf().journal.iter_memories(Scope(sessions=("s1",)))}
    assert by_action["store"][0] == "user"
    assert set(by_action["store"][1]) <= stored
    assert by_action["backfill"] == ("user", [])
    assert by_action["forget"] == ("user", [two, one])
    assert set(by_action["purge"][1]) == {one, two}
    assert "zanzibar" not in json.dumps(entries, default=str).lower()
    assert ctx.state.audit_break(whole=True) == ""
