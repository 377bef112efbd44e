"""A damaged journal: what can be read is saved, the rest is told, and nothing wrong is served."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from journal_samples import memory

from vector_memory.errors import StoreDamagedError, StoreFullError
from vector_memory.journal.journal import Journal
from vector_memory.journal.repair import salvage, swap
from vector_memory.journal.repair.pages import PAGE, Pages
from vector_memory.model import Link, Relation, Scope, Source, Status

MODEL = "m@1"
EVERY = tuple(Status)
Damage = Callable[[bytearray, int], None]


def zero(content: bytearray, page: int) -> None:
    content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)


def cut(content: bytearray, page: int) -> None:
    del content[page * PAGE :]


def delete(content: bytearray, page: int) -> None:
    del content[page * PAGE : (page + 1) * PAGE]


def flip(content: bytearray, page: int) -> None:
    """Turn a bit in each sixteenth of a page: one alone may hit nothing that is used."""
    chance = random.Random(page)
    for part in range(16):
        content[page * PAGE + part * PAGE // 16 + chance.randrange(PAGE // 16)] ^= 16


DAMAGES: dict[str, Damage] = {"zero": zero, "cut": cut, "delete": delete, "flip": flip}


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A store of memories of all lengths, with links, uses, vectors and tombstones."""
    folder = tmp_path / "whole"
    journal = Journal.open(str(folder))
    drafts = [
        memory(
            n,
            f"note number {n} " + f"word{n} " * (n * 7 % 900),
            source=Source(f"session{n % 3}", f"/t/{n % 3}.jsonl", turn=n),
        )
        for n in range(120)
    ]
    stored = journal.add(drafts)
    hashes = [key for _, _, key in journal.changes(0, 1_000)]
    vectors = np.random.default_rng(1).standard_normal((len(hashes), 16)).astype(np.float32)
    journal.put_vectors(MODEL, hashes, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    journal.set_model([one.seq for one in stored], MODEL)
    journal.link_all([Link("m0003", "m0004", Relation.ANSWERS)])
    journal.touch({"m0005": 3}, stored[0].created_at)
    journal.forget([f"m{n:04}" for n in range(100, 110)])
    journal.update(replace(journal.get("m0007"), kind="decision"))
    journal.close()
    (folder / "lance").mkdir()
    return folder


def contents(journal: Journal) -> dict[str, tuple[object, ...]]:
    return {
        one.id: (str(one.text), one.kind, one.status, one.source, one.seq, one.uses)
        for one in journal.iter_memories(Scope(), statuses=EVERY)
    }


def damaged(whole: Path, damage: Damage, page: int) -> Path:
    content = bytearray((whole / "journal.db").read_bytes())
    damage(content, page)
    (whole / "journal.db").write_bytes(content)
    return whole


def mended(folder: Path) -> tuple[Journal, str]:
    """Open a damaged store and mend it; return how it was noticed, "" if it was not."""
    journal = Journal.open(str(folder))
    if journal.set_aside():
        return journal, "when it was opened"
    found = journal.check(read_data=True)
    if not found:
        return journal, ""
    assert journal.mend_problems(found) is not None
    return journal, "by a check"


@pytest.mark.parametrize("page", [0, 1, 5, 0.3, 0.7, -1])
@pytest.mark.parametrize("name", list(DAMAGES))
def test_what_can_be_read_is_saved(whole: Path, name: str, page: float) -> None:
    """Whatever page is damaged: nothing wrong is served, all that is whole is kept, and what is lost
    is told."""
    before = Journal.open(str(whole))
    expected = contents(before)
    before.close()
    pages = (whole / "journal.db").stat().st_size // PAGE
    number = int(page * pages) if 0 < page < 1 else int(page) % pages
    journal, noticed = mended(damaged(whole, DAMAGES[name], number))
    found = contents(journal)
    assert journal.check(read_data=True) == []
    if not journal.set_aside():
        # Nothing of it was used, or it was the full-text index.
        assert found == expected
    else:
        assert noticed
        (told,) = journal.set_aside()
        assert set(found.items()) <= set(expected.items()) or told["doubtful"]
        assert {id: one[0] for id, one in found.items()}.items() <= {
            id: one[0] for id, one in expected.items()
        }.items()
        lost = set(expected) - set(found)
        assert told["kept"] == len(found)
        if name in ("zero", "flip"):
            # One page holds a few rows at most, and every other one is still there.
            assert len(lost) <= 12
            assert told["lost_count"] == len(lost)
        assert journal.add([memory(999)])[0].seq > max(one[4] for one in expected.values()) or lost
    journal.close()


def test_everything_of_a_sound_file_is_saved(whole: Path) -> None:
    """Made anew for no reason, nothing differs: links, uses, vectors, models, the store's id and the
    next number."""
    journal = Journal.open(str(whole))
    expected, id, given = contents(journal), journal.store_id, journal.given_seq()
    hashes = [key for _, _, key in journal.changes(0, 1_000) if key]
    vectors = journal.get_vectors(hashes, MODEL)
    done = journal.mend("for a test")
    assert done is not None
    assert (done.kept, done.doubtful, done.lost) == (120, 0, [])
    assert contents(journal) == expected
    assert (journal.store_id, journal.given_seq()) == (id, given)
    assert [one.to_id for one in journal.links_of(["m0003"])] == ["m0004"]
    again = journal.get_vectors(hashes, MODEL)
    assert all((again[key] == vectors[key]).all() for key in vectors)
    assert journal.count_without_model(MODEL) == 0
    assert journal.check(read_data=True) == []
    assert len(journal.matching(["number"], Scope(), 500)) == 110
    journal.close()


def test_what_waits_in_the_log_is_saved(whole: Path) -> None:
    """Pages of the write-ahead log count, as they do for SQLite."""
    journal = Journal.open(str(whole))
    journal.add([memory(500, "only in the log")])
    journal.forget(["m0001"])
    rows = {values[1]: number for number, values in memories(Pages(str(whole / "journal.db")))}
    assert rows["m0500"] == journal.get("m0500").seq
    assert rows["m0001"] == journal.get("m0001").seq
    journal.close()


def memories(pages: Pages) -> list[tuple[int, list[object]]]:
    return [
        (number, values) for number, values in pages.rows(with_guesses=True) if len(values) >= 35
    ]


def test_reading_goes_on_while_it_is_mended(whole: Path) -> None:
    """Who reads the old file reads it to the end; the next reader has the new one."""
    journal = Journal.open(str(whole))
    with journal.connections.reading() as connection:
        rows = connection.execute("SELECT id FROM memories ORDER BY seq")
        first = rows.fetchone()
        assert journal.mend("for a test") is not None
        assert len([first, *rows.fetchall()]) == 120
    assert journal.count() == 110
    journal.close()


@pytest.mark.parametrize("left", ["nothing", "an empty file"])
def test_a_journal_that_is_gone_is_noticed(whole: Path, left: str) -> None:
    """A store that was in use does not silently start anew: it tells."""
    (whole / "journal.db").unlink()
    if left == "an empty file":
        (whole / "journal.db").touch()
    journal = Journal.open(str(whole))
    assert [(one["why"], one["kept"]) for one in journal.set_aside()] == [("It was missing", 0)]
    assert not (whole / "lance").exists()
    journal.close()


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """What never was a journal is refused, not replaced."""
    (tmp_path / "journal.db").write_bytes(b"a diary, no database " * 1000)
    with pytest.raises(StoreDamagedError):
        Journal.open(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["home"]
    assert not list(tmp_path.glob("*.incoming*"))


def test_an_interrupted_replacement_is_finished(whole: Path) -> None:
    """A process that died with the new file ready: the next one puts it in place, at whichever step
    that was."""
    journal = Journal.open(str(whole))
    expected = contents(journal)
    journal.close()
    path = str(whole / "journal.db")
    zero_page = damaged(whole, zero, 3)
    assert salvage.prepare(path, "for a test") is not None
    # As if it had died after the first rename of `swap.finish`.
    Path(path).rename(zero_page / "gone")
    again = Journal.open(str(whole))
    assert set(contents(again)) <= set(expected)
    assert again.check(read_data=True) == []
    assert not Path(swap.incoming(path)).exists()
    again.close()


def test_a_disk_without_room_leaves_everything_as_it_is(
    whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the new file cannot be written, the old one stays in use."""
    journal = Journal.open(str(whole))

    def full(path: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(swap, "sync_file", full)
    with pytest.raises(StoreFullError):
        journal.mend("for a test")
    assert journal.count() == 110
    assert journal.add([memory(700)])
    assert not Path(swap.incoming(str(whole / "journal.db"))).exists()
    journal.close()


@pytest.mark.parametrize("step", [1, 2])
def test_a_replacement_that_fails_loses_nothing_later(
    whole: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """When the renames fail, either the old file stays in use and in force, or nothing is stored until
    the next start has put the new one in place."""
    journal = Journal.open(str(whole))
    true, left = os.rename, [step]

    def failing(*names: Any) -> None:
        if names[0].endswith((".db", ".incoming")):
            left[0] -= 1
            if left[0] == 0:
                raise OSError(28, "No space left on device")
        true(*names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", failing)
        with pytest.raises(StoreFullError):
            journal.mend("for a test")
    stored = False
    with suppress(StoreFullError):
        journal.add([memory(800)])
        stored = True
    journal.close()
    again = Journal.open(str(whole))
    assert len(again.by_ids(["m0800"])) == stored
    assert again.count() == 110 + stored
    assert again.check(read_data=True) == []
    again.close()


def test_copies_do_not_pile_up(whole: Path) -> None:
    """The last three are kept."""
    journal = Journal.open(str(whole))
    for _ in range(5):
        journal.mend("for a test")
    assert len(journal.set_aside()) == swap.MOST_KEPT
    journal.close()


def test_a_report_that_cannot_be_read_is_left_out(whole: Path) -> None:
    """A copy whose report is damaged does not keep the store from opening."""
    journal = Journal.open(str(whole))
    journal.mend("for a test")
    report = next(whole.glob("journal.db.damaged-*/report.json"))
    assert json.loads(report.read_text())["kept"] == 120
    report.write_text("{")
    assert journal.set_aside() == []
    journal.close()


def test_damaged_vectors_are_made_again(whole: Path) -> None:
    """A vector whose length is not 1 any more is told and thrown away: the model makes another."""
    journal = Journal.open(str(whole))
    with journal.connections.writing() as connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(32) WHERE rowid = 3")
        connection.execute("UPDATE vectors SET vector = x'00' WHERE rowid = 4")
    found = journal.check(read_data=True)
    assert found == ["2 cached vectors are damaged."]
    assert journal.check(read_data=False) == []
    assert journal.mend_problems(found) is not None
    assert journal.check(read_data=True) == []
    assert journal.count_without_model(MODEL) == 2
    journal.close()


def test_a_wrong_lexicon_is_made_anew_in_place(whole: Path) -> None:
    """The full-text index alone is no reason to replace the file."""
    journal = Journal.open(str(whole))
    with journal.connections.writing() as connection:
        connection.execute("DELETE FROM lexicon_data WHERE id > 10")
    found = journal.check(read_data=True)
    assert found
    assert journal.mend_problems(found) is not None
    assert journal.check(read_data=True) == []
    assert len(journal.matching(["number"], Scope(), 500)) == 110
    journal.close()
