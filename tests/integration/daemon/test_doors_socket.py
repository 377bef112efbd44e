"""Who gets to the daemon's socket, and what a client can do to it: slow, many, huge, foreign."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from daemon_rig import Rig

from vector_memory import errors, wire
from vector_memory.client.link import DaemonClient
from vector_memory.daemon import clients, server
from vector_memory.daemon.main import MOST_DEPTH
from vector_memory.daemon.server import Reply, Server
from vector_memory.system import paths, peer

LIB = os.path.dirname(paths.PACKAGE_ROOT)
NOBODY = 65_534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
PING = wire.encode_request("ping", b"{}", "0.1.0")


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server alone, in the present folder, that answers everything with its body."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server, "REQUEST_S", 0.4)
    monkeypatch.setattr(clients, "MAX_CLIENTS", 4)

    def echo(verb: str, body: bytes, version: str, reply: Reply) -> None:
        reply.send(wire.ANSWER, body)

    made = Server("daemon.sock", echo)
    made.listen()
    thread = threading.Thread(target=made.serve, args=(lambda: None,), daemon=True)
    thread.start()
    yield made
    made.stop()
    thread.join(10)
    made.close(1)


def connected() -> socket.socket:
    """Return a connection to the socket in the present folder."""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(20)
    sock.connect("daemon.sock")
    return sock


def answer(data: bytes) -> bytes:
    """Return what comes back for some bytes, all of it."""
    with connected() as sock:
        sock.sendall(data)
        found = b""
        while piece := sock.recv(65_536):
            found += piece
        return found


def test_idle_clients_are_let_go(serving: Server) -> None:
    """One that says nothing is closed after the time of a request."""
    with connected() as sock:
        assert sock.recv(10) == b""


def test_a_byte_now_and_then_is_too_slow(serving: Server) -> None:
    """The time holds for the whole request: bytes that drip do not renew it."""
    with connected() as sock:
        for number in range(200):
            try:
                sock.sendall(PING[number % 10 : number % 10 + 1].replace(b"\n", b" "))
            except OSError:
                break
            time.sleep(0.05)
        else:
            pytest.fail("it was served for ten seconds")
    assert answer(PING).endswith(b"{}")


def test_where_all_places_are_taken_the_idlest_gives_way(
    serving: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clients that say nothing cannot keep others out, however many there are."""
    monkeypatch.setattr(server, "REQUEST_S", 20.0)
    idle = [connected() for _ in range(4)]
    for _ in range(8):
        assert answer(PING).endswith(b"{}")
    assert serving.active <= 4
    for sock in idle:
        sock.close()


@pytest.mark.parametrize(
    "data",
    [b"VM1 ping 99999999999 0.1.0\n", b"VM1 ping " + b"9" * 200 + b" 0.1.0\n", b"x" * 300 + b"\n",
     b"VM1 ping 3" + b" " * 300 + b"0.1.0\nabc", b"\n", b"\xff" * 70_000],
)  # fmt: skip
def test_what_claims_too_much_is_closed_unread(serving: Server, data: bytes) -> None:
    """Lengths past the limit, numbers of hundreds of digits, heads without an end."""
    with connected() as sock:
        try:
            sock.sendall(data)
            assert sock.recv(10) == b""
        except ConnectionError:
            pass
    assert answer(PING).endswith(b"{}")


def test_more_than_was_announced_is_not_read(serving: Server) -> None:
    """The rest of what came is no part of the body."""
    with connected() as sock:
        sock.sendall(wire.encode_request("ping", b"abc", "0.1.0") + b"rest")
        assert sock.recv(100).endswith(b"\nabc")


def test_an_error_of_the_listener_does_not_end_it(
    serving: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that left before it was met, or no descriptors left: it goes on."""
    real = serving._sock
    failures = [OSError(103, "aborted"), OSError(24, "too many files")]

    class Failing:
        def accept(self) -> object:
            if failures:
                raise failures.pop()
            return real.accept()

        def __getattr__(self, name: str) -> object:
            return getattr(real, name)

    monkeypatch.setattr(serving, "_sock", Failing())
    answer(PING)
    assert answer(PING).endswith(b"{}")
    assert failures == []


def test_who_cannot_be_known_is_refused(serving: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the kernel does not tell, and if it tells of somebody else."""

    def unknown(sock: socket.socket) -> int:
        raise OSError("no")

    for told in (unknown, lambda sock: os.geteuid() + 1):
        monkeypatch.setattr(peer, "user_id", told)
        with connected() as sock:
            assert sock.recv(10) == b""
    monkeypatch.undo()


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_daemon_listens_on_its_socket_alone(door: Door) -> None:
    """No TCP, no UDP, no IPv6: none of its descriptors is in the kernel's tables of them."""
    pid = door.rig.daemon.start()["pid"]
    own = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        target = ""
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        if target.startswith("socket:["):
            own.add(target[8:-1])
    listed = set()
    for table in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
        path = Path(f"/proc/{pid}/net/{table}")
        lines = path.read_text().splitlines()[1:] if path.exists() else []
        listed |= {line.split()[9] for line in lines}
    assert own
    assert own & listed == set()


def test_deep_requests_get_an_error(door: Door) -> None:
    """Whatever the parser would take."""
    request = {"query": "x"}
    for _ in range(MOST_DEPTH + 1):
        request = {"more": request}  # type: ignore[dict-item]
    with pytest.raises(errors.BadInputError, match="nested"):
        door.rig.daemon.ask("recall", request)
    with pytest.raises(errors.BadInputError, match="values"):
        door.rig.daemon.ask("recall", {"query": "x", "more": [[]] * 250_000})


# -- other users ----------------------------------------------------------------------------------


class Door:
    """A daemon's home where nothing but its own rights keeps others out: everybody may enter the
    folders above."""

    def __init__(self) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="vm-door-", dir="/tmp")).resolve()
        self.base.chmod(0o755)
        self.rig = Rig(self.base / "home")

    def as_nobody(self, work: Callable[[], bool]) -> bool:
        """Whether something goes well for another user, in a process of that user's."""
        pid = os.fork()
        if pid == 0:
            code = 2
            try:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                code = 0 if work() else 1
            except OSError:
                code = 1
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert code in (0, 1)
        return code == 0


@pytest.fixture
def door() -> Iterator[Door]:
    """A door; what runs behind it is ended."""
    made = Door()
    yield made
    made.rig.daemon.stop()
    shutil.rmtree(made.base)


@needs_root
def test_another_user_reaches_nothing(door: Door, tmp_path: Path) -> None:
    """Not the socket, the data home, or anything in it; a file beside it can be read, so the test can
    tell."""
    home = door.rig.home
    door.rig.daemon.ask("remember", {"text": "The ledger uses WAL mode", "global": True})
    (door.base / "beside").write_text("for all")
    (door.base / "beside").chmod(0o644)
    made = [os.path.join(folder, name) for folder, _, names in os.walk(home.root) for name in names]
    assert any("journal.db" in path for path in made)
    folders = [
        home.path(name) for name in ("", "spool", "snapshots", "logs", "run", "global", "app")
    ]

    tried = [
        ("read", str(door.base / "beside")),
        ("connect", home.run),
        *(("read", path) for path in made),
        *(("list", path) for path in folders),
        *(("make", os.path.join(path, "new")) for path in folders),
    ]
    assert went_well_for_nobody(tried) == tried[:1]


AS_NOBODY = """
import json, os, socket, sys
tried = json.load(sys.stdin)
os.setgroups([]); os.setgid(NOBODY); os.setuid(NOBODY)
def connect(folder):
    os.chdir(folder)
    socket.socket(socket.AF_UNIX).connect("daemon.sock")
ways = {
    "read": lambda path: os.close(os.open(path, os.O_RDONLY)),
    "make": lambda path: os.close(os.open(path, os.O_WRONLY | os.O_CREAT)),
    "list": os.listdir,
    "connect": connect,
}
well = []
for way, path in tried:
    try:
        ways[way](path)
        well.append([way, path])
    except OSError:
        pass
print(json.dumps(well))
"""


def went_well_for_nobody(tried: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return which of these went well for another user, in one process of that user's: this one has
    threads, and forking it a thousand times would sooner or later meet one that holds a lock."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", AS_NOBODY.replace("NOBODY", str(NOBODY))],
        input=json.dumps(tried), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return [(way, path) for way, path in json.loads(done.stdout)]


@needs_root
def test_another_user_who_gets_to_the_socket_is_not_heard(door: Door) -> None:
    """Should its folder and file be open for once: the kernel says who asks."""
    home = door.rig.home
    door.rig.daemon.start()
    for path, rights in ((home.root, 0o755), (home.run, 0o755), (home.socket, 0o666)):
        os.chmod(path, rights)

    def heard() -> bool:
        os.chdir(home.run)
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(20)
            sock.connect("daemon.sock")
            sock.sendall(wire.encode_request("status", b"{}", "0.1.0"))
            return sock.recv(10) != b""

    assert not door.as_nobody(heard)
    assert door.rig.daemon.running()


class Trap:
    """A socket of another user's in the place of the daemon's; it writes down what it is told."""

    def __init__(self, folder: str) -> None:
        self.heard = Path(folder, "heard")
        self._pid = os.fork()
        if self._pid == 0:
            try:
                self._listen(folder)
            finally:
                os._exit(0)
        end = time.monotonic() + 20
        while not Path(folder, "ready").exists() and time.monotonic() < end:
            time.sleep(0.02)

    def _listen(self, folder: str) -> None:
        os.chdir(folder)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind("daemon.sock")
            os.chmod("daemon.sock", 0o777)
            sock.listen(5)
            Path("ready").touch()
            while True:
                client, _ = sock.accept()
                client.settimeout(2)
                with client, open("heard", "ab") as file, contextlib.suppress(OSError):
                    file.write(client.recv(1000))
                    client.sendall(b"A 2\n{}")

    def end(self) -> bytes:
        """End it and return what it heard."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        return self.heard.read_bytes() if self.heard.exists() else b""


def hook(home: str) -> subprocess.CompletedProcess[bytes]:
    """Run a hook of this checkout on a data home, from where it can start no daemon."""
    os.unlink(os.path.join(home, "runtime", "venv"))
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\nfrom vector_memory.client.hook import main\n"
    )
    return subprocess.run(
        [sys.executable, "-I", "-c", script + "main('Stop', sys.argv[2])", LIB, home],
        input=b'{"session_id": "s1", "transcript_path": "/private/talk"}',
        capture_output=True,
        timeout=60,
        check=False,
    )


@needs_root
@pytest.mark.parametrize("owner", ["folder", "socket"])
def test_a_hook_says_nothing_to_another_user_s_socket(door: Door, owner: str) -> None:
    """Whether the whole data home is somebody else's or only the socket in it; nothing is left in a
    foreign folder either."""
    home = door.rig.home
    if owner == "folder":
        for path in (home.root, *(home.path(name) for name in home.FOLDERS)):
            if not os.path.islink(path):
                os.chown(path, NOBODY, NOBODY)
    else:
        os.chmod(home.root, 0o755)
        os.chmod(home.run, 0o777)
    trap = Trap(home.run)
    try:
        assert hook(home.root).stdout == b""
        client = DaemonClient(home)
        with pytest.raises(errors.DaemonUnavailableError):
            client.ask("status", {}, timeout_s=5, start=False)
    finally:
        heard = trap.end()
    assert heard == b""
    if owner == "folder":
        assert os.listdir(home.spool) == []
    for path in (home.root, *(home.path(name) for name in home.FOLDERS)):
        os.chown(path, 0, 0, follow_symlinks=False)
    os.unlink(home.socket)


@needs_root
def test_the_trap_of_these_tests_does_hear(door: Door) -> None:
    """Whoever does not look is heard: the tests above can fail."""
    os.chmod(door.rig.home.root, 0o755)
    os.chmod(door.rig.home.run, 0o777)
    trap = Trap(door.rig.home.run)
    back = os.open(".", os.O_RDONLY)
    os.chdir(door.rig.home.run)
    try:
        assert answer(b"psst").endswith(b"{}")
    finally:
        os.fchdir(back)
        os.close(back)
        heard = trap.end()
        os.unlink(door.rig.home.socket)
    assert heard == b"psst"


@needs_root
def test_the_hook_s_shell_runs_nothing_of_another_user_s(door: Door) -> None:
    """The interpreter in a foreign data home is not started."""
    python = door.base / "home" / "runtime" / "hook-python"
    python.write_text(f"#!/bin/sh\ntouch {door.base}/ran\n")
    python.chmod(0o755)
    run = Path(LIB).parent / "hooks" / "run"
    environ = {
        "PATH": "/usr/bin:/bin",
        "VECTOR_MEMORY_HOME": door.rig.home.root,
        "HOME": "/nowhere",
    }
    for owner, ran in ((NOBODY, False), (0, True)):
        os.chown(door.rig.home.root, owner, owner)
        subprocess.run(["sh", run, "stop"], env=environ, input=b"{}", check=True, timeout=60)
        assert (door.base / "ran").exists() is ran


def test_a_way_that_anybody_can_change_gets_no_daemon(door: Door) -> None:
    """Where others could put another data home in the place of this one; with the sticky bit they
    cannot."""
    home = door.rig.home
    script = os.path.join(LIB, "vector_memory", "daemon", "__main__.py")
    door.base.chmod(0o777)
    done = subprocess.run(
        [sys.executable, "-I", script, home.root], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert b"sticky" in done.stderr
    assert not os.path.exists(home.socket)
    door.base.chmod(0o1777)
    assert door.rig.daemon.start()["pid"]


# -- rights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0, 0o077])
def test_everything_in_a_data_home_is_its_owner_s_alone(
    door: Door, tmp_path: Path, umask: int
) -> None:
    """After a whole run, whatever the umask of whoever started it: files 0600, folders 0700."""
    home = door.rig.home
    before = os.umask(umask)
    try:
        door.rig.configure(log_level="debug")
        os.chmod(home.config, 0o600)
        daemon = door.rig.daemon
        daemon.ask("remember", {"text": "The ledger uses WAL mode", "project": str(tmp_path)})
        daemon.ask("wait", {"timeout_s": 90})
        talk = tmp_path / "s1.jsonl"
        talk.write_text(
            '{"type": "user", "uuid": "u1", "sessionId": "s1", "cwd": "/x", '
            '"timestamp": "2026-05-03T10:00:00Z", '
            '"message": {"role": "user", "content": "We decided to use Postgres for the ledger."}}\n'
        )
        list(daemon.stream("backfill", {"paths": [str(talk)], "wait": False}))
        hook_message = b'{"session_id": "s1", "cwd": "/x", "source": "startup"}'
        with socket.socket(socket.AF_UNIX) as sock:
            back = os.open(".", os.O_RDONLY)
            os.chdir(home.run)
            sock.connect("daemon.sock")
            os.fchdir(back)
            os.close(back)
            sock.sendall(wire.encode_request("hook.SessionStart", b"/x\0" + hook_message, "0.1.0"))
            assert sock.recv(2)
        daemon.stop()
        hook(home.root)
    finally:
        os.umask(before)
    seen = 0
    for folder, folders, names in os.walk(home.root):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(folder, name))]
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            if os.path.islink(path) or name == "daemon.sock":
                continue
            rights = os.stat(path).st_mode & 0o777
            assert rights == (0o700 if name in folders else 0o600), f"{path} {rights:o}"
            seen += 1
    assert seen > 20
