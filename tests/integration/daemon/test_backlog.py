"""Events of the spool: three tries, counted before each, then set aside, told, and tried again on request."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from daemon_rig import Rig
from integration.daemon.test_stopping import patched
from processes import gone
from service_house import ServiceHouse
from talk import transcript
from troubles import TROUBLES

from vector_memory import errors, wire
from vector_memory.cli import checks
from vector_memory.cli.checks import trouble
from vector_memory.client.spool import read_aside, read_spool, write_spool
from vector_memory.daemon import backlog
from vector_memory.daemon.events import Events
from vector_memory.errors import StoreDamagedError, StoreFullError
from vector_memory.index.reader import TurnRead
from vector_memory.service.capture import read_session, store_session
from vector_memory.system.paths import Home

SAID = "WAL, since readers never block."


class Desk:
    """Events over a service; what is to be indexed is done by `work`, errors are kept."""

    def __init__(self, folder: Path) -> None:
        self.house = ServiceHouse(folder)
        self.waiting: list[Callable[[], object]] = []
        self.failures: list[Exception] = []
        self.begin_anew()

    def begin_anew(self) -> None:
        """Be the next daemon."""
        self.waiting.clear()
        self.events = Events(self.house.ctx, self.waiting.append)

    def work(self) -> None:
        """Do all that waits."""
        while self.waiting:
            try:
                self.waiting.pop(0)()
            except Exception as error:
                self.failures.append(error)

    def stored(self) -> int:
        return sum(shelf.journal.count() for shelf in self.house.ctx.all_shelves())

    @property
    def home(self) -> Home:
        return self.house.ctx.home


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A service and its events."""
    made = Desk(tmp_path)
    yield made
    made.house.close()


def spooled(home: Home, folder: Path, session: str = "s1", event: str = "Stop") -> Path:
    """Have a turn's end wait, with its transcript; return that."""
    folder.mkdir(exist_ok=True)
    path = transcript(folder, [(f"Which journal mode of {session}?", SAID)], session)
    write_spool(home, event, {"session_id": session, "transcript_path": str(path)}, str(folder))
    return path


def test_what_a_late_hook_left_is_taken_up(desk: Desk, tmp_path: Path) -> None:
    """Once it has lain for a while, and once only: the daemon itself adds what it spools."""
    spooled(desk.home, tmp_path / "a")
    desk.events.backlog.take_up()
    assert desk.waiting == []
    for path, _ in read_spool(desk.home):
        os.utime(path, (0, time.time() - backlog.LEFT_S - 1))
    desk.events.backlog.take_up()
    desk.events.backlog.take_up()
    assert len(desk.waiting) == 1
    desk.work()
    assert desk.stored() > 0
    assert read_spool(desk.home) == []


FAILURES: list[BaseException] = [
    ValueError("what a parser did not expect"),
    OSError(5, "Input/output error"),
    RecursionError("too deep"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    MemoryError(),
    StoreDamagedError("the project's store is damaged"),
    KeyError("password = " + "aB3k" + "fjQ92mX1"),
]


@pytest.mark.parametrize(
    ("failure", "restarted"), [*((one, False) for one in FAILURES), (FAILURES[0], True)], ids=repr
)
def test_what_fails_three_times_is_set_aside_and_told(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception, restarted: bool
) -> None:
    """Whether one daemon tries it three times or each of three once; others are done each time. When what
    was wrong is mended, it is done on request, and remembered."""
    bad = spooled(desk.home, tmp_path / "a", "bad")
    true, tries = read_session.read, list[str]()

    def read(ask: read_session.ReadRequest) -> TurnRead:
        if ask.path == str(bad):
            tries.append(ask.path)
            raise failure
        return true(ask)

    with monkeypatch.context() as patch:
        patch.setattr(store_session, "_read", lambda ctx, ask, apart: read(ask))
        patch.setattr(backlog, "AGAIN_S", -1.0)
        desk.events.backlog.drain()
        for number in range(4):
            desk.work()
            before = desk.stored()
            if restarted:
                desk.begin_anew()
                desk.events.backlog.drain()
            spooled(desk.home, tmp_path / "b", f"good{number}")
            path, _ = read_spool(desk.home)[-1] if restarted else max(read_spool(desk.home))
            desk.events.backlog.add(path)
            desk.work()
            assert desk.stored() > before, "another project's turn"
    assert len(tries) == 3
    assert read_spool(desk.home) == []
    ((aside, entry),) = read_aside(desk.home)
    assert type(failure).__name__ in str(entry["reason"])
    assert "fjQ92mX1" not in Path(aside).read_text()
    told = list(trouble._spool(checks.Case(desk.home, start=False)))
    assert [one.state for one in told] == [checks.OK, checks.WARN]
    assert str(bad) in told[1].message
    assert "doctor --retry" in told[1].fix
    before = desk.stored()
    assert desk.events.backlog.retry() == 1
    desk.work()
    assert desk.stored() > before
    assert (read_spool(desk.home), read_aside(desk.home)) == ([], [])


def test_a_try_counts_before_it_is_begun(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that dies of an event has counted it: the fourth does not begin it."""
    spooled(desk.home, tmp_path / "a")
    begun: list[bool] = []

    def dies(entry: dict[str, Any], last: str, apart: bool) -> None:
        begun.append(apart)
        raise SystemExit("kill -9")

    for _ in range(5):
        desk.begin_anew()
        monkeypatch.setattr(desk.events.backlog, "_learn", dies)
        desk.events.backlog.drain()
        with contextlib.suppress(SystemExit):
            desk.work()
    assert begun == [False, True, True]
    assert read_spool(desk.home) == []
    assert [entry["reason"] for _, entry in read_aside(desk.home)] == [
        "the daemon ended while it was at it"
    ]


@pytest.mark.parametrize("cause", ["no space", "the end"])
def test_what_is_not_the_events_fault_does_not_count(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    """A full disk, and a daemon that is told to end: it waits as if it had not been begun."""
    spooled(desk.home, tmp_path / "a")

    def fails(*_: object) -> None:
        if cause == "the end":
            desk.house.ctx.stopping.set()
        raise StoreFullError("full", "Make room.") if cause == "no space" else OSError("killed")

    for _ in range(9):
        desk.begin_anew()
        monkeypatch.setattr(desk.events.backlog, "_learn", fails)
        desk.events.backlog.drain()
        desk.work()
    desk.house.ctx.stopping.clear()
    ((path, _),) = read_spool(desk.home)
    assert path.endswith(".json")
    assert len(desk.failures) == 9
    desk.begin_anew()
    desk.events.backlog.drain()
    desk.work()
    assert desk.stored() > 0


def test_what_was_begun_before_comes_last(desk: Desk, tmp_path: Path) -> None:
    """Whoever waits for what hangs, it is not the others."""
    order: list[str] = []
    for number in range(12):
        spooled(desk.home, tmp_path / "a", f"s{number}")
    for number, (path, _) in enumerate(read_spool(desk.home)):
        os.rename(path, path + ("", ".1", ".2")[number % 3])
    desk.events.backlog._learn = lambda entry, *_: order.append(str(entry["session"]))
    desk.events.backlog.drain()
    desk.work()
    assert order == [f"s{n}" for times in range(3) for n in range(times, 12, 3)]


def test_what_cannot_be_read_is_kept(desk: Desk) -> None:
    """An entry of junk is set aside like what fails; other files of the folder are left alone."""
    for number, junk in enumerate((b"", b"{", b"[]", b"\xff", b'"x"', b"null")):
        Path(desk.home.spool, f"{number:016x}-1.json").write_bytes(junk)
    Path(desk.home.spool, ".part.json").write_bytes(b"{")
    for _ in range(4):
        desk.begin_anew()
        desk.events.backlog.drain()
        desk.work()
    assert (len(read_aside(desk.home)), read_spool(desk.home)) == (6, [])
    assert os.path.exists(os.path.join(desk.home.spool, ".part.json"))


ODD = ["\ud800", "a\udfffb", "\ud83d", "\0", "s\0\ud800", "\udc80" * 300, "😀\ude00", "\ufffe"]


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "SessionStart", "UserPromptSubmit",
                                   "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact"])  # fmt: skip
def test_no_text_can_be_too_odd(desk: Desk, tmp_path: Path, event: str) -> None:
    """Halves of surrogate pairs and NUL in each field of a hook's message, and in each of a transcript:
    what is said beside them is remembered."""
    folder = tmp_path / "a"
    folder.mkdir()
    for number, odd in enumerate(ODD):
        path = transcript(folder, [(f"Which mode {odd}?", f"{SAID} {odd}")], f"s{number}")
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        for line in lines:
            line |= {"sessionId": f"s{number}{odd}", "uuid": f"{odd}{number}", "gitBranch": odd}
        path = folder / f"t{number}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        whole = {"hook_event_name": event, "session_id": f"s{number}", "cwd": str(folder),
                 "transcript_path": str(path), "prompt": f"Which journal mode {number}?",
                 "tool_name": "Bash", "tool_input": {"command": "grep -r mode ."},
                 "error": "no such mode", "last_assistant_message": SAID, "source": "startup"}  # fmt: skip
        for field in whole:
            if field == "transcript_path" and event in ("Stop", "SessionEnd", "PreCompact"):
                continue
            message = {**whole, field: odd, f"{odd}x": {odd: [odd]}}
            body = os.fsencode(folder) + b"\0" + json.dumps(message).encode()
            desk.events.answer(event, body)
            desk.work()
    assert desk.failures == []
    assert (read_spool(desk.home), read_aside(desk.home)) == ([], [])
    if event in ("Stop", "SessionEnd"):
        assert desk.stored() >= len(ODD)
    assert not [name for name in desk.house.ctx.state.totals() if "broken" in name]


# -- in a daemon of its own -------------------------------------------------------------------------


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A daemon's home; whatever runs there is ended."""
    made = Rig(tmp_path / "d")
    yield made
    with contextlib.suppress(errors.DaemonUnavailableError):
        made.daemon.stop()


def turn_ends(rig: Rig, folder: Path, session: str, path: Path) -> None:
    """Send the hook's message of a turn's end."""
    message = {"hook_event_name": "Stop", "session_id": session, "transcript_path": str(path)}
    body = os.fsencode(folder) + b"\0" + json.dumps(message).encode()
    with contextlib.closing(rig.daemon._connect(60, False)) as sock, sock.makefile("rb") as reader:
        sock.sendall(wire.encode_request(wire.HOOK_VERB + "Stop", body, rig.daemon.version))
        assert reader.readline()


def known(rig: Rig, word: str, folder: Path) -> bool:
    """Whether a word of a transcript is remembered in a project."""
    answer = rig.daemon.ask("recall", {"query": f"journal mode of {word}", "project": str(folder)})
    return any(word in hit["text"] for hit in answer["hits"])


SHIPPED_IN = ("CLAUDE.md", ".claude/CLAUDE.md", ".git", "memory/MEMORY.md")


def test_one_projects_trouble_stops_no_other(rig: Rig, tmp_path: Path) -> None:
    """A project for each thing that makes trouble, in each place that is read: its turns end, and those of
    a plain project are remembered after each of them, and again after a restart."""
    plain = tmp_path / "plain"
    plain.mkdir()
    outside = tmp_path / "outside.md"
    outside.write_text("# Privacy\n- nothing\n")
    rig.daemon.start()
    for number, (name, make) in enumerate(TROUBLES.items()):
        folder = tmp_path / f"trouble{number}"
        for place in SHIPPED_IN if not name.endswith(("a link", "others")) else SHIPPED_IN[:1]:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            make(folder / place, outside)
        turn_ends(rig, folder, f"bad{number}", transcript(folder, [("Why?", SAID)], f"bad{number}"))
    odd = tmp_path / "odd"
    odd.mkdir()
    os.mkfifo(odd / "t.jsonl")
    for path in (odd / "t.jsonl", Path("/proc/self/environ"), Path("/dev/ptmx"), odd):
        turn_ends(rig, odd, path.name, path)
    last = transcript(plain, [("Which journal mode of the plainone?", SAID)], "s1")
    turn_ends(rig, plain, "s1", last)
    rig.until(lambda: known(rig, "plainone", plain), "the plain project's turn")
    rig.until(lambda: len(begun(rig)) == 4, "only what fails to wait")
    rig.daemon.stop()
    rig.daemon.start()
    turn_ends(rig, plain, "s2", transcript(plain, [("The journal mode of another?", SAID)], "s2"))
    rig.until(lambda: known(rig, "another", plain), "its turn after a restart")
    rig.until(
        lambda: len(begun(rig)) == 4 and min(begun(rig)) >= 2,
        "only what fails to wait, begun twice at least",
    )


def begun(rig: Rig) -> list[int]:
    """How often each event that fails was begun: those that wait, and those that were given up, which a
    slow machine comes to after a minute."""
    waiting = (path.rpartition(".")[2] for path, _ in read_spool(rig.home))
    times = [int(number) if number.isdigit() else 0 for number in waiting]
    return times + [backlog.MOST_TIMES] * len(read_aside(rig.home))


def only_one_begun(rig: Rig, times: int) -> bool:
    """Whether one event alone is left, begun so many times."""
    return [name.rpartition(".")[2] for name in os.listdir(rig.home.spool)] == [str(times)]


HANG = """
import threading
import time
from vector_memory.service.capture import store_session
true = store_session._read
def read(ctx, ask, apart):
    if "bad" in ask.path:
        {how}
    return true(ctx, ask, apart)
store_session._read = read
before = app.Worker
app.Worker = lambda *a, **k: before(*a, **{{**k, "patience_s": 0.5}})
"""


@pytest.mark.parametrize(
    "how",
    ["threading.Event().wait()", "__import__('os').kill(__import__('os').getpid(), 9)"],
    ids=["hangs", "kills"],
)
def test_what_hangs_or_kills_the_daemon_ends_aside(rig: Rig, tmp_path: Path, how: str) -> None:
    """A daemon that hangs at an event, or dies of it, three times: each of them remembers the other
    project's turn, the fourth begins it no more, and mended it is done on request."""
    bad = spooled(rig.home, tmp_path / "a", "bad")
    plain = tmp_path / "plain"
    for number in range(3):
        with patched(rig, HANG.format(how=how)) as pid:
            word = f"turn{number}"
            plain.mkdir(exist_ok=True)
            path = transcript(plain, [(f"Journal mode of {word}?", SAID)], word)
            turn_ends(rig, plain, word, path)
            if how.startswith("threading"):
                rig.until(lambda word=word: known(rig, word, plain), "the turn beside it")  # type: ignore[misc]
                # What was begun before comes last, so it may be begun after the turn beside it. Nothing else
                # may be begun at that time: it would count as what killed the daemon, too.
                rig.until(partial(only_one_begun, rig, number + 1), "its try")
                os.kill(pid, signal.SIGKILL)
            assert gone(pid)
        rig.until(lambda: rig.daemon.running() is None, "its end")
    rig.daemon.start()
    rig.until(lambda: read_aside(rig.home), "the event set aside")
    rig.until(lambda: not read_spool(rig.home), "the rest done")
    assert all(known(rig, f"turn{number}", plain) for number in range(3))
    assert [entry["transcript"] for _, entry in read_aside(rig.home)] == [str(bad)]
    assert rig.daemon.ask("retry", {}) == {"retried": 1, "set_aside": 0}
    assert known(rig, "bad", tmp_path / "a")
