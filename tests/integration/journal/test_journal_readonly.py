"""The cold path: what a hook reads straight from the files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from journal_samples import START, memory

from vector_memory.journal import readonly
from vector_memory.journal.journal import Journal
from vector_memory.journal.rows import microseconds
from vector_memory.journal.state import State
from vector_memory.model import CleanText, Source, Status

LIB = Path(__file__).parents[3] / "lib"


def soon() -> float:
    return time.monotonic() + 5.0


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    one = Journal.open(str(tmp_path / "store"))
    one.add(
        [
            memory(1, "database pool timeout", project="p", title=CleanText("Pool"), kind="fix",
                   source=Source("s", "/t/s.jsonl", 3, 9)),
            memory(2, "database backup", project="q"),
            memory(3, "database schedule"),
            memory(4, "database gone", project="p", status=Status.SUPERSEDED),
        ]
    )  # fmt: skip
    yield one
    one.close()


def found(folder: str, *projects: str) -> list[str]:
    """Return the ids that the cold path finds for a word that all samples hold."""
    return sorted(hit["id"] for hit in readonly.search(folder, ["databas"], projects, 9, soon()))


def test_a_hit_has_all_that_is_shown(journal: Journal) -> None:
    """One hit, field by field."""
    terms = ["databas", "pool", "absent"]
    hit = readonly.search(journal.folder, terms, ["p"], 9, soon())[0]
    assert hit.pop("bm25") > 0
    assert hit == {
        "id": "m0001", "text": "database pool timeout", "title": "Pool", "kind": "fix",
        "created_at_us": microseconds(START) + 60_000_000, "project": "p", "origin": "user",
        "path": "/t/s.jsonl", "line_start": 3, "line_end": 9, "session": "s",
        "matched_terms": ["databas", "pool"], "extra": "",
    }  # fmt: skip


def test_only_active_ones_of_the_projects(journal: Journal) -> None:
    """Other projects' and superseded memories are not served; best first, at most k."""
    assert found(journal.folder, "p", "") == ["m0001", "m0003"]
    assert found(journal.folder) == []
    hits = readonly.search(journal.folder, ["databas", "backup"], ["p", "q", ""], 2, soon())
    assert [hit["id"] for hit in hits][0] == "m0002"
    assert len(hits) == 2


def test_it_reads_beside_a_writer(journal: Journal) -> None:
    """What the daemon committed a moment ago, still in its log, is found."""
    journal.add([memory(9, "database fresh", project="p")])
    assert found(journal.folder, "p") == ["m0001", "m0009"]


def test_it_reads_a_closed_store_and_makes_no_file(journal: Journal) -> None:
    """After a clean end there is one file, and reading leaves it the only one."""
    journal.close()
    assert found(journal.folder, "p") == ["m0001"]
    assert os.listdir(journal.folder) == ["journal.db"]


KILLED = """
import os, signal, sys
from vector_memory.journal.journal import Journal
from vector_memory.model import CleanText, Memory
from datetime import datetime, timezone
journal = Journal.open(sys.argv[1])
now = datetime.now(timezone.utc)
journal.add([Memory(id="last", text=CleanText("database"), created_at=now, project="p")])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("shared_memory", [True, False])
def test_it_reads_what_a_killed_writer_left(tmp_path: Path, shared_memory: bool) -> None:
    """After kill -9 the log stays behind, and what it holds is found."""
    process = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], env={**os.environ, "PYTHONPATH": str(LIB)}
    )
    assert process.returncode == -signal.SIGKILL
    assert (tmp_path / "journal.db-wal").stat().st_size > 0
    if not shared_memory:
        (tmp_path / "journal.db-shm").unlink()
    before = set(os.listdir(tmp_path))
    assert found(str(tmp_path), "p") == ["last"]
    assert set(os.listdir(tmp_path)) <= before | {"journal.db-shm"}


def test_nothing_there_is_no_hit(tmp_path: Path) -> None:
    """No store, no file, no terms: no hit, no error, no file made."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert found(str(tmp_path / "none"), "p") == []
    assert found(str(empty), "p") == []
    assert readonly.shown_ids(str(empty / "state.db"), "s") == set()
    assert os.listdir(empty) == []


def test_damage_is_no_hit(journal: Journal) -> None:
    """A damaged file is answered with nothing."""
    journal.close()
    Path(journal.folder, "journal.db").write_bytes(b"junk" * 5000)
    assert found(journal.folder, "p") == []


def test_a_deadline_that_is_over_ends_the_search(journal: Journal) -> None:
    """A search that has no time left is broken off and answers with nothing."""
    journal.add([memory(n, "database filler", project="p") for n in range(10, 3000)])
    assert readonly.search(journal.folder, ["databas"], ["p"], 9, time.monotonic() - 1) == []
    assert len(readonly.search(journal.folder, ["databas"], ["p"], 9, soon())) == 9


def test_odd_terms_and_paths(tmp_path: Path) -> None:
    """Quotes and operators are text, and a folder may be called anything."""
    one = Journal.open(str(tmp_path / "a?b#c %41 ü"))
    one.add([memory(1, "call src/app/x.py now")])
    one.close()
    for terms in (['"', "AND", "(", "*", "\0"], ["", "NEAR(a b)"]):
        assert readonly.search(one.folder, terms, [""], 9, soon()) == []
    hits = readonly.search(one.folder, ["src/app/x.py", '"'], [""], 9, soon())
    assert [hit["id"] for hit in hits] == ["m0001"]


def test_what_was_shown_is_read_from_the_state(tmp_path: Path) -> None:
    """The state's rows are seen while it is open and after it was closed."""
    path = str(tmp_path / "state.db")
    state = State.open(path, clock=lambda: START)
    state.add_shown("s", ["a", "b"], START)
    assert readonly.shown_ids(path, "s") == {"a", "b"}
    state.close()
    assert readonly.shown_ids(path, "s") == {"a", "b"}
    assert readonly.shown_ids(path, "t") == set()


def test_importing_it_is_cheap() -> None:
    """The module brings neither sqlite3 nor anything heavy before it is asked."""
    code = (
        "import sys; from vector_memory.journal import readonly\n"
        "print(sorted({'sqlite3', 'json', 'numpy', 'datetime', 'typing', 're'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(LIB)!r})\n{code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
