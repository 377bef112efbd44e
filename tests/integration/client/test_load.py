"""What a crowd can do: hooks are served, one daemon is started, and number, time and bytes are bounded."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from daemon_rig import Rig
from e2e.harness import hook as hooks
from e2e.harness.hook import Stdin
from processes import gone, holds, state_of

from vector_memory import wire
from vector_memory.client import exchange, hook, spawn
from vector_memory.client.spool import read_spool
from vector_memory.daemon import clients, server
from vector_memory.daemon.clients import MAX_CLIENTS, MAX_OTHERS, MOST_HELD_BYTES, SMALL_BYTES
from vector_memory.daemon.server import Reply, Server
from vector_memory.system.paths import Home

ROOT = Path(__file__).resolve().parents[3]
EVENTS = ("session_start", "user_prompt_submit", "stop", "post_tool_use_failure", "session_end")
BIG = b"x" * (1 << 20)


# -- the hook's time ------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart", "Stop"])
def test_the_time_of_a_hook_begins_with_its_shell(
    event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What shell and interpreter took is taken off both the daemon's time and the whole, down to a
    little that is left in any case."""
    whole, daemon = exchange.DEADLINE_S, exchange.DAEMON_S
    if event == "SessionStart":
        whole, daemon = exchange.START_DEADLINE_S, exchange.START_DAEMON_S
    monkeypatch.setattr(hook.time, "monotonic", lambda: 1_000.0)
    for thousandth in range(0, 1_500, 5):
        gone_s = thousandth / 1_000
        monkeypatch.setattr(exchange, "_gone_s", lambda: gone_s)  # noqa: B023
        call = exchange.HookEvent(event, "/nowhere")
        ends_s = call.deadline - 1_000.0
        assert ends_s == pytest.approx(max(exchange.LEAST_S + exchange.REST_S, whole - gone_s))
        assert call.patience_s == pytest.approx(max(exchange.LEAST_S, daemon - gone_s))
        assert call.patience_s < ends_s


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process was started")
def test_the_start_of_the_shell_is_known() -> None:
    """Also where the interpreter was started a while after it; who started it without a shell is not
    taken for one."""
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'lib')!r})\n"
    code += "from vector_memory.client.exchange import _gone_s\nprint(_gone_s())"
    script = f"sleep 0.2; {sys.executable} -I -S -c '{code}'; exit 0"
    told = subprocess.run(["sh", "-c", script.replace("'/", '"/').replace("lib'", 'lib"')],
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    assert float(told) >= 0.2
    alone = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True,
                           check=True).stdout  # fmt: skip
    assert 0.0 <= float(alone) < exchange.START_DEADLINE_S


def test_where_the_system_tells_nothing_a_guess_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """No /proc, junk in it, a clock that says something else."""
    for born in (OSError(), ValueError(), IndexError(), AttributeError(), -1e9, 1e9):

        def tell(process: str, born: object = born) -> float:
            if isinstance(born, Exception):
                raise born
            return float(str(born))

        monkeypatch.setattr(exchange, "_born_s", tell)
        assert exchange._gone_s() == exchange.UNSEEN_S


SLOW_DISK = """
import os, sys
sys.path.insert(0, sys.argv[1])
from vector_memory.client import hook, spawn
from vector_memory.client.spool import read_spool
os.fsync = lambda descriptor: os.read(int(sys.argv[3]), 1)
def die(*_):
    raise KeyboardInterrupt
spawn.spawn = die
hook.main("Stop", sys.argv[2])
"""


def test_nobody_waits_for_a_slow_disk_and_nothing_is_lost(tmp_path: Path) -> None:
    """The hook ends at its deadline, by the alarm; the process that keeps the event holds none of its
    output, and goes on. Whatever goes wrong with starting a daemon, the event is kept first."""
    home = Home(str(tmp_path / "data")).make()
    reading, writing = os.pipe()
    command = [sys.executable, "-I", "-c", SLOW_DISK, str(ROOT / "lib"), home.root, str(reading)]
    done = subprocess.run(command, input=hooks.payload("stop"), capture_output=True, timeout=30,
                          pass_fds=[reading], check=False)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGALRM, b"", b"")
    assert not [name for name in os.listdir(home.spool) if not name.startswith(".")]
    os.write(writing, b".")
    os.close(reading)
    os.close(writing)
    assert holds(lambda: [one["event"] for _, one in read_spool(home)] == ["Stop"])


# -- one daemon -----------------------------------------------------------------------------------


def with_spy(home: Home, mark: Path) -> None:
    """Give a data home an interpreter that writes down that it was started, and lives for a while."""
    python = Path(home.runtime_python)
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho $$ >>"{mark}"\nexec sleep 60\n')
    python.chmod(0o700)


def test_nothing_is_started_while_a_daemon_lives(tmp_path: Path) -> None:
    """Though it may not answer: a hundred hooks start no process. One starts one as soon as it is gone,
    and hands it the lock."""
    home, mark = Home(str(tmp_path / "data")).make(), tmp_path / "started"
    with_spy(home, mark)
    with open(home.lock, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert all(spawn.spawn(home, str(ROOT / "lib")) for _ in range(100))
        assert not mark.exists()
    assert all(spawn.spawn(home, str(ROOT / "lib")) for _ in range(100))
    assert holds(mark.exists)
    (pid,) = [int(line) for line in mark.read_text().split()]
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    assert spawn.spawn(home, str(ROOT / "lib"))
    assert holds(lambda: len(mark.read_text().split()) == 2)
    os.kill(int(mark.read_text().split()[1]), signal.SIGKILL)


def test_a_daemon_computes_with_one_thread_unless_the_user_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second thread of numpy's would spin while it waits, beside the search by words."""
    python = Path(Home(str(tmp_path / "data")).make().runtime_python)
    python.parent.mkdir(parents=True)
    mark = tmp_path / "threads"
    python.write_text(f'#!/bin/sh\necho "$OPENBLAS_NUM_THREADS" >>"{mark}"\n')
    python.chmod(0o700)
    for given, threads in (("", "1"), ("3", "3")):
        if given:
            monkeypatch.setenv("OPENBLAS_NUM_THREADS", given)
        mark.write_text("")
        assert spawn.spawn(Home(str(tmp_path / "data")), str(ROOT / "lib"))
        assert holds(lambda threads=threads: mark.read_text() == threads + "\n")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A daemon's home, with an interpreter for hooks; whatever runs there is ended."""
    made = Rig(tmp_path / "home")
    os.symlink(hooks.base_python(), made.home.hook_python)
    yield made
    made.daemon.stop()


def at_once(rig: Rig, count: int) -> None:
    """Run so many hooks of all kinds at once; fail where one breaks its contract."""
    started = [
        hooks.start(event, Stdin(hooks.payload(event, session_id=f"s{n}")), Path(rig.home.root))
        for n in range(count)
        for event in (EVENTS[n % len(EVENTS)],)
    ]
    for one in started:
        one.wait().assert_polite()


def test_fifty_hooks_at_once_leave_one_daemon(rig: Rig) -> None:
    """It answers, and no other was even begun; the same after it was killed."""
    log = Path(rig.home.logs, "daemon.log")
    for round in (1, 2):
        at_once(rig, 50)
        status = rig.until(rig.daemon.running, "a daemon")
        assert log.read_text().count(" serves, pid ") == round
        at_once(rig, 5)
        assert rig.daemon.start()["pid"] == status["pid"]
        os.kill(status["pid"], signal.SIGKILL)
        assert gone(status["pid"])


def test_hooks_of_a_stopped_daemon_are_kept_for_it(rig: Rig) -> None:
    """None starts another one; what they left is there when it goes on."""
    pid = rig.daemon.start()["pid"]
    os.kill(pid, signal.SIGSTOP)
    at_once(rig, 20)
    kept = ["SessionEnd"] * 4 + ["Stop"] * 4
    assert holds(lambda: sorted(str(one.get("event")) for _, one in read_spool(rig.home)) == kept)
    os.kill(pid, signal.SIGCONT)
    assert rig.daemon.start()["pid"] == pid
    assert Path(rig.home.logs, "daemon.log").read_text().count(" serves, pid ") == 1
    assert state_of(pid)


# -- the server's crowd ---------------------------------------------------------------------------


class Crowd:
    """A server, and those who connect to it. What it does with a request stands in `handle`."""

    def __init__(self) -> None:
        self.handle: Callable[[str, Reply], None] = lambda verb, reply: reply.send(
            wire.ANSWER, b"{}"
        )
        self.server = Server("daemon.sock", lambda verb, body, version, way: self.handle(verb, way))
        self.server.listen()
        self._thread = threading.Thread(target=self.server.serve, args=(lambda: None,), daemon=True)
        self._thread.start()
        self.here: list[socket.socket] = []

    def come(self, data: bytes = b"") -> socket.socket:
        """Connect, say something, and stay."""
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(20)
        sock.connect("daemon.sock")
        self.here.append(sock)
        if data:
            # It may have been shown the door already.
            with contextlib.suppress(OSError):
                sock.sendall(data)
        return sock

    def ask(self, verb: str) -> bytes:
        """Return the whole answer to a request."""
        sock, found = self.come(request(verb)), b""
        try:
            while piece := sock.recv(65_536):
                found += piece
        except ConnectionError:
            pass
        return found

    def held(self) -> int:
        """Return the bytes that are held for clients."""
        return self.server._clients._held_bytes()

    def end(self) -> None:
        """Send everybody home."""
        for sock in self.here:
            sock.close()
        self.server.stop()
        self._thread.join(20)
        self.server.close(20)
        assert self.server.active == 0


def request(verb: str, body: bytes = b"{}") -> bytes:
    """Return a request."""
    return wire.encode_request(verb, body, "0.1.0")


@pytest.fixture
def crowd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Crowd]:
    """A server in the present folder, for which this process may open enough sockets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))
    monkeypatch.chdir(tmp_path)
    made = Crowd()
    yield made
    made.end()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_thousand_clients_take_so_many_places(crowd: Crowd) -> None:
    """Silent ones, halves of requests, whole ones whose answer nobody reads, in any order: hooks among
    them are answered, threads are bounded."""
    said = (
        b"",
        b"VM1 hook.St",
        request("hook.Stop")[:-1],
        request("list"),
        b"VM1 list 8000000 0.1.0\nxx",
    )
    before = threading.active_count()
    for number in range(1_000):
        crowd.come(said[number % len(said)])
        assert crowd.server.active <= 2 * MAX_CLIENTS
        assert threading.active_count() - before <= 2 * MAX_CLIENTS
        if number % 50 == 0:
            assert crowd.ask("hook.UserPromptSubmit").endswith(b"{}")
    assert holds(lambda: crowd.server.active <= MAX_CLIENTS)
    assert crowd.ask("hook.UserPromptSubmit").endswith(b"{}")
    assert crowd.ask("status").endswith(b"{}")


def test_answers_that_nobody_reads_leave_places_for_hooks(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """160 of them: so many at most are begun, the others are told to come again; hooks and `stop` are
    answered. Whoever has not read for a while gives way to the next who asks."""
    begun: list[str] = []

    def handle(verb: str, reply: Reply) -> None:
        if verb == "export":
            begun.append(verb)
            for _ in range(100):
                reply.send(wire.ITEM, b"x" * 60_000)
        reply.send(wire.ANSWER, b"{}")

    crowd.handle = handle
    monkeypatch.setattr(clients, "STALLED_S", 60.0)
    waiting = [crowd.come(request("export")) for _ in range(160)]
    assert holds(lambda: crowd.server.active == len(begun) == MAX_OTHERS)
    for _ in range(20):
        assert crowd.ask("hook.UserPromptSubmit").endswith(b"{}")
    assert crowd.ask("stop").endswith(b"{}")
    refused = crowd.ask("list")
    assert b"DaemonUnavailableError" in refused
    assert b"Try again" in refused
    told = [sock.recv(1) for sock in waiting]
    assert (told.count(b"I"), told.count(b"E")) == (MAX_OTHERS, 160 - MAX_OTHERS)
    monkeypatch.setattr(clients, "STALLED_S", 0.0)
    assert crowd.ask("list").endswith(b"{}")


def test_long_answers_are_made_few_at_a_time(crowd: Crowd) -> None:
    """However many ask; those who do not read keep nobody from being answered."""
    making, most = 0, 0
    lock = threading.Lock()

    def items() -> Iterator[bytes]:
        nonlocal making, most
        for _ in range(40):
            with lock:
                making += 1
                most = max(most, making)
            yield b"y" * 20_000
            with lock:
                making -= 1

    def made(item: Iterator[bytes]) -> Iterator[bytes]:
        # What happens between two items is what is paced.
        for piece in item:
            with lock:
                nonlocal making
                making -= 1
            yield piece
            with lock:
                making += 1

    def handle(verb: str, reply: Reply) -> None:
        for item in reply.paced(made(items())):
            reply.send(wire.ITEM, item)
        reply.send(wire.ANSWER, b"{}")

    crowd.handle = handle
    for _ in range(8):
        crowd.come(request("export"))
    threads = [threading.Thread(target=crowd.ask, args=("export",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert 0 < most <= server.PACED


def test_what_is_held_for_clients_is_bounded(crowd: Crowd, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that never become whole, and answers that are never read, in bytes; small ones pass."""
    monkeypatch.setattr(clients, "STALLED_S", 60.0)
    eight = f"VM1 list {wire.MAX_REQUEST_BYTES} 0.1.0\n".encode()
    slow = [crowd.come(eight + BIG) for _ in range(40)]
    fits = MOST_HELD_BYTES // wire.MAX_REQUEST_BYTES
    assert holds(lambda: crowd.server.active == fits)
    assert crowd.held() == MOST_HELD_BYTES
    assert crowd.ask("hook.UserPromptSubmit").endswith(b"{}")
    monkeypatch.setattr(clients, "STALLED_S", 0.0)
    newest = crowd.come(eight + BIG)
    assert holds(lambda: crowd.server.active == fits)
    newest.sendall(b"x" * (wire.MAX_REQUEST_BYTES - len(BIG)))
    assert newest.recv(100).endswith(b"{}")
    for sock in slow:
        sock.close()
    assert holds(lambda: crowd.held() == 0)
    monkeypatch.setattr(clients, "STALLED_S", 60.0)
    crowd.handle = lambda verb, reply: reply.send(wire.ANSWER, b"x" * (24 << 20))
    unread = [crowd.come(request("list")) for _ in range(3)]
    assert holds(lambda: crowd.server.active == 2)
    assert crowd.held() <= MOST_HELD_BYTES
    assert sorted(sock.recv(1) for sock in unread) == [b"A", b"A", b"E"]
    crowd.handle = lambda verb, reply: reply.send(
        wire.ANSWER, b"{" + b" " * (SMALL_BYTES - 100) + b"}"
    )
    assert crowd.ask("list").endswith(b"}")
