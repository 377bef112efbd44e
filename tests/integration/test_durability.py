"""The daemon when the world is against it: kills, a full disk, folders that can only be read, clocks that
jump, files of a newer version, and the way back from a backup."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from daemon_rig import Rig, alive
from journal_samples import memory
from service_house import ServiceHouse, door
from talk import transcript

from vector_memory.cli import upkeep
from vector_memory.cli.answers import Row
from vector_memory.cli.checks import WARN, stores
from vector_memory.cli.main import main
from vector_memory.client import spool
from vector_memory.config import Settings
from vector_memory.daemon.app import App
from vector_memory.errors import DaemonUnavailableError, StoreDamagedError, StoreFullError
from vector_memory.journal import schema, state_schema, writes
from vector_memory.journal.connection import create_file, open_writer
from vector_memory.journal.journal import Journal
from vector_memory.journal.opening import Migration, migrate
from vector_memory.journal.state import State
from vector_memory.model import Scope
from vector_memory.service.base.disk_reserve import ENOUGH, Reserve
from vector_memory.system.paths import Home

TESTS = Path(__file__).parents[1]
LIB = TESTS.parent / "lib"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path / "home-of-data")
    yield made
    with contextlib.suppress(DaemonUnavailableError):
        made.daemon.stop()


def say(rig: Rig, text: str) -> str:
    return str(rig.daemon.ask("remember", {"text": text, "global": True, "wait": False})["id"])


def found(rig: Rig, query: str) -> list[str]:
    answer = rig.daemon.ask("recall", {"query": query, "global": True})
    return [hit["id"] for hit in answer["hits"]]


def hook(home: Home, event: str, **fields: Any) -> bytes:
    """Run one hook as a process; return what it printed. It exits with 0, or this raises."""
    code = (
        f"import sys; sys.path.insert(0, {str(LIB)!r})\n"
        f"from vector_memory.client.hook import main; main({event!r}, {home.root!r})"
    )
    message = {"hook_event_name": event, "session_id": "s1", "cwd": "/", **fields}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        input=json.dumps(message).encode(),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout


def in_time(rig: Rig, event: str, **fields: Any) -> bytes:
    """Return what a hook prints that ends before its time is over: on a busy machine perhaps not the first."""

    def tried() -> tuple[bytes, ...]:
        with contextlib.suppress(subprocess.CalledProcessError):
            return (hook(rig.home, event, session_id=os.urandom(4).hex(), **fields),)
        return ()

    return bytes(rig.until(tried, f"a hook of {event} within its time")[0])


# -- kills ------------------------------------------------------------------------------------------


def test_kills_lose_nothing_and_double_nothing(rig: Rig) -> None:
    """Killed while it stores, rebuilds and comes up: what was acknowledged is there once."""
    chance = random.Random(2)
    known: dict[str, str] = {}

    def store() -> None:
        text = f"token{len(known)} is kept"
        request = {"text": text, "global": True, "wait": False}
        known[text] = rig.daemon.ask("remember", request, start=False)["id"]

    for round in range(4):
        pid = rig.daemon.start()["pid"]
        for _ in range(chance.randrange(5, 25)):
            store()
        killer = threading.Timer(chance.uniform(0, 0.05), os.kill, (pid, signal.SIGKILL))
        killer.start()
        with contextlib.suppress(DaemonUnavailableError):
            if round % 2:
                for _ in rig.daemon.stream("rebuild", {}, 20, start=False):
                    pass
            while True:
                store()
        killer.join()
        rig.until(lambda pid=pid: not alive(pid), "its end")
    rig.daemon.start()
    assert rig.daemon.ask("wait", {"timeout_s": 60})["complete"]
    for _, answer in rig.daemon.stream("check", {"read_data": True}):
        checked = answer
    assert checked["problems"] == []
    rig.daemon.stop()
    journal = Journal.open(rig.home.global_store)
    there = [(str(one.text), one.id) for one in journal.iter_memories(Scope())]
    journal.close()
    assert len({text for text, _ in there}) == len(there)
    assert known.items() <= dict(there).items()
    assert len(known) >= 20


# -- a full disk ------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path: Path, size: int = 1 << 20) -> None:
    """Write until nothing more fits."""
    with path.open("ab", buffering=0) as file:
        while size:
            try:
                file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC
                size //= 2


def test_a_full_disk_is_told_and_got_over(small_disk: Path) -> None:
    """Storing is refused with a hint; recall and hooks go on; forgetting works, by the reserve; and with
    space again everything is as before, by itself."""
    rig = Rig(small_disk / "data")
    try:
        first = say(rig, "The ledger uses WAL mode")
        second = say(rig, "Deploys go through staging")
        rig.until(lambda: os.path.exists(rig.home.reserve), "the reserve")
        rig.state("full")
        rig.daemon.ask("wait", {"timeout_s": 60})
        fill(small_disk / "filler")
        with pytest.raises(StoreFullError) as caught:
            for n in range(20_000):
                say(rig, f"token{n} " + "much to say " * 900)
        assert caught.value.hint
        fill(small_disk / "filler", 1 << 12)
        assert found(rig, "ledger WAL mode")[:1] == [first]
        transcript = small_disk / "none.jsonl"
        assert in_time(rig, "Stop", transcript_path=str(transcript)) == b""
        in_time(rig, "UserPromptSubmit", prompt="Which mode does the ledger use?")
        assert rig.daemon.ask("forget", {"ids": [second]})["forgotten"] == 1
        assert not os.path.exists(rig.home.reserve)
        (small_disk / "filler").unlink()
        third = say(rig, "There is room again")
        rig.until(lambda: os.path.exists(rig.home.reserve), "the reserve")
        assert rig.daemon.ask("wait", {"timeout_s": 60})["complete"]
        assert found(rig, "room again")[:1] == [third]
        assert found(rig, "deploys staging") == [] or second not in found(rig, "deploys staging")
        assert rig.daemon.stop()
    finally:
        with contextlib.suppress(DaemonUnavailableError):
            rig.daemon.stop()


@pytest.mark.parametrize("has_reserve", [True, False])
def test_a_disk_that_fills_while_no_daemon_runs(
    small_disk: Path, tmp_path: Path, has_reserve: bool
) -> None:
    """One that ended in good order left no log beside its files, and to make them again takes space: the reserve is
    given up for it, or for what a hook has to leave where it comes first. Without one everybody is told why, and
    finds by words."""
    rig = Rig(small_disk / "data")
    asked = {"query": "readers never block", "all_projects": True}
    path = str(transcript(tmp_path, [("Which journal mode?", "WAL, since readers never block.")]))
    try:
        first = say(rig, "The ledger uses WAL mode")
        second = say(rig, "Deploys go through staging")
        rig.until(lambda: os.path.exists(rig.home.reserve), "the reserve")
        rig.daemon.ask("wait", {"timeout_s": 60})
        rig.daemon.stop()
        if not has_reserve:
            os.unlink(rig.home.reserve)
        fill(small_disk / "filler", 1 << 12)
        if has_reserve:
            for number, event in enumerate(("Stop", "SessionEnd"), 1):
                with contextlib.suppress(subprocess.CalledProcessError):
                    hook(rig.home, event, transcript_path=path)
                if number == 1:
                    rig.until(lambda: not os.path.exists(rig.home.reserve), "what is given up")
            assert found(rig, "ledger WAL mode")[:1] == [first]
            assert rig.daemon.ask("forget", {"ids": [second]})["forgotten"] == 1
        else:
            told = rig.until(lambda: in_time(rig, "SessionStart"), "it")
            assert b" is full" in told
            status = rig.daemon.start()
            assert (status["state"], "disk is full" in status["error"]) == ("shut", True)
            with pytest.raises(StoreFullError, match="disk is full"):
                rig.daemon.ask("forget", {"ids": [second]})
            words = "Which mode does the ledger use: WAL?"
            for _ in range(2):
                # By a daemon that has no store, and without one.
                told = rig.until(
                    lambda: in_time(rig, "UserPromptSubmit", prompt=words), "what is found by words"
                )
                assert b"The ledger uses WAL mode" in told
        (small_disk / "filler").unlink()
        if has_reserve:
            rig.until(lambda: rig.daemon.ask("recall", asked)["hits"], "the turn")
            rig.until(lambda: not spool.read_spool(rig.home), "the end of the spool")
        rig.until(lambda: rig.daemon.start()["state"] == "full", "a daemon with a store")
        rig.until(lambda: os.path.exists(rig.home.reserve), "the reserve")
    finally:
        with contextlib.suppress(DaemonUnavailableError):
            rig.daemon.stop()


def test_the_reserve_is_given_up_once_and_made_again(tmp_path: Path) -> None:
    """What frees space is tried again after it; it comes back where there is space, and says so only
    when something had failed."""
    now = [0.0]
    reserve = Reserve(str(tmp_path / "reserve"), 4_096, lambda: now[0])
    assert reserve.keep() is False
    assert (tmp_path / "reserve").stat().st_size >= 4_096
    tries: list[int] = []

    def work() -> str:
        tries.append(1)
        if len(tries) < 2:
            raise StoreFullError("The disk is full.")
        return "done"

    assert reserve.spare(work) == "done"
    assert not (tmp_path / "reserve").exists()
    tries.clear()
    with pytest.raises(StoreFullError):
        reserve.spare(work)
    assert reserve.keep() is False, "it looks every few seconds only"
    now[0] += 60
    assert reserve.keep() is True
    now[0] += 60
    assert reserve.keep() is False
    assert (tmp_path / "reserve").exists()


@pytest.mark.parametrize(
    ("error", "is_given_up"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True), (OSError(errno.EDQUOT, "Over quota"), True),
        (StoreFullError("state.db cannot be written: database or disk is full."), True),
        (IsADirectoryError(errno.EISDIR, "Is a directory"), False), (PermissionError(errno.EACCES, "No"), False),
        (StoreFullError("state.db cannot be written: unable to open database file."), False),
    ],
)  # fmt: skip
def test_what_needs_no_room_leaves_the_reserve(
    tmp_path: Path, error: Exception, is_given_up: bool
) -> None:
    reserve = Reserve(str(tmp_path / "reserve"), 4_096)
    assert reserve.keep() is False
    tries: list[int] = []

    def work() -> None:
        tries.append(1)
        raise error

    with pytest.raises(type(error)):
        reserve.spare(work)
    assert (tmp_path / "reserve").exists() is not is_given_up
    assert len(tries) == 1 + is_given_up


def test_no_reserve_is_made_where_there_is_little_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must not be what fills the disk; and a part of it is none."""
    reserve = Reserve(str(tmp_path / "reserve"), 1 << 20)
    monkeypatch.setattr(Reserve, "_free", lambda self: (ENOUGH << 20) - 1)
    assert reserve.keep() is False
    assert not (tmp_path / "reserve").exists()
    other = Reserve(str(tmp_path / "none" / "reserve"), 1 << 20)
    monkeypatch.setattr(Reserve, "_free", lambda self: 1 << 40)
    assert other.keep() is False


# -- what can only be read --------------------------------------------------------------------------


def unprivileged() -> list[str]:
    """Return what to put before a command so that file modes hold for it, as root too."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root is not kept from writing here")
    drop = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}"]


READ_ONLY = """
import logging, sys, time
from pathlib import Path
sys.path[:0] = {paths!r}
from service_house import ServiceHouse, door
from vector_memory.daemon.keeper import Keeper
from vector_memory.errors import StoreFullError
from vector_memory.store.index import Index
from vector_memory.daemon.app import open_index
told = []
logging.getLogger("vector_memory").addHandler(logging.StreamHandler(sys.stdout))
house = ServiceHouse(Path(sys.argv[1]))
store = house.ctx.all_shelves()[1]
keeper = Keeper(house.ctx, open_index, lambda: 9.0, lambda where, error: told.append((where, error)))
for _ in range(3):
    keeper._attach_all()
    keeper._load_lance_all()
    keeper._update_index(store)
    keeper._tidy()
asked = {{"query": "ledger WAL", "project": sys.argv[2]}}
print("hits", len(door(house.ctx, "recall", asked)["hits"]))
try:
    door(house.ctx, "remember", {{"text": "Readers of the ledger never block", "project": sys.argv[2]}})
except StoreFullError as error:
    print("refused", bool(error.hint))
print("failed", told)
"""


def test_a_store_that_can_only_be_read_is_recalled_from(tmp_path: Path) -> None:
    """With one notice, and no attempt after the other; storing there is refused with a hint."""
    house = ServiceHouse(tmp_path)
    project = tmp_path / "ledger"
    project.mkdir()

    door(house.ctx, "init", {"dir": str(project)})
    house.remember("The ledger uses WAL mode", project)
    house.close()
    store = project / ".memory" / "db"
    code = READ_ONLY.format(paths=[str(LIB), str(TESTS)])
    store.chmod(0o500)
    try:
        done = subprocess.run(
            [*unprivileged(), sys.executable, "-c", code, str(tmp_path), str(project)],
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        store.chmod(0o700)
    lines = done.stdout.splitlines()
    assert [line for line in lines if "can only be read" in line and line.startswith("/")] == [
        f"{store} can only be read: nothing is stored or indexed there"
    ]
    assert [line for line in lines if line.split()[0] in ("hits", "refused", "failed")] == [
        "hits 1",
        "refused True",
        "failed []",
    ]


def test_a_data_home_that_can_only_be_read_answers(tmp_path: Path, rig: Rig) -> None:
    """No daemon can run there: the command line and the hook find by words, and say so; the hook exits
    with 0 whatever it cannot write."""
    one = say(rig, "The ledger uses WAL mode since readers never block")
    rig.daemon.stop()
    folders = [rig.home.root, rig.home.run, rig.home.logs, rig.home.global_store, rig.home.spool]
    for folder in folders:
        os.chmod(folder, 0o500)
    try:
        code = (
            f"import sys; sys.path.insert(0, {str(LIB)!r})\n"
            "from vector_memory.cli.main import main\nsys.exit(main())"
        )
        environment = {**os.environ, "VECTOR_MEMORY_HOME": rig.home.root}
        command = [*unprivileged(), sys.executable, "-c", code, "recall", "ledger WAL", "--json"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert ([hit["id"] for hit in answer["hits"]], answer["mode"]) == ([one], "offline")
        assert "No daemon can be started" in answer["note"]
        command[-3:] = ["tool", "memory_recall", "--json", '{"query": "ledger WAL"}']
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        answer = json.loads(done.stdout)
        assert [hit["id"] for hit in answer["memories"]] == [one[:12]], done.stderr
        assert "can only be read" in answer["note"]
        for event, told in (("Stop", ""), ("SessionStart", "it can only be read")):
            code = (
                f"import sys; sys.path.insert(0, {str(LIB)!r})\nfrom vector_memory.client.hook import main\n"
                f"main({event!r}, {rig.home.root!r})"
            )
            done = subprocess.run(
                [*unprivileged(), sys.executable, "-c", code],
                input="{}",
                capture_output=True,
                text=True,
            )
            assert (done.returncode, done.stderr) == (0, "")
            assert told in done.stdout if told else not done.stdout
        # Nothing could be spooled.
        assert "`vector-memory backfill --all` reads what" in done.stdout
    finally:
        for folder in folders:
            os.chmod(folder, 0o700)
    # What the hook began to start may come up only now that it can: it finds this one, or is it.
    rig.daemon.start()


def test_a_start_says_that_a_folder_of_the_data_home_is_a_link(rig: Rig, tmp_path: Path) -> None:
    """No daemon starts where somebody else may have put the socket's folder."""
    os.rename(rig.home.run, tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", rig.home.run)
    told = rig.until(lambda: in_time(rig, "SessionStart"), "it")
    assert b"No store can be opened now" in told
    assert b"is a link" in told
    assert b"meanwhile is read once that is mended" in told


# -- clocks -----------------------------------------------------------------------------------------

YEARS = timedelta(days=365 * 20)
NOW = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)


def test_a_clock_that_jumps_changes_no_order(tmp_path: Path) -> None:
    """Years ahead and back: sequence numbers rise, the index follows them, nothing is lost."""
    house = ServiceHouse(tmp_path)
    ids = []
    for n, jump in enumerate((YEARS, -2 * YEARS, YEARS, timedelta(0))):
        house.time += jump
        ids.append(house.remember(f"token{n} said at another time")["id"])
        house.ctx.state.audit("remember", "user", [ids[-1]], {})
    shelf = house.ctx.global_shelf()
    assert [one.id for one, _, _ in shelf.journal.changes(0, 10)] == ids
    assert shelf.index is not None
    assert shelf.index.reached() == shelf.journal.last_seq()
    assert not house.ctx.state.audit_break()
    assert shelf.journal.check(read_data=True) == shelf.index.check(read_data=True) == []

    for n, id in enumerate(ids):
        answer = door(house.ctx, "recall", {"query": f"token{n}", "global": True})
        assert [hit["id"] for hit in answer["hits"]][:1] == [id]
    house.close()


def test_a_clock_set_back_takes_no_trust_and_no_cursor(tmp_path: Path) -> None:
    """What is swept by its age is what may be told again; trust, cursors and the log stay."""
    path = str(tmp_path / "state.db")
    for at in (NOW, NOW + YEARS, NOW - YEARS, NOW):
        state = State.open(path, lambda at=at: at)  # type: ignore[misc]
        state.trust("/store")
        state.set_cursor("/t/1.jsonl", {"at": 1})
        state.add_shown("s1", [f"m{at.year}"], at)
        state.audit("remember", "user", [], {})
        assert not state.audit_break()
        assert state.trusted_folders() == ["/store"]
        assert state.shown_ids("s1") >= {f"m{at.year}"}
        state.close()


def test_a_claim_of_the_future_does_not_silence_a_hook(tmp_path: Path) -> None:
    """Made before the clock was set back, it is older than any event, not newer."""
    home = Home(str(tmp_path / "data")).make()
    assert spool.claim(home, b"a prompt")
    assert not spool.claim(home, b"a prompt")
    (claim,) = Path(home.claims).iterdir()
    future = time.time() + YEARS.total_seconds()
    os.utime(claim, (future, future))
    assert spool.claim(home, b"a prompt")


# -- earlier and later versions ---------------------------------------------------------------------

UPGRADE = """
import os, signal, sqlite3, sys
sys.path[:0] = {paths!r}
from vector_memory.journal import connection, schema, state_schema
from vector_memory.journal.connection import open_writer
from vector_memory.journal.opening import migrate

left = int(sys.argv[2])

class Connection(sqlite3.Connection):
    def execute(self, *values):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().execute(*values)

true = sqlite3.connect
sqlite3.connect = lambda *names, **more: true(*names, **{{**more, "factory": Connection}})
writer = open_writer(sys.argv[1], "FULL")
migrate(writer, getattr({module}, "MIGRATIONS"), sys.argv[1])
writer.close()
"""


def earlier(path: Path, migrations: tuple[Migration, ...], put: Callable[[Any], None]) -> None:
    """Make a database of an earlier version with something in it."""
    create_file(str(path))
    writer = open_writer(str(path), "FULL")
    migrate(writer, migrations, str(path))
    writer.execute("BEGIN")
    put(writer)
    writer.execute("COMMIT")
    writer.close()


def put_memories(connection: Any) -> None:
    writes.insert(connection, [memory(n) for n in range(30)], NOW)


def put_cursors(connection: Any) -> None:
    connection.execute("INSERT INTO cursors VALUES ('/t/1.jsonl', '{}')")
    connection.execute("INSERT INTO trusted(folder, at) VALUES ('/store', 1)")


def killed_upgrade(path: Path, module: str, n: int) -> bool:
    """Upgrade in a process that is killed at its n-th statement; whether it was."""
    code = UPGRADE.format(paths=[str(LIB)], module=module)
    done = subprocess.run([sys.executable, "-c", code, str(path), str(n)], check=False)
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


@pytest.mark.parametrize("version", range(1, len(schema.MIGRATIONS)))
def test_an_upgrade_of_a_journal_killed_anywhere(tmp_path: Path, version: int) -> None:
    """From every earlier version, killed at every few statements: nothing is lost, and the next start
    completes it."""
    n, killed = 8, True
    while killed:
        folder = tmp_path / str(n)
        folder.mkdir()
        earlier(folder / "journal.db", schema.MIGRATIONS[:version], put_memories)
        killed = killed_upgrade(folder / "journal.db", "schema", n)
        journal = Journal.open(str(folder))
        assert journal.set_aside() == []
        assert journal.count() == 30
        assert journal.check(read_data=True) == []
        assert len(journal.matching(["number"], Scope(), 99)) == 30
        journal.close()
        n += 3
    assert n > 14


@pytest.mark.parametrize("version", range(1, len(state_schema.MIGRATIONS)))
def test_an_upgrade_of_the_state_killed_anywhere(tmp_path: Path, version: int) -> None:
    """The same for `state.db`."""
    n, killed = 8, True
    while killed:
        path = tmp_path / f"{n}.db"
        earlier(path, state_schema.MIGRATIONS[:version], put_cursors)
        killed = killed_upgrade(path, "state_schema", n)
        state = State.open(str(path))
        assert state.cursors() == {"/t/1.jsonl": {}}
        assert state.trusted_folders() == ["/store"]
        state.add_due("topics", "s1")
        assert state.check(read_data=True) == []
        state.close()
        n += 2
    assert n > 8


@pytest.mark.parametrize("name", ["state.db", "global/journal.db"])
def test_a_downgrade_is_refused_clearly(rig: Rig, name: str) -> None:
    """Files of a newer version are left as they are; whoever asks is told, hooks are silent, and nobody
    waits; when the files are right again, so is the next daemon."""
    say(rig, "The ledger uses WAL mode")
    rig.daemon.stop()
    path = Path(rig.home.root, name)
    raw = sqlite3.connect(path)
    (version,) = raw.execute("PRAGMA user_version").fetchone()
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    for _ in range(2):
        with pytest.raises(StoreDamagedError, match="newer version") as caught:
            found(rig, "ledger")
        assert "Update" in caught.value.hint
    assert rig.daemon.start()["state"] == "damaged"
    assert in_time(rig, "UserPromptSubmit", prompt="ok") == b""
    with contextlib.suppress(DaemonUnavailableError):
        rig.daemon.stop()
    raw = sqlite3.connect(path)
    raw.execute(f"PRAGMA user_version = {version}")
    raw.close()
    assert len(found(rig, "ledger WAL mode")) == 1


@pytest.mark.parametrize("obstacle", ["newer", "no file", "no socket"])
def test_turns_without_a_store_wait_for_one(rig: Rig, tmp_path: Path, obstacle: str) -> None:
    """Whether a daemon says that there is none or none can start: a session's start is told, what must not be lost is
    in the spool, and the next daemon reads it."""
    rig.daemon.stop() if rig.daemon.start() else None
    state, kept = Path(rig.home.state_db), tmp_path / "kept"
    state.rename(kept)
    if obstacle == "newer":
        raw = sqlite3.connect(state)
        raw.execute("PRAGMA user_version = 99")
        raw.close()
    elif obstacle == "no file":
        state.mkdir()
    else:
        kept.rename(state)
        os.mkdir(rig.home.socket)
    with contextlib.suppress(DaemonUnavailableError):
        rig.daemon.start()
    path = str(transcript(tmp_path, [("Which journal mode?", "WAL, since readers never block.")]))
    for number, event in enumerate(("Stop", "SessionEnd"), 1):
        # What is to be kept is kept by a process apart, whenever the hook's own time is over.
        with contextlib.suppress(subprocess.CalledProcessError):
            hook(rig.home, event, transcript_path=path)
        rig.until(lambda n=number: len(spool.read_spool(rig.home)) == n, "the event in the spool")
    # A machine under load may take longer than a start waits.
    told = rig.until(lambda: in_time(rig, "SessionStart"), "it")
    assert b"No store can be opened" in told
    assert in_time(rig, "UserPromptSubmit", prompt="Which journal mode?") == b""
    waiting = [entry["event"] for _, entry in spool.read_spool(rig.home)]
    assert waiting == ["Stop", "SessionEnd"]
    with contextlib.suppress(DaemonUnavailableError):
        rig.daemon.stop()
    if obstacle == "no socket":
        os.rmdir(rig.home.socket)
    else:
        state.rmdir() if obstacle == "no file" else state.unlink()
        kept.rename(state)
    asked = {"query": "readers never block", "all_projects": True}
    rig.until(lambda: rig.daemon.ask("recall", asked)["hits"], "the turn")
    rig.until(lambda: not spool.read_spool(rig.home), "the end of the spool")


def test_one_store_of_a_newer_version_takes_no_other_away(tmp_path: Path) -> None:
    """The check names it; the global store answers."""
    house = ServiceHouse(tmp_path)
    project = tmp_path / "ledger"
    project.mkdir()

    door(house.ctx, "init", {"dir": str(project)})
    house.remember("Deploys go through staging")
    house.close()
    raw = sqlite3.connect(project / ".memory" / "db" / "journal.db")
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    again = ServiceHouse(tmp_path)
    assert door(again.ctx, "stats", {})["memories"] == 1
    checked = door(again.ctx, "check", {})
    assert [("newer" in one["what"], "Update" in one["fix"]) for one in checked["problems"]] == [
        (True, True)
    ]
    again.close()


# -- the check --------------------------------------------------------------------------------------


def test_a_check_mends_what_it_finds(tmp_path: Path) -> None:
    """Index, journal and state: told, set aside, made anew; a second check finds nothing; doctor knows of
    the copy."""

    house = ServiceHouse(tmp_path)
    for n in range(30):
        house.remember(f"token{n} is a fact that stands on its own")
    shelf = house.ctx.global_shelf()
    assert shelf.index is not None
    raw = sqlite3.connect(shelf.journal.connections.path)
    raw.execute("UPDATE memories SET text = 'changed behind its back' WHERE seq = 3")
    raw.commit()
    raw.close()
    data = next(Path(shelf.folder).glob("lance/*.lance/data/*.lance"))
    content = bytearray(data.read_bytes())
    content[len(content) // 2] ^= 1
    data.write_bytes(content)

    def check(read_data: bool) -> dict[str, Any]:
        return door(house.ctx, "check", {"read_data": read_data})

    told = check(True)
    assert not told["ok"]
    fixes = [one["fix"] for one in told["problems"]]
    assert any("29 memories were saved" in fix and "1 at least" in fix for fix in fixes)
    house.follow()
    assert check(True)["problems"] == []
    assert [one["lost_count"] for one in check(False)["set_aside"]] == [1]
    assert shelf.journal.count() == 29
    shelf.index.mend(["for a test"])
    assert len(shelf.matching(["token7"], Scope(), 5)) == 1
    house.follow()
    assert check(True)["ok"]
    house.close()


def test_an_index_that_lacks_memories_is_made_anew(tmp_path: Path) -> None:
    """Level by its number and yet not complete: the check compares."""

    house = ServiceHouse(tmp_path)
    for n in range(4):
        house.remember(f"token{n} is a fact that stands on its own")
    shelf = house.ctx.global_shelf()
    assert shelf.index is not None
    (id,) = [one.id for one in shelf.journal.by_seqs([2]).values()]
    shelf.index.apply([], [id], shelf.index.reached())
    checked = door(house.ctx, "check", {"read_data": True})
    assert "lacks 1" in checked["problems"][0]["what"]
    house.follow()
    assert door(house.ctx, "check", {"read_data": True})["ok"]
    house.close()


# -- the way back -----------------------------------------------------------------------------------


def test_backup_and_restore_by_the_command_line(
    rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written, shown, asked for, restored, indexed; also where the daemon has no store to open."""
    monkeypatch.setenv("VECTOR_MEMORY_HOME", rig.home.root)
    kept = say(rig, "The ledger uses WAL mode")
    file = str(tmp_path / "one.tar.gz")
    assert main(["backup", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["memories"] == 1
    later = say(rig, "Something else that came later")
    assert main(["restore", file, "--dry-run"]) == 0
    assert "1 memory" in capsys.readouterr().out
    assert main(["restore", file]) == 1
    assert "--yes" in capsys.readouterr().err
    assert later in found(rig, "something else later")
    assert main(["restore", file, "--yes", "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["restored"], done["memories"], len(done["aside"])) == (True, 1, 2)
    assert found(rig, "ledger WAL mode") == [kept]
    assert later not in found(rig, "something else later")
    assert "restore" in [one["action"] for one in rig.daemon.ask("audit", {})["entries"]]
    rig.daemon.stop()
    raw = sqlite3.connect(Path(rig.home.global_store) / "journal.db")
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    assert main(["stats"]) == 1
    assert "newer version" in capsys.readouterr().err
    assert main(["restore", file, "--yes", "--no-wait"]) == 0
    assert "Restored: 1 memory" in capsys.readouterr().out
    assert found(rig, "ledger WAL mode") == [kept]


def test_a_journal_that_is_damaged_at_the_start_is_mended(rig: Rig) -> None:
    """The daemon comes up with what can be read, finds it by words and meaning, and doctor tells."""
    kept = [say(rig, f"token{n} " + "is a fact that stands on its own " * 30) for n in range(60)]
    rig.daemon.ask("wait", {"timeout_s": 60})
    rig.daemon.stop()
    path = Path(rig.home.global_store) / "journal.db"
    content = path.read_bytes()
    path.write_bytes(bytes(4096) + content[4096:])
    assert found(rig, "token7")[:1] == [kept[7]]
    for _, answer in rig.daemon.stream("check", {"read_data": False}):
        checked = answer
    assert [(one["kept"], one["lost_count"]) for one in checked["set_aside"]] == [(60, 0)]


def test_a_spooled_event_waits_for_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be stored on a full disk stays in the spool and is stored when there is room."""
    from vector_memory.daemon.events import Events

    house = ServiceHouse(tmp_path)
    waiting: list[Callable[[], object]] = []
    events = Events(house.ctx, waiting.append)
    talk = tmp_path / "s1.jsonl"
    lines = [
        {"type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": "2026-05-03T10:00:00Z",
         "cwd": str(tmp_path), "message": {"role": "user", "content": "Which journal mode?"}},
        {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "s1",
         "timestamp": "2026-05-03T10:00:05Z", "cwd": str(tmp_path),
         "message": {"id": "m1", "role": "assistant",
                     "content": [{"type": "text", "text": "WAL, since readers never block."}]}},
    ]  # fmt: skip
    talk.write_text("".join(json.dumps(line) + "\n" for line in lines))
    message = {"hook_event_name": "SessionEnd", "session_id": "s1", "transcript_path": str(talk)}
    body = str(tmp_path).encode() + b"\0" + json.dumps(message).encode()
    assert events.answer("SessionEnd", body) == b""

    def full(*_: object, **__: object) -> None:
        raise StoreFullError("full", "Make room.")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "write", full)
        patch.setattr(Journal, "add", full)
        with pytest.raises(StoreFullError):
            waiting.pop(0)()
    assert len(os.listdir(house.ctx.home.spool)) == 1
    events.backlog.drain()
    waiting.pop()()
    assert os.listdir(house.ctx.home.spool) == []
    assert house.ctx.global_shelf().journal.count() >= 1
    house.close()


def test_what_fails_again_and_again_is_told_once(tmp_path: Path) -> None:
    """A store that cannot be written is tried every few seconds, and fills no log."""
    house = App(Home(str(tmp_path / "data")).make(), Settings(), lambda: 0.0)
    try:
        for _ in range(3):
            house._failed("index", StoreFullError("The disk is full."))
        house._failed("index", StoreFullError("Another."))
        assert [error.times or 1 for error in house.errors] == [3, 1]
        assert house.ctx.state.counters()["errors"] == 4
    finally:
        house.ctx.close()


def test_doctor_tells_of_what_was_set_aside() -> None:
    """For as long as the copy is there, with what is known to be lost."""
    one = {"at": "2026-05-03T10:00:00", "kept": 9, "lost_count": 2, "why": "x", "aside": "/a"}
    found = stores.set_aside(Row(one))
    assert (found.state, "2 at least are lost" in found.message) == (WARN, True)
    assert "/a" in found.fix
    assert "none is known to be lost" in stores.set_aside(Row({**one, "lost_count": 0})).message
    nothing = stores.set_aside(Row({**one, "kept": 0, "lost_count": 0}))
    assert "0 rows were saved, an unknown number of them is lost" in nothing.message


def test_check_tells_of_what_was_set_aside(capsys: pytest.CaptureFixture[str]) -> None:
    """All may be well now, and memories gone."""
    one = {"at": "2026-05-03T10:00:00", "kept": 0, "lost_count": 0, "why": "x", "aside": "/a"}
    upkeep._show_problems(Row({"problems": [], "set_aside": [one]}))
    told = capsys.readouterr()
    assert "as it should be now" in told.out
    assert "an unknown number of them is lost" in told.err
    assert "vector-memory restore" in told.err
