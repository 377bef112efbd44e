"""The journal when things go wrong: killed, damaged, full, read-only, newer, half migrated."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from journal_samples import START, memory

from vector_memory.errors import (
    BadInputError,
    StoreDamagedError,
    StoreFullError,
    VectorMemoryError,
)
from vector_memory.journal import schema
from vector_memory.journal.connection import create_file, open_writer
from vector_memory.journal.failures import translate
from vector_memory.journal.journal import Journal
from vector_memory.journal.opening import Migration, migrate, version_of
from vector_memory.journal.rows import microseconds
from vector_memory.model import Scope

TESTS = Path(__file__).parents[2]
LIB = TESTS.parent / "lib"


def child(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a Python that can import the package and the samples."""
    environment = {**os.environ, "PYTHONPATH": f"{LIB}{os.pathsep}{TESTS}"}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    )


def make(folder: Path, count: int = 3) -> Path:
    """Make a store with some memories; return its file."""
    journal = Journal.open(str(folder))
    journal.add([memory(n) for n in range(count)])
    journal.close()
    return folder / "journal.db"


ADD_FOREVER = """
import sys
from journal_samples import memory
from vector_memory.journal.journal import Journal
journal = Journal.open(sys.argv[1])
n = journal.count()
while True:
    journal.add([memory(n)])
    n += 1
    print(n, flush=True)
"""


def test_nothing_acknowledged_is_lost_to_a_kill(tmp_path: Path) -> None:
    """After kill -9, what was acknowledged is there and the file is sound, again and again."""
    acknowledged = 0
    for _ in range(4):
        process = child(ADD_FOREVER, str(tmp_path))
        assert process.stdout is not None
        for line in process.stdout:
            acknowledged = int(line)
            if acknowledged % 25 == 0:
                break
        process.send_signal(signal.SIGKILL)
        rest = process.communicate()[0].split()
        acknowledged = int(rest[-1]) if rest else acknowledged
        journal = Journal.open(str(tmp_path))
        try:
            assert journal.count() >= acknowledged
            assert journal.check(read_data=True) == []
        finally:
            journal.close()
    assert acknowledged >= 100


def test_another_file_is_damaged(tmp_path: Path) -> None:
    """What is no SQLite file is refused, and left as it is."""
    (tmp_path / "journal.db").write_bytes(b"no database at all " * 100)
    with pytest.raises(StoreDamagedError):
        Journal.open(str(tmp_path))
    assert (tmp_path / "journal.db").read_bytes().startswith(b"no database")


def test_another_database_is_refused(tmp_path: Path) -> None:
    """A database of another program is not filled with our tables."""
    other = sqlite3.connect(tmp_path / "journal.db")
    other.execute("CREATE TABLE theirs(x)")
    other.close()
    with pytest.raises(StoreDamagedError, match="another program"):
        Journal.open(str(tmp_path))


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    """The message names both versions and says what to do."""
    raw = sqlite3.connect(make(tmp_path))
    raw.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    raw.close()
    with pytest.raises(StoreDamagedError) as caught:
        Journal.open(str(tmp_path))
    assert str(schema.SCHEMA_VERSION + 1) in caught.value.message
    assert "Update" in caught.value.hint


def test_a_store_without_its_id_is_damaged(tmp_path: Path) -> None:
    """A journal whose tables are incomplete is not used."""
    raw = sqlite3.connect(make(tmp_path))
    raw.execute("DELETE FROM meta")
    raw.commit()
    raw.close()
    with pytest.raises(StoreDamagedError):
        Journal.open(str(tmp_path))


def test_a_changed_row_is_not_served(tmp_path: Path) -> None:
    """A row changed behind the journal's back is left out, and named by the check."""
    raw = sqlite3.connect(make(tmp_path))
    raw.execute("UPDATE memories SET text = 'note number X' WHERE id = 'm0001'")
    raw.commit()
    raw.close()
    journal = Journal.open(str(tmp_path))
    try:
        assert sorted(journal.by_seqs([1, 2, 3])) == [1, 3]
        with pytest.raises(StoreDamagedError, match="m0001"):
            journal.get("m0001")
        assert journal.check(read_data=False) == []
        assert ["m0001" in problem for problem in journal.check(read_data=True)] == [True]
    finally:
        journal.close()


def test_a_text_that_is_not_its_hash_is_told(tmp_path: Path) -> None:
    """A wrong hash, which would bring a wrong vector, is found by reading the data."""
    raw = sqlite3.connect(make(tmp_path))
    raw.execute("UPDATE memories SET hash = x'00' WHERE id = 'm0001'")
    raw.commit()
    raw.close()
    journal = Journal.open(str(tmp_path))
    try:
        assert ["hash" in problem for problem in journal.check(read_data=True)] == [True]
    finally:
        journal.close()


def test_overwritten_pages_are_found(tmp_path: Path) -> None:
    """Junk in place of a page of rows is told by the check, which does not raise."""
    path = make(tmp_path, 300)
    page = path.read_bytes().index(b"note number 150") // 4096
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(b"\xa5" * 4096)
    journal = Journal.open(str(tmp_path))
    try:
        assert journal.check(read_data=True) != []
    finally:
        journal.close()


def test_a_full_disk_stores_nothing_and_reading_goes_on(tmp_path: Path) -> None:
    """When the file cannot grow the batch is refused whole, and works once there is room."""
    journal = Journal.open(str(tmp_path))
    try:
        journal.add([memory(n) for n in range(10)])
        with journal.connections.maintaining() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreFullError) as caught:
            journal.add([memory(n, "long words " * 200) for n in range(100, 200)])
        assert caught.value.hint
        assert journal.count() == 10
        assert len(journal.matching(["number"], Scope(), 99)) == 10
        with journal.connections.maintaining() as connection:
            connection.execute("PRAGMA max_page_count = 1000000")
        assert journal.add([memory(200)])[0].seq == 11
        assert journal.check(read_data=True) == []
    finally:
        journal.close()


READ_THERE = """
import sys
from journal_samples import memory
from vector_memory.errors import StoreFullError
from vector_memory.journal.journal import Journal
from vector_memory.model import Scope
journal = Journal.open(sys.argv[1])
print(journal.writable, journal.count(), len(journal.matching(["number"], Scope(), 9)))
print(journal.check(True))
try:
    journal.add([memory(99)])
except StoreFullError as error:
    print("refused", bool(error.hint))
journal.close()
"""


def unprivileged() -> list[str]:
    """Return what to put before a command so that file modes hold for it, as root too."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("root is not kept from writing here")
    drop = "-dac_override,-dac_read_search"
    return [setpriv, f"--bounding-set={drop}", f"--inh-caps={drop}"]


@pytest.mark.parametrize("alive", [False, True], ids=["closed", "in use"])
def test_a_readonly_folder_can_be_read(tmp_path: Path, alive: bool) -> None:
    """A store that cannot be written is recalled from; writing says why it does not work."""
    folder = tmp_path / "store"
    writer = Journal.open(str(folder))
    writer.add([memory(n) for n in range(3)])
    if not alive:
        writer.close()
    try:
        os.chmod(folder, 0o500)
        command = [*unprivileged(), sys.executable, "-c", READ_THERE, str(folder)]
        environment = {**os.environ, "PYTHONPATH": f"{LIB}{os.pathsep}{TESTS}"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    finally:
        os.chmod(folder, 0o700)
        writer.close()
    assert done.stdout.splitlines() == ["False 3 3", "[]", "refused True"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """A file where the folder should be is told as such."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFullError):
        Journal.open(str(tmp_path / "file" / "store"))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (sqlite3.OperationalError("database or disk is full"), StoreFullError),
        (sqlite3.OperationalError("attempt to write a readonly database"), StoreFullError),
        (sqlite3.OperationalError("disk I/O error"), StoreFullError),
        (sqlite3.DatabaseError("database disk image is malformed"), StoreDamagedError),
        (sqlite3.DatabaseError("file is not a database"), StoreDamagedError),
        (sqlite3.OperationalError("database is locked"), VectorMemoryError),
        (sqlite3.IntegrityError("NOT NULL constraint failed"), BadInputError),
    ],
)
def test_errors_are_told_in_our_words(error: sqlite3.Error, kind: type[VectorMemoryError]) -> None:
    """Every expected error of SQLite's becomes one of ours, with a hint; others stay bugs."""
    told = translate(error, "/x")
    assert type(told) is kind
    assert isinstance(told, VectorMemoryError)
    assert told.hint
    bug = sqlite3.ProgrammingError("wrong number of bindings")
    assert translate(bug, "/x") is bug


def _second(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE memories ADD COLUMN mood TEXT NOT NULL DEFAULT ''")
    connection.execute("UPDATE memories SET mood = 'calm'")


def _broken(connection: sqlite3.Connection) -> None:
    _second(connection)
    raise ValueError("half way")


def upgrade(path: Path, *more: Migration) -> tuple[int, list[str]]:
    """Run the migrations with some more; return the version and the columns of memories."""
    connection = open_writer(str(path), "FULL")
    try:
        migrate(connection, (*schema.MIGRATIONS, *more), str(path))
    finally:
        result = version_of(connection), columns(connection)
        connection.close()
    return result


def columns(connection: sqlite3.Connection) -> list[str]:
    return [row[1] for row in connection.execute("PRAGMA table_info(memories)")]


def test_migrations_run_once_and_in_order(tmp_path: Path) -> None:
    """From an empty file to the newest version, and from the current one further, once."""
    path = tmp_path / "journal.db"
    create_file(str(path))
    assert upgrade(path)[0] == schema.SCHEMA_VERSION
    version, found = upgrade(path, _second)
    assert (version, found.count("mood")) == (schema.SCHEMA_VERSION + 1, 1)
    assert upgrade(path, _second) == (version, found)


def test_memories_survive_a_migration(tmp_path: Path) -> None:
    """What was stored before is there, changed as the migration says."""
    path = make(tmp_path)
    upgrade(path, _second)
    raw = sqlite3.connect(path)
    try:
        assert raw.execute("SELECT count(*), min(mood) FROM memories").fetchone() == (3, "calm")
    finally:
        raw.close()


def test_a_damaged_row_keeps_no_store_closed(tmp_path: Path) -> None:
    """Terms are made anew of all rows but one that cannot be read."""
    path = make(tmp_path)
    raw = sqlite3.connect(path)
    try:
        raw.execute("UPDATE memories SET lexical = 'kei'")
        raw.execute("UPDATE memories SET tags = '[' WHERE seq = 1")
        raw.execute("PRAGMA user_version = 4")
        raw.commit()
        assert upgrade(path)[0] == schema.SCHEMA_VERSION
        found = [
            row[0] == "kei" for row in raw.execute("SELECT lexical FROM memories ORDER BY seq")
        ]
        assert found == [True, False, False]
    finally:
        raw.close()


def test_a_failing_migration_changes_nothing(tmp_path: Path) -> None:
    """An error in a migration leaves the version and the tables as they were."""
    path = make(tmp_path)
    with pytest.raises(ValueError, match="half way"):
        upgrade(path, _broken)
    assert upgrade(path) == (schema.SCHEMA_VERSION, upgrade(path)[1])
    assert "mood" not in upgrade(path)[1]


DIE_HALF_WAY = """
import os, signal, sys
from vector_memory.journal import schema
from vector_memory.journal.connection import open_writer
from vector_memory.journal.opening import migrate

def second(connection):
    connection.execute("ALTER TABLE memories ADD COLUMN mood TEXT NOT NULL DEFAULT ''")
    connection.execute("UPDATE memories SET mood = 'calm'")
    os.kill(os.getpid(), signal.SIGKILL)

migrate(open_writer(sys.argv[1], "FULL"), (*schema.MIGRATIONS, second), sys.argv[1])
"""


def test_a_migration_killed_half_way_starts_over(tmp_path: Path) -> None:
    """After kill -9 in a migration the old version stands, and migrating again completes it."""
    path = make(tmp_path)
    process = child(DIE_HALF_WAY, str(path))
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    journal = Journal.open(str(tmp_path))
    try:
        assert journal.count() == 3
        assert journal.check(read_data=True) == []
    finally:
        journal.close()
    version, found = upgrade(path, _second)
    assert (version, found.count("mood")) == (schema.SCHEMA_VERSION + 1, 1)


def test_opening_twice_at_once_migrates_once(tmp_path: Path) -> None:
    """Two processes that make the same store both get it, with one id."""
    code = (
        "import sys; from vector_memory.journal.journal import Journal\n"
        "one = Journal.open(sys.argv[1]); print(one.store_id); one.close()"
    )
    processes = [child(code, str(tmp_path)) for _ in range(2)]
    found = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert len(found) == 1


def test_times_before_1970_are_times(tmp_path: Path) -> None:
    """A memory of long ago sorts before others and keeps its time."""
    journal = Journal.open(str(tmp_path))
    try:
        old = START.replace(year=1950)
        journal.add([memory(1), memory(2, created_at=old)])
        assert [one.id for one in journal.recent(Scope(), 9)] == ["m0001", "m0002"]
        assert journal.get("m0002").created_at == old
        assert microseconds(old) < 0
    finally:
        journal.close()
