"""The LanceDB table: what lasts, what is noticed when it is damaged, and that filters, words and
vectors are served from indexes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from index_samples import DIM, MODEL, direction, row, rows, seqs

from vector_memory.errors import StoreDamagedError, StoreFullError
from vector_memory.model import Scope
from vector_memory.store import lance
from vector_memory.store.lance import LOOSE_BATCHES, LanceIndex, problems
from vector_memory.system import processes
from vector_memory.text.analysis import lexical, query_terms

TESTS = Path(__file__).parents[2]
LIB = TESTS.parent / "lib"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def index(store: Path) -> Iterator[LanceIndex]:
    made = opened(store)
    yield made
    made.close()


def opened(store: Path, model: str = MODEL) -> LanceIndex:
    return LanceIndex.open(str(store), model, DIM)


def found(index: LanceIndex) -> set[int]:
    return set(seqs(index.begin_matching(["word"], Scope(), 10_000)()))


def table_of(store: Path) -> Path:
    return next((store / "lance").glob("*.lance"))


def damaged_copies(store: Path) -> list[Path]:
    return list(store.glob("lance.damaged-*/*.lance"))


def test_every_index_is_there_and_optimize_fills_it(index: LanceIndex) -> None:
    """Rows wait outside the indexes until `optimize` takes them in."""
    index.apply(rows(1, 20), [], 20)
    assert set(index.unindexed()) >= {"id", "seq", "lexical", "project", "created_at"}
    assert min(index.unindexed().values()) >= 20
    index.optimize()
    assert set(index.unindexed().values()) == {0}


def test_what_was_replaced_goes_after_a_restart_too(
    index: LanceIndex, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends before it could delete replaced files leaves that to the next one."""
    for i in range(1, 4):
        index.apply(rows(i, i), [], i)
    index.optimize()
    files = table_of(store) / "data"
    assert len(list(files.iterdir())) > 1
    index.close()
    monkeypatch.setattr(lance, "OLD_VERSION_AGE", timedelta(milliseconds=1))
    again = opened(store)
    for _ in range(lance.TIDY_PASSES):
        if again.tidies_later:
            again.optimize()
    assert len(list(files.iterdir())) == 1
    assert not again.tidies_later
    again.close()


def test_it_says_when_optimizing_is_worth_it(index: LanceIndex, store: Path) -> None:
    """Many small batches ask for it, also after a reopening; a few do not."""
    for i in range(1, LOOSE_BATCHES):
        index.apply(rows(i, i), [], i)
    assert not index.needs_optimize()
    index.apply(rows(50, 50), [], 50)
    assert index.needs_optimize()
    index.close()
    again = opened(store)
    assert again.needs_optimize()
    again.optimize()
    assert not again.needs_optimize()
    again.close()


def test_purging_leaves_nothing_of_what_was_removed(index: LanceIndex, store: Path) -> None:
    """After a purge no file holds the words of one memory of a thousand that was removed, nor
    those that another one had before it was changed."""
    index.apply([row(f"m{i:04}", i, f"secretword{i:04}") for i in range(1, 1_001)], [], 1_000)
    index.optimize()
    index.apply([row("m0007", 1_001, "harmless")], ["m0500"], 1_001)
    index.rewrite(np.setdiff1d(np.arange(1, 1_002), [7, 500]))
    content = b"".join(path.read_bytes() for path in table_of(store).rglob("*") if path.is_file())
    assert b"secretword0499" in content
    for gone in (b"secretword0500", b"secretword0007", b"m0500"):
        assert gone not in content
    assert seqs(index.begin_matching(["harmless"], Scope(), 5)()) == [1_001]


def test_models_have_tables_of_their_own(index: LanceIndex, store: Path) -> None:
    """Vectors of different models never meet."""
    index.apply(rows(1, 3), [], 3)
    other = opened(store, "tiny@2")
    assert other.reached() == 0
    assert list(other.iter_vectors()) == []
    other.apply(rows(1, 1), [], 1)
    assert index.rows() == 3
    other.close()


SENTENCES = """
    The build fails when the cache is cold because the lock file is missing
    We decided to keep sessions in Redis with a time to live of one hour
    Postgres answers slowly without an index on created_at
    The parser in src/app/parse.py drops trailing commas
    getUserById returns null for deleted users
    Retry the upload three times with exponential backoff
    The staging certificate expired and nginx refused to start
    Use feature flags for the new billing page
    Upgrade to Python 3.12 broke the C extension
    The deploy script needs DATABASE_URL to be set
""".strip().splitlines()
QUESTIONS = [
    "why is postgres slow",
    "redis session ttl",
    "src/app/parse.py",
    "getUserById",
    "expired certificate nginx",
    "database_url",
    "cold cache build",
    "exponential retry",
]


def test_words_are_ranked_as_sqlite_ranks_them(index: LanceIndex) -> None:
    """For each question LanceDB and SQLite's FTS5 put the same memory first."""
    texts = [lexical(sentence) for sentence in SENTENCES]
    index.apply([row(f"m{i}", i, text) for i, text in enumerate(texts, 1)], [], 99)
    index.optimize()
    database = sqlite3.connect(":memory:")
    database.execute(
        "create virtual table words using fts5(text, tokenize=\"unicode61 tokenchars './_$#-'\")"
    )
    database.executemany("insert into words(rowid, text) values (?, ?)", enumerate(texts, 1))
    for question in QUESTIONS:
        terms = query_terms(question)
        match = " OR ".join(f'"{term}"' for term in terms)
        first = database.execute(
            "select rowid from words where words match ? order by rank limit 1", (match,)
        ).fetchone()
        assert seqs(index.begin_matching(terms, Scope(), 1)()) == list(first), question
    database.close()


# -- what lasts -----------------------------------------------------------------------------------

WRITER = """
    import sys
    from index_samples import DIM, MODEL, rows
    from vector_memory.store.lance import LanceIndex

    index = LanceIndex.open(sys.argv[1], MODEL, DIM)
    reached = index.reached()
    while True:
        gone = [f"m{reached - 3}"] if reached % 2 else []
        index.apply(rows(reached + 1, reached + 7), gone, reached + 7)
        reached += 7
        print(reached, flush=True)
        if reached % 5 == 0:
            index.optimize()
"""


def writer(store: Path, script: str = WRITER) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": f"{LIB}{os.pathsep}{TESTS}"}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(store)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def test_nothing_reached_is_lost_when_the_writer_is_killed(store: Path) -> None:
    """A writer that is killed in the middle of things loses nothing that it had acknowledged; the
    table opens, is sound, and goes on."""
    for acknowledgements in (3, 9, 14):
        child = writer(store)
        assert child.stdout is not None
        reached = 0
        for _ in range(acknowledgements):
            reached = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split()
        child.wait()
        child.stdout.close()
        reached = int(rest[-1]) if rest and rest[-1].isdigit() else reached
        index = opened(store)
        assert index.damage == ""
        assert index.reached() >= reached
        assert problems(index, read_data=True) == []
        there = set(index.embedded_seqs().tolist())
        gone = {i for i in range(1, index.reached() + 1) if i not in there}
        removed = {i - 3 for i in range(7, index.reached() + 7, 7) if i % 2}
        assert gone <= removed
        index.close()


def test_a_power_cut_during_a_write_is_noticed(store: Path, index: LanceIndex) -> None:
    """A mark of an earlier run of the machine means that the files cannot be trusted."""
    index.apply(rows(1, 5), [], 5)
    index.close()
    mark = table_of(store).with_suffix(".writing")
    assert not mark.exists()
    mark.write_text("an earlier run")
    again = opened(store)
    assert "went down" in again.damage
    assert again.reached() == 0
    assert len(damaged_copies(store)) == 1
    assert not mark.exists()
    again.apply(rows(1, 5), [], 5)
    assert found(again) == {1, 2, 3, 4, 5}
    again.close()


def test_a_write_that_its_process_did_not_survive_is_trusted(
    store: Path, index: LanceIndex
) -> None:
    """A mark of this run of the machine means that the system has the files."""
    index.apply(rows(1, 5), [], 5)
    index.close()
    mark = table_of(store).with_suffix(".writing")
    mark.write_text(processes.boot())
    again = opened(store)
    if processes.boot():
        assert again.damage == ""
        assert again.reached() == 5
    else:
        assert "went down" in again.damage
    assert not mark.exists()
    again.close()


LIMITED = """
    import resource, signal, sys
    from index_samples import DIM, MODEL, rows, seqs
    from vector_memory.errors import StoreFullError
    from vector_memory.model import Scope
    from vector_memory.store.index import Index

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    index = Index.open(sys.argv[1], MODEL, DIM)
    index.apply(rows(1, 5), [], 5)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        index.apply(rows(6, 9), [], 9)
        print("applied")
    except StoreFullError as error:
        print("full", index.reached(), len(index.begin_matching(["word"], Scope(), 50)()), bool(error.hint))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    index.apply(rows(6, 9), [], 9)
    print("after", index.reached(), len(index.begin_matching(["word"], Scope(), 50)()), index.check(True))
    index.close()
"""


def test_a_full_disk_takes_nothing_away(store: Path) -> None:
    """When files cannot grow, the batch fails with a hint, searches go on, and the same batch
    succeeds once there is room."""
    child = writer(store, LIMITED)
    output, _ = child.communicate(timeout=60)
    assert output.splitlines() == ["full 5 5 True", "after 9 9 []"]


# -- what is damaged ------------------------------------------------------------------------------


def test_a_table_that_does_not_open_is_set_aside(store: Path, index: LanceIndex) -> None:
    """An empty newest manifest, as a power cut leaves it: the table starts anew and says why."""
    index.apply(rows(1, 5), [], 5)
    index.close()
    newest = min((table_of(store) / "_versions").glob("*.manifest"))
    newest.write_bytes(b"")
    again = opened(store)
    assert again.damage
    assert again.reached() == 0
    assert found(again) == set()
    again.apply(rows(1, 5), [], 5)
    assert found(again) == {1, 2, 3, 4, 5}
    again.close()
    quiet = opened(store)
    assert quiet.damage == ""
    assert quiet.reached() == 5
    quiet.close()


def test_only_the_last_damaged_table_is_kept(store: Path, index: LanceIndex) -> None:
    """Copies do not pile up, and `rebuild` deletes the last one."""
    for _ in range(3):
        index.set_aside("for a test")
    assert len(list(store.glob("lance.damaged-*"))) == 1
    index.rebuild()
    assert list(store.glob("lance.damaged-*")) == []
    assert problems(index, read_data=True) == []


def test_missing_data_is_an_error_and_can_be_set_aside(store: Path, index: LanceIndex) -> None:
    """A data file that is gone shows when it is read; after that the index starts from 0."""
    index.apply(rows(1, 5), [], 5)
    index.rewrite(np.arange(1, 6))
    index.close()
    again = opened(store)
    for path in (table_of(store) / "data").glob("*.lance"):
        path.unlink()
    assert again.rows() == 5
    assert problems(again, read_data=True) != []
    with pytest.raises(StoreDamagedError) as raised:
        list(again.iter_vectors())
    assert raised.value.hint
    again.set_aside(raised.value.message)
    assert again.reached() == 0
    again.apply(rows(1, 5), [], 5)
    assert found(again) == {1, 2, 3, 4, 5}
    again.close()


def test_flipped_bits_are_found_by_a_check(store: Path, index: LanceIndex) -> None:
    """LanceDB serves them without a word; reading the data finds them."""
    index.apply(rows(1, 50), [], 50)
    index.rewrite(np.arange(1, 51))
    assert problems(index, read_data=True) == []
    index.close()
    data = max((table_of(store) / "data").glob("*.lance"), key=lambda path: path.stat().st_size)
    content = bytearray(data.read_bytes())
    vector = direction(7).astype("float16").tobytes()
    content[content.index(vector) + 3] ^= 16
    data.write_bytes(content)
    again = opened(store)
    assert problems(again, read_data=False) == []
    assert ["data/" in one for one in problems(again, read_data=True)] == [True]
    again.close()
    # Without the list of what was synced each row still has its own checksum.
    next((store / "lance").glob("*.sums")).unlink()
    again = opened(store)
    assert problems(again, read_data=True) == ["1 of 51 rows differ from their checksums."]
    again.close()


def test_a_table_of_another_version_is_set_aside(store: Path) -> None:
    """Columns that this version does not know mean a table to make anew."""
    import pyarrow as pa

    from vector_memory.store.lightimport import load_lancedb

    index = opened(store)
    name = table_of(store).stem
    index.close()
    connection = load_lancedb().connect(str(store / "lance"))
    connection.create_table(name, pa.table({"id": ["a"], "seq": [4]}), mode="overwrite")
    again = opened(store)
    assert "another version" in again.damage
    assert again.reached() == 0
    again.close()


def test_interrupted_index_making_is_finished(store: Path, index: LanceIndex) -> None:
    """An index that is missing is made when the table is opened."""
    index.apply(rows(1, 5), [], 5)
    index._table.run(index._table.handle.drop_index("lexical_idx"))
    assert problems(index, read_data=False) == ["The index of column 'lexical' is missing."]
    index.close()
    again = opened(store)
    assert problems(again, read_data=False) == []
    assert found(again) == {1, 2, 3, 4, 5}
    again.close()


def test_a_folder_that_cannot_be_made_is_an_error_with_a_hint(tmp_path: Path) -> None:
    """A file where the store should be: no traceback of a library, but a sentence."""
    (tmp_path / "store").write_text("in the way")
    with pytest.raises((StoreFullError, StoreDamagedError)) as raised:
        opened(tmp_path / "store")
    assert raised.value.hint


@pytest.mark.parametrize("listed", [True, False])
def test_a_manifest_that_makes_the_library_panic_is_set_aside(
    store: Path, index: LanceIndex, listed: bool
) -> None:
    """One letter of a type's name: LanceDB panics, which is no error of its own kind. With the list of
    what was synced it is not even asked."""
    index.apply(rows(1, 5), [], 5)
    index.close()
    for path in (table_of(store) / "_versions").glob("*.manifest"):
        path.write_bytes(path.read_bytes().replace(b"string", b"s4ring"))
    if not listed:
        next((store / "lance").glob("*.sums")).unlink()
    again = opened(store)
    assert ("have changed" in again.damage) == listed
    assert again.damage
    again.apply(rows(1, 5), [], 5)
    assert found(again) == {1, 2, 3, 4, 5}
    again.close()
