"""`state.db`: cursors, what was shown, trust, sessions, counters, the audit log."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from journal_samples import START

from vector_memory.errors import StoreDamagedError
from vector_memory.journal.state import State


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    one = State.open(str(tmp_path / "state.db"), clock=lambda: START)
    yield one
    one.close()


def reopen(tmp_path: Path, days: int = 0) -> State:
    return State.open(str(tmp_path / "state.db"), clock=lambda: START + timedelta(days))


def test_the_file_is_private(state: State, tmp_path: Path) -> None:
    """Only its owner may read it."""
    assert (tmp_path / "state.db").stat().st_mode & 0o777 == 0o600


def test_cursors(state: State) -> None:
    """A cursor is kept whole and replaced."""
    assert state.cursor("/t") is None
    state.set_cursor("/t", {"offset": 1})
    state.set_cursor("/t", {"offset": 2, "uuid": "é"})
    assert state.cursor("/t") == {"offset": 2, "uuid": "é"}
    assert state.cursors() == {"/t": {"offset": 2, "uuid": "é"}}


def test_no_path_of_a_forgotten_session_stays(state: State) -> None:
    """However deep in its folder a subagent's transcript lies; other folders may be called as it is."""
    home = "/home/s-1/work/projects/s-1/.claude/projects"
    own = ["s-1.jsonl", "s-1/agent-a.jsonl", "s-1/subagents/agent-b.jsonl"]
    own.append("s-1/subagents/workflows/wf_1/agent-c.jsonl")
    gone = [*(f"{home}/-app/{path}" for path in own), "/copy/s-1/subagents/wf_1/agent-d.jsonl"]
    others = ["-app/s-2.jsonl", "-app/s-2/subagents/agent-a.jsonl", "s-1/s-3.jsonl"]
    others += ["-app/s-2/subagents/s-1/agent-e.jsonl", "-app/agent-s-1.jsonl"]
    kept = ["/copy/s-1/s-4.jsonl", *(f"{home}/{path}" for path in others)]
    state.set_cursors(dict.fromkeys([*gone, *kept], {}))
    state.forget_sessions(["s-1"])
    assert sorted(state.cursors()) == sorted(kept)


def test_shown(state: State) -> None:
    """Each session has its own; showing again is no error; clearing is for one session."""
    state.add_shown("s", ["a", "b"], START)
    state.add_shown("s", ["b", "c"], START)
    state.add_shown("t", ["a"], START)
    assert state.shown_ids("s") == {"a", "b", "c"}
    state.clear_shown("s")
    assert (state.shown_ids("s"), state.shown_ids("t")) == (set(), {"a"})


def test_old_rows_are_swept(state: State, tmp_path: Path) -> None:
    """What was shown over 30 days ago is gone after opening; what is newer stays."""
    state.add_shown("s", ["old"], START)
    state.add_shown("s", ["new"], START + timedelta(days=5))
    state.remember_session("s", "p", "/r", START)
    state.close()
    again = reopen(tmp_path, days=31)
    assert again.shown_ids("s") == {"new"}
    assert again.latest_session("p") == "s"
    again.close()
    later = reopen(tmp_path, days=91)
    assert later.latest_session("p") == ""
    later.close()


def test_trust_is_by_real_path(state: State, tmp_path: Path) -> None:
    """A link to a trusted folder is trusted; another folder is not; trust can be taken back."""
    folder = tmp_path / "f"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    assert not state.trusted(str(folder))
    state.trust(str(tmp_path / "link"))
    assert state.trusted(str(folder))
    assert not state.trusted(str(tmp_path))
    state.untrust(str(folder))
    assert not state.trusted(str(tmp_path / "link"))


def test_counters_add_up(state: State, tmp_path: Path) -> None:
    """Counts from many threads, written or not, are all there, after reopening too."""

    def work() -> None:
        for n in range(200):
            state.count("hits")
            if n % 50 == 0:
                state.flush()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state.count("misses", 5)
    assert state.counters() == {"hits": 800, "misses": 5}
    state.close()
    again = reopen(tmp_path)
    assert again.counters() == {"hits": 800, "misses": 5}
    again.close()


def test_the_audit_log_is_read_back(state: State) -> None:
    """Newest first, at most k, since a time."""
    for n in range(3):
        state.audit("forget", "cli", [f"m{n}"], {"why": n, "at": START})
    entries = state.audit_entries(2)
    assert [entry.ids for entry in entries] == [["m2"], ["m1"]]
    assert entries[0].at == START
    assert entries[0].detail == {"why": 2, "at": str(START)}
    assert len(state.audit_entries(9, since=START)) == 3
    assert state.audit_entries(9, since=START + timedelta(1)) == []


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE audit SET actor = 'someone' WHERE number = 2",
        "UPDATE audit SET at = at + 1 WHERE number = 3",
        "DELETE FROM audit WHERE number = 1",
        "DELETE FROM audit WHERE number = 2",
        "DELETE FROM audit WHERE number = 3",
        "DELETE FROM audit",
    ],
)
def test_tampering_with_the_audit_log_shows(state: State, tmp_path: Path, tampering: str) -> None:
    """A changed, missing or cut-off entry breaks the chain."""
    assert not state.audit_break()
    for n in range(3):
        state.audit("store", "hook", [f"m{n}"], {})
    assert not state.audit_break()
    raw = sqlite3.connect(tmp_path / "state.db")
    raw.execute(tampering)
    raw.commit()
    raw.close()
    assert state.audit_break()


def test_a_damaged_file_is_set_aside(tmp_path: Path) -> None:
    """What is no database makes room for a new one; `set_aside` tells of it."""
    (tmp_path / "state.db").write_bytes(b"junk" * 1000)
    state = reopen(tmp_path)
    assert [one["kept"] for one in state.set_aside()] == [0]
    assert len(list(tmp_path.glob("state.db.damaged-*/state.db"))) == 1
    assert state.check(read_data=True) == []
    state.close()


def test_what_is_readable_of_a_damaged_file_is_kept(tmp_path: Path) -> None:
    """It is mended while it is open, too, where a check finds it. A page that makes no sense costs its own rows; trust in folders and cursors stay."""
    state = reopen(tmp_path)
    state.trust(str(tmp_path))
    state.set_cursors({f"/t/{n}.jsonl": {"at": n} for n in range(400)})
    for n in range(400):
        state.audit("remember", "user", [f"m{n}"], {"n": n})
    state.close()
    path = tmp_path / "state.db"
    content = path.read_bytes()
    page = content.index(b'{"n":300}') // 4096
    state = reopen(tmp_path)
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(bytes(4096))
    found = state.check(read_data=True)
    assert found
    state.mend(found[0])
    assert state.check(read_data=True) == []
    assert state.trusted(str(tmp_path))
    assert len(state.cursors()) == 400
    assert 0 < len(state.audit_entries(1_000)) < 400
    state.trust("/another")
    state.close()
    again = reopen(tmp_path)
    assert again.trusted("/another")
    assert len(again.set_aside()) == 1
    again.close()


def full_state(folder: Path) -> State:
    """A state with a few rows in every table."""
    state = reopen(folder)
    state.trust("/trusted")
    state.set_cursor("/t/1.jsonl", {"at": 1})
    state.add_shown("s1", ["m1"], START)
    state.count("stored", 3)
    state.add_due("topics", "s1")
    state.audit("remember", "user", ["m1"], {})
    state.flush()
    values = {"TEXT": "{}", "INTEGER": 1, "BLOB": b"a", "REAL": 1.5}
    with state._connections.writing() as connection:
        for table in tables(connection):
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            if not connection.execute(f"SELECT 1 FROM {table}").fetchone():
                row = [2**52 if name == "at" else values[type] for _, name, type, *_ in columns]
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    return state


def tables(connection: sqlite3.Connection) -> list[str]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    return [name for (name,) in connection.execute(sql)]


def contents(state: State) -> dict[str, list[tuple[object, ...]]]:
    with state._connections.reading() as connection:
        return {
            table: connection.execute(f"SELECT * FROM {table}").fetchall()
            for table in tables(connection)
        }


def test_a_page_that_is_zeroed_costs_its_own_table_alone(tmp_path: Path) -> None:
    """Whichever it is, the next start mends the file: the first one, which says where all tables are, costs nothing."""
    state = full_state(tmp_path)
    before = contents(state)
    state.close()
    path = tmp_path / "state.db"
    whole = path.read_bytes()
    assert len(whole) // 4096 > len(before)
    for page in range(len(whole) // 4096):
        folder = tmp_path / str(page)
        folder.mkdir()
        damaged = whole[: page * 4096] + bytes(4096) + whole[(page + 1) * 4096 :]
        (folder / "state.db").write_bytes(damaged)
        mended = reopen(folder)
        after = contents(mended)
        missing = {table for table in before if after[table] != before[table]}
        assert len(missing) <= (page > 0)
        assert mended.check(read_data=True) == []
        assert len(mended.set_aside()) == 1, "and said so"
        mended.trust("/another")
        mended.close()


def test_what_a_state_that_is_cut_off_still_has_is_kept(tmp_path: Path) -> None:
    """SQLite itself reads nothing of a file that is shorter than its header says."""
    state = full_state(tmp_path)
    for number in range(400):
        state.audit("remember", "user", [f"m{number}"], {})
    before = contents(state)
    state.close()
    path = tmp_path / "state.db"
    path.write_bytes(path.read_bytes()[: -5 * 4096])
    state = reopen(tmp_path)
    after = contents(state)
    assert 0 < len(after.pop("audit")) < len(before.pop("audit"))
    assert after == before
    state.close()


def test_rows_below_a_root_that_is_gone_are_kept(tmp_path: Path) -> None:
    """A table of many pages is read from its pages, where SQLite finds no way to them."""
    state = reopen(tmp_path)
    for number in range(400):
        state.audit("remember", "user", [f"m{number}"], {"n": number})
        state.add_shown("s1", [f"m{number}"], START)
    before = contents(state)
    with state._connections.reading() as connection:
        # The rows between two pages of `shown` stand in its root alone, and in its index.
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master").fetchall())
    state.close()
    path = tmp_path / "state.db"
    content = bytearray(path.read_bytes())
    for table in ("audit", "shown"):
        content[(roots[table] - 1) * 4096 : roots[table] * 4096] = bytes(4096)
    path.write_bytes(content)
    state = reopen(tmp_path)
    assert contents(state) == before
    assert not state.audit_break()
    state.close()


def lose_root(folder: Path, *names: str) -> None:
    """Zero the pages from which the ways to all rows of tables begin."""
    path = folder / "state.db"
    with sqlite3.connect(path) as connection:
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master").fetchall())
    connection.close()
    content = bytearray(path.read_bytes())
    for name in names:
        content[(roots[name] - 1) * 4096 : roots[name] * 4096] = bytes(4096)
    path.write_bytes(content)


def test_what_two_tables_could_hold_is_told_apart_by_what_it_says(tmp_path: Path) -> None:
    """Cursors from what is due, a folder that was trusted before its store had an id from a counter."""
    state = reopen(tmp_path)
    state.set_cursors({f"/t/{n}.jsonl": {"at": n} for n in range(400)}, [("lessons", "/t/1.jsonl")])
    for number in range(900):
        state.count(f"stored_{number}")
    state.close()
    with sqlite3.connect(tmp_path / "state.db") as connection:
        connection.execute("ALTER TABLE trusted DROP COLUMN store_id")
        connection.executemany("INSERT INTO trusted VALUES (?, 1)", [("/old",), ("/older",)])
        connection.execute("ALTER TABLE trusted ADD COLUMN store_id TEXT NOT NULL DEFAULT ''")
    connection.close()
    # The first page says where all tables are.
    for name in ("cursors", "counters", "sqlite_schema"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "state.db").write_bytes((tmp_path / "state.db").read_bytes())
        if name == "sqlite_schema":
            with (folder / "state.db").open("r+b") as file:
                file.write(bytes(4096))
        else:
            lose_root(folder, name)
        state = reopen(folder)
        # The rows between two pages stand in the root alone.
        assert len(state.cursors()) >= 380
        assert set(state.counters()) <= {f"stored_{number}" for number in range(900)}
        assert len(state.counters()) >= 880
        assert state.trusted_folders() == ["/old", "/older"]
        assert state.due_keys("lessons") == ["/t/1.jsonl"]
        state.close()


def test_no_row_of_a_state_that_is_cut_off_is_made_up_of_two(tmp_path: Path) -> None:
    """Where the rest of a row is missing, no other one's takes its place: nothing would tell."""
    state = reopen(tmp_path)
    for number in range(40):
        words = f"part {number:02} says so. " * 500
        state.put_record("contract", f"{number:02}", {"text": words[: 4_000 + number * 90]})
    before = state.records("contract")
    state.close()
    whole = (tmp_path / "state.db").read_bytes()
    pages = len(whole) // 4096
    kept = []
    for count in range(pages - 20, pages):
        folder = tmp_path / str(count)
        folder.mkdir()
        (folder / "state.db").write_bytes(whole[: count * 4096])
        state = reopen(folder)
        after = state.records("contract")
        assert after.items() <= before.items()
        kept.append(len(after))
        state.close()
    assert 0 < min(kept) < max(kept) < 40


def test_rows_that_nobody_can_read_are_found_by_a_check(tmp_path: Path) -> None:
    """SQLite finds them sound: text that is no UTF-8, and what should be JSON and is none. All others stay."""
    state = reopen(tmp_path)
    state.put_record("contract", "bytes", {"word": "AAAABBBB"})
    state.put_record("contract", "json", {"word": "CCCCDDDD"})
    state.put_record("contract", "whole", {"word": "é"})
    state.set_cursor("/t", {"at": 1})
    state.close()
    path = tmp_path / "state.db"
    for good, bad in ((b'"CCCCDDDD"', b'"CCCCDDDD,'), (b"AAAABBBB", b"AAAA\xffBBB")):
        path.write_bytes(path.read_bytes().replace(good, bad))
        state = reopen(tmp_path)
        (problem,) = state.check(read_data=True)
        if bad.startswith(b"AAAA"):
            with pytest.raises(StoreDamagedError) as raised:
                state.records("contract")
            assert "AAAA" not in raised.value.message
        state.mend(problem)
        assert state.check(read_data=True) == []
        assert state.cursor("/t") == {"at": 1}
        assert state.records("contract")["whole"] == {"word": "é"}
        state.close()
    assert list(reopen(tmp_path).records("contract")) == ["whole"]


@pytest.mark.parametrize("table", ["trusted", "due", "jobs", "counters"])
def test_what_a_daemon_needs_for_any_answer_is_read_at_its_start(
    tmp_path: Path, table: str
) -> None:
    """A check is an answer, too: it could not be asked for."""
    state = full_state(tmp_path)
    before = contents(state)
    state.close()
    with sqlite3.connect(tmp_path / "state.db") as connection:
        key = connection.execute(f"PRAGMA table_info({table})").fetchone()[1]
        connection.execute(f"UPDATE {table} SET {key} = CAST(x'ff41' AS TEXT)")
    connection.close()
    state = reopen(tmp_path)
    assert contents(state) == {**before, table: []}
    (noted,) = state.set_aside()
    assert "Could not decode" in str(noted["why"])
    assert "text" not in str(noted["why"]), "what is stored there is no reason"
    state.close()


def test_important_things_wait_for_the_disk(state: State) -> None:
    """Cursors, trust and audit are committed with a sync, and the rest goes back to none."""
    seen: list[str] = []
    with state._connections.maintaining() as connection:
        connection.set_trace_callback(seen.append)
    state.add_shown("s", ["a"], START)
    assert not any("synchronous" in sql for sql in seen)
    state.set_cursor("/t", {})
    order = [sql for sql in seen if "synchronous" in sql or sql == "COMMIT"]
    assert order == [
        "COMMIT",
        "PRAGMA synchronous = FULL",
        "COMMIT",
        "PRAGMA synchronous = NORMAL",
    ]


def test_what_is_due(state: State, tmp_path: Path) -> None:
    """It is noted with the cursors, once each, and goes when it is done."""
    assert not state.has_due()
    state.set_cursors({"/t": {"offset": 1}}, [("topics", "b"), ("topics", "a"), ("summary", "b")])
    state.add_due("topics", "a")
    assert state.due_keys("topics") == ["a", "b"]
    assert state.due_keys("topics", 1) == ["a"]
    assert (state.is_due("summary", "b"), state.is_due("summary", "a")) == (True, False)
    state.mark_done("topics", ["a", "b", "unknown"])
    assert (state.due_keys("topics"), state.due_keys("summary")) == ([], ["b"])
    state.close()
    again = reopen(tmp_path)
    assert again.has_due()
    again.mark_done("summary", ["b"])
    assert not again.has_due()
    again.close()


def test_a_state_of_the_first_version_is_taken_over(tmp_path: Path) -> None:
    """Its cursors and trust stay."""
    state = reopen(tmp_path)
    state.set_cursor("/t", {"offset": 1})
    state.trust(str(tmp_path))
    state.close()
    with sqlite3.connect(tmp_path / "state.db") as connection:
        connection.execute("DROP TABLE due")
        connection.execute("DROP TABLE purged")
        connection.execute("DROP TABLE use_labels")
        connection.execute("DROP TABLE jobs")
        connection.execute("DROP TABLE followed")
        connection.execute("DROP TABLE records")
        connection.execute("ALTER TABLE trusted DROP COLUMN store_id")
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    again = reopen(tmp_path)
    assert again.cursor("/t") == {"offset": 1}
    assert again.trusted(str(tmp_path))
    again.add_due("topics", "s")
    assert again.due_keys("topics") == ["s"]
    again.close()
