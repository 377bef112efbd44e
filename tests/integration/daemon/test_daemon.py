"""The daemon as a process: one for a data home, quick to come up, and gone when it should be."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from daemon_rig import Rig, alive

from vector_memory import errors, wire
from vector_memory.client.link import DaemonClient
from vector_memory.daemon import main
from vector_memory.system import paths


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    """A daemon's home; whatever runs there is ended."""
    # The folder's path is longer than a socket's address can be.
    made = Rig(tmp_path / ("a-long-name" * 10))
    yield made
    with contextlib.suppress(errors.DaemonUnavailableError):
        made.daemon.stop()


def test_it_comes_up_in_stages_and_stops_in_good_order(rig: Rig) -> None:
    """Started by the first question, it reaches the full answer, and stops without leaving socket
    or process."""
    pid = rig.daemon.start()["pid"]
    stages = rig.state("full")["stages_s"]
    assert stages["lexical"] < stages["model"] <= stages["vectors"] <= stages["full"]
    assert rig.daemon.stop()
    assert not os.path.exists(rig.home.socket)
    rig.until(lambda: not alive(pid), "the process's end")
    assert not rig.daemon.stop()
    assert os.stat(rig.home.root).st_mode & 0o077 == 0


def test_eight_clients_at_once_make_one_daemon(rig: Rig) -> None:
    """However many start one at the same moment, one answers and the others are gone."""
    script = (
        f"import sys; sys.path.insert(0, {os.path.dirname(paths.PACKAGE_ROOT)!r})\n"
        "from vector_memory.client.link import DaemonClient\nfrom vector_memory.system.paths import Home\n"
        f"print(DaemonClient(Home({rig.home.root!r})).start(25)['pid'])\n"
    )
    clients = [
        subprocess.Popen([sys.executable, "-I", "-c", script], stdout=subprocess.PIPE)
        for _ in range(8)
    ]
    pids = {client.communicate(timeout=60)[0].strip() for client in clients}
    assert len(pids) == 1
    assert pids != {b""}


def test_a_killed_daemon_loses_nothing_and_comes_back(rig: Rig) -> None:
    """kill -9 right after an acknowledgement: the next daemon has the memory, by word and meaning."""
    done = rig.daemon.ask("remember", {"text": "The ledger uses WAL mode", "global": True})
    os.kill(rig.daemon.start()["pid"], signal.SIGKILL)
    rig.until(lambda: rig.daemon.running() is None, "the killed daemon's end")
    answer = rig.daemon.ask("recall", {"query": "ledger WAL", "global": True})
    assert [hit["id"] for hit in answer["hits"]] == [done["id"]]
    assert rig.daemon.ask("wait", {"timeout_s": 90})["complete"]


def test_an_edit_of_the_settings_holds_at_once(rig: Rig) -> None:
    """Whoever edits their file; a mistake in it keeps sessions out and is told, until it is mended."""
    pid = rig.daemon.start()["pid"]
    sent = {
        "project": rig.home.root,
        "session": "s",
        "messages": [{"id": "1", "role": "user", "text": "Hi."}],
    }
    rig.configure(capture=False)
    with pytest.raises(errors.BadInputError, match="no sessions indexed"):
        rig.daemon.ask("feed", sent)
    Path(rig.home.config).write_text('{"capture": true,}')
    assert "cannot be read" in rig.daemon.ask("doctor", {})["settings_error"]
    with pytest.raises(errors.BadInputError, match="no sessions indexed"):
        rig.daemon.ask("feed", sent)
    rig.configure(capture=True)
    assert rig.daemon.ask("feed", sent)["accepted"] == 1
    assert rig.daemon.ask("doctor", {})["settings_error"] == ""
    assert rig.daemon.start()["pid"] == pid


def test_it_ends_when_idle(rig: Rig) -> None:
    """Nobody asks, nothing is to do: the process goes by itself."""
    rig.configure(idle_exit_minutes=0.05)
    pid = rig.daemon.start()["pid"]
    rig.until(lambda: not alive(pid), "its end")


def test_it_ends_when_its_data_home_is_gone(rig: Rig) -> None:
    """No orphan stays behind a removed data home."""
    pid = rig.daemon.start()["pid"]
    os.unlink(rig.home.socket)
    rig.until(lambda: not alive(pid), "its end")


@pytest.mark.parametrize("asked", [True, False])
def test_it_ends_when_its_data_home_was_moved(rig: Rig, asked: bool) -> None:
    """Reached by the socket that moved along, it gives way to one that knows the new path; asked nothing, it ends by
    itself. It makes no store at the old one."""
    done = rig.daemon.ask("remember", {"text": "The ledger uses WAL mode", "global": True})
    pid = rig.state("full")["pid"]
    moved = f"{rig.home.root}-moved"
    os.rename(rig.home.root, moved)
    rig.daemon = DaemonClient(paths.Home(moved))
    if not asked:
        rig.until(lambda: not alive(pid), "its end")
    answer = rig.daemon.ask("recall", {"query": "ledger WAL", "global": True})
    assert [hit["id"] for hit in answer["hits"]] == [done["id"]]
    rig.until(lambda: not alive(pid), "its end")
    # What was being written when it was moved may make folders there, but no store.
    journal = os.path.join(rig.home.global_store, "journal.db")
    assert not any(map(os.path.exists, (rig.home.state_db, journal)))


def test_stopping_says_that_one_was_running_in_a_moved_home(rig: Rig) -> None:
    """It would have ended in any case."""
    pid = rig.daemon.start()["pid"]
    moved = f"{rig.home.root}-moved"
    os.rename(rig.home.root, moved)
    rig.daemon = DaemonClient(paths.Home(moved))
    assert rig.daemon.stop()
    rig.until(lambda: not alive(pid), "its end")
    assert not rig.daemon.stop()


def test_it_closes_its_stores_while_its_data_home_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the folder `run`, and where nobody can say, it saves what it has; where the whole home has moved it
    writes nothing."""
    home, closed = paths.Home(str(tmp_path / "home")).make(), []

    def ends(change: Callable[[], object]) -> list[float]:
        app = SimpleNamespace(
            start=lambda started: (change(), daemon.end("a test's end")),
            interrupt=lambda: None,
            close=lambda wait_s: not closed.append(wait_s),
        )
        closed.clear()
        home.make()
        monkeypatch.chdir(home.run)
        daemon = main.Daemon(home, time.monotonic())
        monkeypatch.setattr("vector_memory.daemon.app.App", lambda *given: app)
        daemon.run()
        return closed

    def refuse(*given: object, **more: object) -> None:
        raise PermissionError(errno.EACCES, "refused")

    for name in ("_end_after", "signal.signal"):
        monkeypatch.setattr(f"vector_memory.daemon.main.{name}", lambda *given: None)
    assert ends(lambda: None)
    assert ends(lambda: shutil.rmtree(home.run))
    with monkeypatch.context() as patched:
        assert ends(lambda: patched.setattr(os.path, "samestat", refuse))
    assert not ends(lambda: os.rename(home.root, tmp_path / "moved"))
    assert not ends(lambda: (os.rename(home.root, tmp_path / "again"), home.make()))


def test_an_older_daemon_gives_way_to_an_installed_newer_one(rig: Rig) -> None:
    """A newer client replaces an older daemon once its code is installed, and not before: else the
    two would take turns for ever."""
    first = rig.daemon.start()["pid"]
    rig.daemon.version = "99.0.0"
    assert rig.daemon.start()["pid"] == first
    version = Path(rig.home.app, "99.0.0", "lib", "vector_memory", "VERSION")
    version.parent.mkdir(parents=True)
    version.write_text("99.0.0\n")
    os.symlink("99.0.0", rig.home.app_current)
    with contextlib.suppress(errors.DaemonUnavailableError):
        rig.daemon.ask("status", {}, timeout_s=5, start=False)
    rig.until(lambda: not alive(first), "the older daemon's end")


def test_bad_settings_do_not_take_the_memory_away(rig: Rig) -> None:
    """With a broken config.json the daemon serves with the defaults, and `doctor` says so."""
    Path(rig.home.config).write_text("{broken")
    assert "config.json" in rig.daemon.ask("doctor", {})["settings_error"]


def test_a_missing_model_leaves_words(rig: Rig) -> None:
    """Without a model everything is stored and found by its words."""
    os.unlink(rig.home.models)
    os.mkdir(rig.home.models)
    rig.daemon.ask("remember", {"text": "The ledger uses WAL mode", "global": True})
    assert rig.state("degraded")
    answer = rig.daemon.ask("recall", {"query": "ledger", "global": True})
    assert (len(answer["hits"]), answer["mode"]) == (1, "lexical")
    assert rig.daemon.ask("doctor", {})["embedding"]["error"]


def test_garbage_on_the_socket_harms_nobody(rig: Rig) -> None:
    """Foreign bytes, a request cut short and an unknown verb leave the daemon answering."""
    rig.daemon.start()
    back = os.open(".", os.O_RDONLY)
    os.chdir(rig.home.run)
    try:
        for data in (b"GET / HTTP/1.1\r\n\r\n", b"\0" * 1000, b"VM1 status 50 0.1.0\nshort"):
            with socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(20)
                sock.connect("daemon.sock")
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                assert sock.recv(100) == b""
        body = wire.encode_request("recall", b"[1]", "0.1.0")
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect("daemon.sock")
            sock.sendall(body)
            assert sock.recv(1000).startswith(b"E ")
    finally:
        os.fchdir(back)
        os.close(back)
    with pytest.raises(errors.BadInputError, match="no verb"):
        rig.daemon.ask("nonsense", {})
    assert rig.daemon.running()


def test_a_spooled_event_is_done_by_the_next_daemon(rig: Rig, tmp_path: Path) -> None:
    """What a hook left without a daemon is indexed when one comes up, and the file is gone."""
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
    from vector_memory.client.spool import write_spool

    data = {"session_id": "s1", "transcript_path": str(talk)}
    write_spool(rig.home, "SessionEnd", data, str(tmp_path))
    rig.daemon.start()
    rig.until(lambda: rig.daemon.ask("stats", {})["memories"] >= 1, "the memory")
    rig.until(lambda: os.listdir(rig.home.spool) == [], "an empty spool")


def test_notes_and_graphs_are_imported_over_the_socket(rig: Rig, tmp_path: Path) -> None:
    """Shown in a dry run, stored otherwise; an export in Markdown reads back without a change."""
    note, graph = tmp_path / "NOTES.md", tmp_path / "memory.json"
    note.write_text("# Deploy\n\n- We use Postgres 14\n- Never commit secrets\n")
    entity = {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["codes"]}
    graph.write_text(json.dumps(entity) + "\n")

    def ask(verb: str, **payload: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        replies = list(rig.daemon.stream(verb, {"global": True, "wait": False, **payload}))
        items = [body for status, body in replies if status == "item"]
        return items, replies[-1][1]

    shown, done = ask("import_notes", paths=[str(note)], dry_run=True)
    assert ([one["action"] for one in shown], done["stored"]) == (["new", "new"], 0)
    assert ask("import_notes", paths=[str(note)])[1]["stored"] == 2
    assert ask("import", path=str(graph))[1]["stored"] == 1
    written, answer = ask("export", format="markdown", all=True)
    assert answer["exported"] == 3
    export = tmp_path / "export.md"
    export.write_text("".join(one["markdown"] for one in written))
    _, again = ask("import_notes", paths=[str(export), str(note)])
    assert (again["stored"], again["updated"], again["unchanged"]) == (0, 0, 5)
