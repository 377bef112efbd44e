"""The journal on a real file: storing, changing, finding, forgetting."""

from __future__ import annotations

import itertools
import os
import stat
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from journal_samples import START, memory, turn

from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.journal import readonly
from vector_memory.journal.journal import Journal, text_hash
from vector_memory.journal.repair import transfer
from vector_memory.model import (
    CleanText,
    Link,
    Origin,
    Priority,
    Project,
    Relation,
    Scope,
    Source,
    Status,
)
from vector_memory.text import analysis

MODEL = "toy@1"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    one = Journal.open(str(tmp_path / "store"), clock=lambda: START)
    yield one
    one.close()


def ids(found: object) -> list[str]:
    return [one.id for one in found]  # type: ignore[attr-defined]


def test_files_are_private(journal: Journal) -> None:
    """The folder is 0700, and every file in it 0600."""
    journal.add([memory(1)])
    assert stat.S_IMODE(os.stat(journal.folder).st_mode) == 0o700
    modes = {stat.S_IMODE(entry.stat().st_mode) for entry in os.scandir(journal.folder)}
    assert modes == {0o600}


def test_what_was_added_is_there_after_reopening(journal: Journal) -> None:
    """Memories and the store's id survive closing; sequence numbers count from 1."""
    stored = journal.add([memory(1), memory(2, title=CleanText("T"), tags=("x",))])
    journal.close()
    again = Journal.open(journal.folder)
    try:
        assert [one.seq for one in stored] == [1, 2]
        assert [again.get(one.id) for one in stored] == stored
        assert again.store_id == journal.store_id
    finally:
        again.close()


def test_a_known_id_stores_nothing(journal: Journal) -> None:
    """A batch with a known id, or one twice, is refused as a whole."""
    journal.add([memory(1)])
    for batch in ([memory(2), memory(1)], [memory(3), memory(3)]):
        with pytest.raises(BadInputError):
            journal.add(batch)
    assert journal.count() == 1


def test_a_lone_surrogate_is_refused(journal: Journal) -> None:
    """Text that is no Unicode is the caller's mistake and leaves nothing behind."""
    with pytest.raises(BadInputError):
        journal.add([memory(1, "half \ud83d")])
    assert journal.count() == 0


def test_plain_text_is_refused(journal: Journal) -> None:
    """Text that did not go through the redactor is not written."""
    with pytest.raises(TypeError):
        journal.add([replace(memory(1), text="raw")])  # type: ignore[arg-type]
    assert journal.count() == 0


def test_a_change_gets_a_new_number(journal: Journal) -> None:
    """An update keeps usage and stored_at, gets a new seq, and the old number leads nowhere."""
    first, second = journal.add([memory(1), memory(2)])
    journal.touch({first.id: 1}, START)
    changed = journal.update(replace(first, text=CleanText("fresh words")))
    assert changed.seq > second.seq
    assert journal.get(first.id) == changed
    assert (changed.uses, changed.stored_at, changed.updated_at) == (1, first.stored_at, START)
    assert journal.by_seqs([first.seq, changed.seq]) == {changed.seq: changed}
    assert not journal.matching(analysis.analyse("note number"), Scope(), 9, second.seq)
    assert journal.matching(analysis.analyse("fresh"), Scope(), 9)[0].seq == changed.seq


def test_an_update_without_change_writes_nothing(journal: Journal) -> None:
    """The same content keeps its number."""
    (one,) = journal.add([memory(1)])
    assert journal.update(one) == one
    assert journal.last_seq() == 1


def test_unknown_ids_are_told(journal: Journal) -> None:
    """What names one memory raises when there is none."""
    for call in (
        lambda: journal.get("nope"),
        lambda: journal.update(memory(1)),
        lambda: journal.forget(["nope"]),
    ):
        with pytest.raises(NotFoundError):
            call()


def test_forgetting_leaves_a_tombstone(journal: Journal) -> None:
    """Text, links and vector are gone; the change is there for the index to follow."""
    text = "the launch code word is periwinkle"
    one, other = journal.add([memory(1, text, files=("a.py",), tags=("t",)), memory(2)])
    journal.put_vectors(MODEL, [text_hash(text)], np.ones((1, 4), np.float32))
    journal.link(Link(other.id, one.id, Relation.BUILDS_ON))
    (stone,) = journal.forget([one.id])
    assert stone == journal.get(one.id)
    assert (stone.status, stone.text, stone.files, stone.tags) == (Status.FORGOTTEN, "", (), ())
    assert journal.changes(other.seq, 9) == [(stone, "", b"")]
    assert journal.get_vectors([text_hash(text)], MODEL) == {}
    assert journal.links_of([other.id]) == []
    assert not journal.matching(["periwinkl"], Scope(), 9)
    assert (journal.count(), journal.count(status=Status.FORGOTTEN)) == (1, 1)
    assert journal.forget([one.id]) == []


def test_a_shared_text_keeps_its_vector(journal: Journal) -> None:
    """A vector stays while any memory has the text."""
    journal.add([memory(1, "same"), memory(2, "same")])
    journal.put_vectors(MODEL, [text_hash("same")], np.ones((1, 4), np.float32))
    journal.forget(["m0001"])
    assert list(journal.get_vectors([text_hash("same")], MODEL)) == [text_hash("same")]
    journal.purge(["m0002"])
    assert journal.get_vectors([text_hash("same")], MODEL) == {}


@pytest.mark.parametrize("way", ["forget", "purge"])
def test_no_byte_of_it_is_left(journal: Journal, way: str) -> None:
    """After forget and scrub, or purge, no file of the store holds the words."""
    words = ["periwinkle" + str(n) for n in range(50)]
    journal.add([memory(n, f"secret {word} said") for n, word in enumerate(words)])
    journal.add([memory(99, "something else")])
    names = [f"m{n:04}" for n in range(50)]
    if way == "forget":
        journal.forget(names)
        journal.scrub()
    else:
        assert journal.purge([*names, "unknown"]) == 50
    left = b"".join(
        Path(entry.path).read_bytes()
        for entry in os.scandir(journal.folder)
        if not entry.name.endswith("-shm")
    )
    assert b"eriwinkl" not in left
    assert journal.check(read_data=True) == []


def test_numbers_are_never_given_twice(journal: Journal) -> None:
    """Purging the last row does not free its number, even after reopening."""
    journal.add([memory(1), memory(2)])
    journal.purge(["m0002"])
    assert (journal.last_seq(), journal.given_seq()) == (1, 2)
    journal.close()
    again = Journal.open(journal.folder)
    try:
        assert again.add([memory(3)])[0].seq == 3
    finally:
        again.close()


def test_changes_come_in_order(journal: Journal) -> None:
    """Every status is among the changes, by number, with analysed text and hash."""
    one, two = journal.add([memory(1), memory(2, "Use src/app/x.py")])
    journal.update(replace(one, status=Status.SUPERSEDED, superseded_by=two.id))
    found = journal.changes(0, 9)
    assert [change[0].seq for change in found] == [2, 3]
    assert found[0][1:] == (analysis.lexical("Use src/app/x.py"), text_hash("Use src/app/x.py"))
    assert found[1][0].status is Status.SUPERSEDED
    assert [change[0].seq for change in journal.changes(2, 9)] == [3]
    assert [change[0].seq for change in journal.changes(0, 1)] == [2]


def test_ids_are_found_by_their_start(journal: Journal) -> None:
    """At most five, none forgotten, and a mark that SQL knows is only text."""
    journal.add([memory(n) for n in range(10, 18)])
    journal.forget(["m0010"])
    assert ids(journal.find("m001")) == [f"m00{n}" for n in range(11, 16)]
    assert journal.find("%") == journal.find("") == []
    assert set(journal.by_ids(["m0010", "m0011", "no"])) == {"m0010", "m0011"}


SCOPES = {
    Scope(): [1, 2, 3, 4],
    Scope(projects=("p",)): [1, 2],
    Scope(projects=("p", "")): [1, 2, 4],
    Scope(projects=()): [],
    Scope(kinds=("todo",)): [2, 3],
    Scope(tags=("x", "y")): [1, 3],
    Scope(tags=('q"',)): [3],
    Scope(sessions=("s",)): [2],
    Scope(collections=("learnings",)): [4],
    Scope(since=START + timedelta(minutes=2), until=START + timedelta(minutes=4)): [2, 3],
    Scope(projects=("p",), kinds=("todo",)): [2],
    Scope(projects=("' OR 1=1 --",)): [],
}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_means_the_same_everywhere(journal: Journal, scope: Scope) -> None:
    """Counting, listing, numbers, newest and full text agree on what a scope holds."""
    journal.add(
        [
            memory(1, project="p", tags=("x",)),
            memory(2, project="p", kind="todo", source=Source(session="s")),
            memory(3, project="q", kind="todo", tags=("y", 'q"')),
            memory(4, collection="learnings"),
            memory(5, "note number gone", status=Status.FORGOTTEN),
        ]
    )
    wanted = SCOPES[scope]
    assert journal.seqs(scope) == wanted
    assert journal.count(scope) == len(wanted)
    assert [one.seq for one in journal.iter_memories(scope)] == wanted
    assert [one.seq for one in journal.recent(scope, 9)] == wanted[::-1]
    assert sorted(one.seq for one in journal.matching(["number"], scope, 9)) == wanted


def test_whom_a_scope_trusts_is_what_a_memory_says(journal: Journal) -> None:
    """Nobody who wrote something foreign, nor what looks like instructions, unless the user let it go; and no text
    that holds the words of such a mark."""
    extras: list[dict[str, Any]] = [
        {},
        {"foreign": True},
        {"foreign": False},
        {"suspicion": {}},
        {"suspicion": {"score": 2.0, "reasons": ["conceals"]}},
        {"suspicion": {"score": 2.0, "released": True}},
        {"about": '"foreign":true, "suspicion":{"score":2}'},
    ]
    many = [
        replace(memory(number), origin=origin, extra=extra)
        for number, (origin, extra) in enumerate(itertools.product(Origin, extras))
    ]
    journal.add(many)
    scope = Scope(trusted=True)
    wanted = [one.id for one in many if one.trust]
    assert ids(journal.iter_memories(scope)) == wanted == ids(filter(scope.holds, many))
    assert 0 < len(wanted) < len(many)


def test_tags_are_found_in_whatever_case_as_they_are_now(journal: Journal) -> None:
    """What is stored and what is changed after the first question counts, too."""
    journal.add([memory(1, tags=("Deploy", 'q"')), memory(2)])
    assert journal.tags_named(["deploy", "none"]) == ["Deploy"]
    (third,) = journal.add([memory(3, tags=("DEPLOY",))])
    assert journal.tags_named(["deploy"]) == ["DEPLOY", "Deploy"]
    journal.update(replace(third, tags=("deploY",)))
    assert "deploY" in journal.tags_named(["Deploy"])


def test_listing_is_cut_and_turned(journal: Journal) -> None:
    """Limit, direction and statuses apply, over more rows than one piece."""
    journal.add([memory(n) for n in range(1, 1203)])
    journal.forget(["m0001"])
    assert len(ids(journal.iter_memories(Scope()))) == 1201
    newest = journal.iter_memories(Scope(), newest_first=True, limit=2)
    assert ids(newest) == ["m1202", "m1201"]
    assert ids(journal.iter_memories(Scope(), statuses=(Status.FORGOTTEN,))) == ["m0001"]


TERMS = ["src/app/x.py", "$home", "c++", "日本", "#ffeee1", "naïve", 'q"q', "it’s", "x\u200by",
         "nai\u0308ve", "a-b_c.d", "😀", "^*(~)", "near(a", "col:on"]  # fmt: skip


def test_terms_match_whole(journal: Journal) -> None:
    """Whatever stands between spaces in the analysed text is one term, found by itself alone."""
    journal.add([memory(n) for n in range(len(TERMS))])
    with journal.connections.writing() as connection:
        for n, term in enumerate(TERMS):
            connection.execute(
                "UPDATE memories SET lexical = ? WHERE id = ?", (f"zz {term} yy", f"m{n:04}")
            )
    for n, term in enumerate(TERMS):
        assert [one.seq for one in journal.matching([term], Scope(), 99)] == [n + 1]
    assert not journal.matching(["src"], Scope(), 9)
    assert len(journal.matching(TERMS, Scope(), 99)) == len(TERMS)


def test_terms_in_a_row(journal: Journal) -> None:
    """They are found where they follow each other, and count as the rarest of them."""
    journal.add([memory(1, "ledger pool"), memory(2, "pool ledger"), memory(3, "ledger timeout")])
    for after in (0, 1):
        found = journal.matching(["pool ledger"], Scope(), 9, after_seq=after)
        assert [one.seq for one in found] == [2]
    assert not journal.matching(["pool timeout"], Scope(), 9)
    assert not journal.matching(["pool ledger"], Scope(), 9, most_rows=1)


def test_pairs_of_terms(journal: Journal) -> None:
    """Where two of the terms are asked for, one in a text is too few, however often it is there; a quote ends no term."""
    texts = ("ledger pool", "pool pool", "timeout of the ledger", "pool timeout ledger")
    journal.add([memory(n, text) for n, text in enumerate(texts, 1)])
    for terms, found in (
        (["ledger", "pool", "timeout"], {1, 3, 4}),
        (["ledger", "pool"], {1, 4}),
        (["pool"], set()),
        (["pool", 'timeout" OR "ledger'], set()),
    ):
        assert {one.seq for one in journal.matching(terms, Scope(), 9, pairs=True)} == found


def test_better_matches_come_first(journal: Journal) -> None:
    """BM25 ranks the rarer and denser match first, with higher scores; k and `after_seq` apply."""
    journal.add(
        [
            memory(1, "database pool " + "filler words here " * 20),
            memory(2, "database pool timeout"),
            memory(3, "database backup schedule"),
            memory(4, "frontend colours"),
        ]
    )
    found = journal.matching(analysis.analyse("database pool timeout"), Scope(), 9)
    assert [one.seq for one in found][0] == 2
    assert {one.seq for one in found} == {1, 2, 3}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found[-1].score > 0
    assert journal.matching(["databas"], Scope(), 1, after_seq=2)[0].seq == 3
    assert journal.matching([], Scope(), 9) == journal.matching(["x"], Scope(), 0) == []


def test_too_many_terms_lose_the_commonest(journal: Journal) -> None:
    """With more than 24 terms the rare one still finds its memory, the commonest does not count."""
    journal.add([memory(n, "everywhere") for n in range(30)])
    many = [f"w{n}" for n in range(30)]
    journal.add([memory(100, "rare " + " ".join(many))])
    terms = ["everywher", *analysis.analyse(" ".join(many)), "rare"]
    assert [one.seq for one in journal.matching(terms, Scope(), 99)] == [31]


def test_common_terms_do_not_count_in_large_stores(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Terms that name too many rows are left out beyond the first few, the rare ones never."""
    monkeypatch.setattr(readonly, "MAX_POSTINGS", 20)
    journal.add([memory(n, "alpha beta gamma") for n in range(30)])
    journal.add([memory(99, "delta")])
    found = journal.matching(["alpha", "beta", "gamma", "delta", "none"], Scope(), 99)
    assert len(found) == 31
    with journal.connections.reading() as connection:
        kept = readonly.selective(connection, ["alpha", "beta", "gamma", "delta", "none"])
    assert kept == ["delta", "alpha", "beta"]


def test_neighbours_are_of_the_session(journal: Journal) -> None:
    """Before and after go by turn within the session, over its transcripts, past tombstones."""
    journal.add([turn(1, "s", 10), turn(2, "s", 30), turn(3, "s", 20), turn(4, "t", 21)])
    other = replace(turn(5, "s", 40), source=Source("s", "/t/agent.jsonl", turn=40))
    journal.add([other, memory(6), memory(7)])
    numbers = journal.seqs(Scope())

    def around(number: int) -> list[str | None]:
        return [one.id if one else None for one in journal.neighbours(number)]

    assert around(3) == ["m0001", "m0002"]
    assert around(2) == ["m0003", "m0005"]
    assert around(1) == [None, "m0003"]
    assert around(6) == around(999) == [None, None]
    journal.forget(["m0003"])
    assert around(1) == [None, "m0002"]
    assert numbers == [1, 2, 3, 4, 5, 6, 7]


def test_the_last_sessions_come_newest_first(journal: Journal) -> None:
    """Of the projects asked about, by what was said: an idea of a session tells nothing of when it ended."""
    journal.add([replace(turn(at, name, at), project="p") for at, name in enumerate("sstuu", 1)])
    journal.add([replace(turn(9, "of another", 9), project="q")])
    journal.add([replace(turn(8, "s", 8), project="p", kind="decision"), memory(10, project="p")])
    day = timedelta(days=1)
    begun = (START - datetime(1970, 1, 1, tzinfo=timezone.utc)) / day
    here = Scope(projects=("p", ""))
    sessions = journal.latest_sessions(here, 2, but="t")
    minutes = [[round((at - begun) * 1_440) for at in session] for session in sessions]
    assert minutes == [[4, 5], [1, 2]]
    assert len(journal.latest_sessions(Scope(), 9, but="")) == 4
    assert journal.latest_sessions(Scope(projects=()), 9, but="") == []


def test_twins_are_found(journal: Journal) -> None:
    """By text and by imported id, active ones of the same project only."""
    journal.add([memory(1, "same", project="p", external_id="e"), memory(2, "same")])
    assert journal.find_by_hash(text_hash("same"), "p") == journal.get("m0001")
    assert journal.find_by_external_id("e", "p") == journal.get("m0001")
    assert journal.find_by_external_id("e", "") is None
    assert journal.find_by_external_id("", "") is None
    journal.forget(["m0001"])
    assert journal.find_by_hash(text_hash("same"), "p") is None
    assert journal.find_by_external_id("e", "p") is None


def test_what_a_session_starts_with(journal: Journal) -> None:
    """The newest, the important and the open, each in its order and of its scope."""
    journal.add(
        [
            memory(1, project="p", priority=Priority.HIGH),
            memory(2, project="p", priority=Priority.CORE, kind="decision"),
            memory(3, project="p", priority=Priority.CORE),
            memory(4, project="q", priority=Priority.HIGH, kind="todo"),
            memory(5, project="p", kind="todo"),
            memory(6, project="p", kind="question", extra={"done": True}),
            memory(7, kind="problem"),
        ]
    )
    here = Scope(projects=("p", ""))
    assert ids(journal.recent(here, 3)) == ["m0007", "m0006", "m0005"]
    assert ids(journal.recent(here, 3, ("decision",))) == ["m0002"]
    assert ids(journal.recent(replace(here, kinds=("todo",)), 3, ("decision",))) == []
    assert ids(journal.important(here, 9)) == ["m0003", "m0002", "m0001"]
    assert ids(journal.important(here, 1)) == ["m0003"]
    assert ids(journal.open_items(here, 9)) == ["m0007", "m0005"]
    assert ids(journal.open_items(Scope(), 9)) == ["m0007", "m0005", "m0004"]
    journal.update(replace(journal.get("m0005"), extra={"done": True}))
    assert ids(journal.open_items(here, 9)) == ["m0007"]


@pytest.mark.parametrize(
    ("index", "call"),
    [
        ("by_time", lambda j: j.recent(Scope(projects=("p",)), 5)),
        ("by_kind", lambda j: j.recent(Scope(projects=("p",)), 5, ("decision", "fact"))),
        ("by_kind", lambda j: j.latest_sessions(Scope(projects=("p",)), 2, "now")),
        ("by_date", lambda j: j.with_dates(Scope(projects=("p", "")))),
        ("by_importance", lambda j: j.important(Scope(projects=("p",)), 5)),
        ("by_openness", lambda j: j.open_items(Scope(projects=("p",)), 5)),
        ("by_hash", lambda j: j.find_by_hash(b"x", "p")),
        ("by_external_id", lambda j: j.find_by_external_id("x", "p")),
        ("by_model", lambda j: j.without_model("none", 5)),
    ],
)
def test_queries_of_hooks_use_their_index(journal: Journal, index: str, call: object) -> None:
    """No query that a hook waits for reads a whole table or sorts one."""
    journal.add([memory(n, project="p", priority=Priority.CORE, kind="todo") for n in range(50)])
    seen: list[str] = []
    with journal.connections.reading() as connection:
        connection.set_trace_callback(seen.append)
    call(journal)  # type: ignore[operator]
    with journal.connections.reading() as connection:
        connection.set_trace_callback(None)
        plans = [
            row[3]
            for sql in seen
            if sql.startswith("SELECT")
            for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")
        ]
    assert any(f"INDEX {index} " in plan for plan in plans)
    assert not any(plan.split()[:2] in (["SCAN", "m"], ["SCAN", "memories"]) for plan in plans)


def test_vectors_wait_for_their_model(journal: Journal) -> None:
    """Rows that a model has not embedded are told, in order; marking them gives no new number."""
    one, two, three = journal.add([memory(1), memory(2), memory(3)])
    journal.forget([three.id])
    assert [change[0].seq for change in journal.without_model(MODEL, 9)] == [1, 2]
    journal.set_model([one.seq, 999], MODEL)
    assert ids(change[0] for change in journal.without_model(MODEL, 9)) == [two.id]
    assert ids(change[0] for change in journal.without_model("other@1", 1)) == [one.id]
    assert journal.get(one.id) == replace(one, model=MODEL)
    assert journal.models() == [MODEL]
    journal.update(replace(journal.get(one.id), text=CleanText("new text")))
    assert journal.get(one.id).model == ""


def test_vectors_come_back_as_float32(journal: Journal) -> None:
    """Vectors are kept by text and model, of length 1, as they were but for 1e-6 of their cosine;
    the last one stands."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((600, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    hashes = [text_hash(str(n)) for n in range(600)]
    journal.put_vectors(MODEL, hashes, vectors[::-1])
    journal.put_vectors(MODEL, hashes, vectors)
    found = journal.get_vectors([*hashes, text_hash("none")], MODEL)
    got = np.stack([found[one] for one in hashes])
    assert got.dtype == np.float32
    assert np.abs(np.linalg.norm(got, axis=1) - 1).max() < 1e-6
    assert np.sum(got * vectors, axis=1).min() > 0.999999
    assert journal.get_vectors(hashes, "other") == {}


def test_vectors_stream_by_project(journal: Journal) -> None:
    """All active memories with a vector come in the order of (project, seq), in pieces."""
    count = 1203
    journal.add([memory(n, project=f"p{n % 3}") for n in range(1, count + 1)])
    journal.forget(["m0004"])
    texts = [f"note number {n}" for n in range(1, count)]
    vectors = np.eye(512, dtype=np.float32)[np.arange(count - 1) % 512]
    journal.put_vectors(MODEL, [text_hash(text) for text in texts], vectors)
    chunks = list(journal.iter_vectors(MODEL))
    rows = [
        (project, int(seq), vector)
        for seqs, projects, vecs in chunks
        for seq, project, vector in zip(seqs, projects, vecs, strict=True)
    ]
    assert len(chunks) > 1
    assert [row[:2] for row in rows] == sorted((f"p{n % 3}", n) for n in range(1, count) if n != 4)
    assert all(vector.argmax() == (seq - 1) % 512 for _, seq, vector in rows)
    assert chunks[0][0].dtype == np.int64
    assert list(journal.iter_vectors("other")) == []


def test_usage_is_counted(journal: Journal) -> None:
    """By id and by number, without a new number; what is unknown is left out."""
    one, two = journal.add([memory(1), memory(2)])
    journal.touch({one.id: 1, two.seq: 3, "none": 1, 99: 1}, START)
    journal.touch({one.seq: 1}, START + timedelta(1))
    assert journal.get(one.id) == replace(one, uses=2, last_used_at=START + timedelta(1))
    assert journal.get(two.id).uses == 3
    assert journal.last_seq() == 2


def test_imported_memories_are_found_by_how_their_ids_begin(journal: Journal) -> None:
    """Of every status, of one project, and never those without an id."""
    ids = ("md:a:1", "md:a:2", "md:b:1", "")
    journal.add([memory(n, external_id=id, project="p") for n, id in enumerate(ids)])
    journal.add([memory(9, external_id="md:a:3", project="q")])
    journal.forget(["m0001"])
    found = journal.find_imported("md:a:", "p")
    assert [(one.external_id, one.status) for one in found] == [
        ("md:a:1", Status.ACTIVE),
        ("md:a:2", Status.FORGOTTEN),
    ]
    assert len(journal.find_imported("", "p")) == 3


def test_links_are_stored_together(journal: Journal) -> None:
    """Again they are the same links."""
    journal.add([memory(1), memory(2), memory(3)])
    several = [Link("m0001", f"m000{n}", Relation.RELATES_TO) for n in (2, 3)]
    for _ in range(2):
        journal.link_all(several)
    assert len(journal.links_of(["m0001"])) == 2


def test_links(journal: Journal) -> None:
    """Links are stored once, found from both ends, removed by relation, and need both ends."""
    journal.add([memory(1), memory(2), memory(3)])
    first = Link("m0001", "m0002", Relation.SUPERSEDES, 0.5, START)
    second = Link("m0001", "m0002", Relation.CLARIFIES)
    for link in (
        first,
        second,
        replace(first, weight=0.7),
        Link("m0003", "m0001", Relation.ANSWERS),
    ):
        journal.link(link)
    assert journal.links_of(["m0002"]) == [second, replace(first, weight=0.7)]
    assert len(journal.links_of(["m0001", "m0002"])) == 3
    assert journal.unlink("m0001", "m0002", Relation.CLARIFIES) == 1
    assert journal.unlink("m0001", "m0002") == 1
    with pytest.raises(BadInputError):
        journal.link(Link("m0001", "none", Relation.ANSWERS))
    journal.purge(["m0003"])
    assert journal.links_of(["m0001"]) == []


def test_projects(journal: Journal) -> None:
    """Projects are kept and replaced."""
    journal.put_project(Project("p", "old", "/r"))
    journal.put_project(Project("p", "mine", "/r", "/r/.memory/db"))
    journal.put_project(Project("q", "also"))
    assert [one.id for one in journal.projects()] == ["q", "p"]
    assert Project("p", "mine", "/r", "/r/.memory/db") in journal.projects()


def test_a_project_moves_out(journal: Journal, tmp_path: Path) -> None:
    """Everything of the scope is in the other store afterwards, and nothing of it here."""
    journal.add([memory(n, project="p" if n % 2 else "q") for n in range(1, 1301)])
    journal.forget(["m0005"])
    journal.touch({"m0001": 1}, START)
    journal.link(Link("m0001", "m0003", Relation.BUILDS_ON))
    journal.link(Link("m0001", "m0002", Relation.RELATES_TO))
    journal.put_vectors(MODEL, [text_hash("note number 1")], np.ones((1, 4), np.float32))
    journal.set_model([1], MODEL)
    before = journal.get("m0001")
    other = Journal.open(str(tmp_path / "other"))
    try:
        # As after a crash between copy and purge: one of them is there already.
        other.add([memory(7, project="p")])
        assert transfer.move(journal, Scope(projects=("p",)), other) == 650
        assert other.get("m0001") == replace(before, seq=other.get("m0001").seq)
        assert (other.count(), other.count(status=Status.FORGOTTEN)) == (649, 1)
        assert other.links_of(["m0001"]) == [Link("m0001", "m0003", Relation.BUILDS_ON)]
        assert list(other.get_vectors([text_hash("note number 1")], MODEL)) != []
        assert journal.count(Scope(projects=("p",))) == 0
        assert journal.count() == 650
        assert journal.links_of(["m0002"]) == []
        assert other.check(True) == journal.check(True) == []
        assert transfer.move(journal, Scope(projects=("p",)), other) == 0
    finally:
        other.close()


def test_readers_and_writers_share_it(journal: Journal) -> None:
    """Threads that add and read at once see whole batches, and lose none."""
    failures: list[BaseException] = []

    def write(start: int) -> None:
        for n in range(start, start + 20):
            journal.add([memory(n), memory(n + 5000)])

    def read() -> None:
        for _ in range(40):
            assert journal.count() % 2 == 0
            journal.matching(["number"], Scope(), 10)

    def guarded(work: object, *values: int) -> None:
        try:
            work(*values)  # type: ignore[operator]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(write, n * 100)) for n in range(3)]
    threads += [threading.Thread(target=guarded, args=(read,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert journal.count() == 120
    assert journal.last_seq() == journal.given_seq() == 120


def test_the_lexical_index_is_rebuilt(journal: Journal) -> None:
    """A full-text index that lost its content is noticed, made anew, and matches again."""
    journal.add([memory(n) for n in range(1, 700)])
    with journal.connections.writing() as connection:
        connection.execute("INSERT INTO lexicon(lexicon) VALUES ('delete-all')")
        connection.execute("UPDATE memories SET lexical = 'stale' WHERE seq = -1")
    assert journal.matching(["number"], Scope(), 9) == []
    assert journal.check(read_data=False) != []
    journal.rebuild_lexical()
    assert len(journal.matching(["number"], Scope(), 999)) == 699
    assert journal.check(read_data=True) == []
    journal.add([memory(5000, "brand-new")])
    assert journal.matching(["brand-new"], Scope(), 9)


def test_a_backup_is_a_journal(journal: Journal, tmp_path: Path) -> None:
    """The copy is one private file that opens as a store with the same memories."""
    journal.add([memory(1)])
    folder = tmp_path / "copy"
    folder.mkdir()
    journal.backup_to(str(folder / "journal.db"))
    journal.backup_to(str(folder / "journal.db"))
    assert [entry.name for entry in folder.iterdir()] == ["journal.db"]
    assert stat.S_IMODE((folder / "journal.db").stat().st_mode) == 0o600
    copy = Journal.open(str(folder))
    try:
        assert copy.get("m0001") == journal.get("m0001")
        assert copy.store_id == journal.store_id
    finally:
        copy.close()
