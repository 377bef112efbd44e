"""What a hook did not wait for was not told: it is told again."""

from __future__ import annotations

import errno
import json
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from service_house import ServiceHouse

from vector_memory import wire
from vector_memory.daemon import server as servers
from vector_memory.daemon.early import EarlyPrompts
from vector_memory.daemon.events import Events
from vector_memory.daemon.main import SOCKET, Daemon
from vector_memory.service.base import shown_notes

FACT = "The ledger of totals is kept in SQLite, since Postgres was too slow to start."
ASKED = "Where is the ledger of totals kept, SQLite or Postgres?"
WAIT_S = 30.0


class Door:
    """A daemon's socket before a service with one memory, and the hooks of a session."""

    def __init__(self, house: ServiceHouse, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ctx, self.project = house.ctx, project
        events = Events(house.ctx, lambda work: work())  # type: ignore[func-returns-value]
        self._begun = 0
        self.heard: list[str] = []
        self._daemon = Daemon(house.ctx.home, time.monotonic())
        answers: Any = SimpleNamespace(
            hook=lambda event, body, caller=None, message=None: events.answer(
                event, body, None, message
            ),
            note_prompt_start=lambda event, message, caller: self.heard.append(message.prompt),
            events=events,
            stir=lambda: None,
            ctx=house.ctx,
        )
        self._daemon.app = answers
        monkeypatch.chdir(house.ctx.home.run)
        self._daemon.server.listen()
        self._thread = threading.Thread(
            target=self._daemon.server.serve, args=(lambda: None,), daemon=True
        )
        self._thread.start()

    def begin(self, prompt: str, session: str = "s") -> socket.socket:
        """Send a prompt as a hook does, and return the open connection."""
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(WAIT_S)
        sock.connect(SOCKET)
        body = self.body(prompt, session)
        self._begun += 1
        sock.sendall(wire.encode_request(wire.HOOK_VERB + "UserPromptSubmit", body, "0.1.0"))
        return sock

    def body(self, prompt: str, session: str = "s") -> bytes:
        """Return what a prompt's hook sends."""
        data = json.dumps(
            {"session_id": session, "cwd": str(self.project), "prompt": prompt,
             "hook_event_name": "UserPromptSubmit"}
        ).encode()  # fmt: skip
        return wire.encode_hook(str(self.project).encode(), b"", data)

    def give_early(self, *bodies: bytes) -> None:
        """Give prompts before their hooks ask, and wait until the daemon is told of them."""
        with open(wire.PROMPTS, "r+b", buffering=0) as pipe:
            pipe.write(b"".join(body + b"\n" for body in bodies))
        self.until(lambda: all(body in self._daemon.early._begun for body in bodies))

    def until(self, true: Callable[[], object]) -> None:
        """Wait until something is so."""
        until = time.monotonic() + WAIT_S
        while not true():
            assert time.monotonic() < until
            time.sleep(0.005)

    def ask(self, prompt: str) -> bytes:
        """Return what a prompt is answered by a daemon whose hook waits."""
        with self.begin(prompt) as sock:
            found = b""
            while b"\n" not in found or len(found.partition(b"\n")[2]) < int(
                found.split(None, 2)[1]
            ):
                found += sock.recv(65_536)
        self.settle()
        return found.partition(b"\n")[2]

    def settle(self) -> None:
        """Wait until the daemon is done with all who were connected."""
        until = time.monotonic() + WAIT_S
        while self._daemon.server.requests < self._begun or self._daemon.server.active:
            assert time.monotonic() < until, "a hook is still being answered"
            time.sleep(0.005)

    def close(self) -> None:
        """End the daemon."""
        self._daemon.server.stop()
        self._thread.join(WAIT_S)
        self._daemon.server.close(1)


@pytest.fixture
def late_door(house: ServiceHouse, app: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    """A daemon that knows one thing."""
    house.remember(FACT, app)
    made = Door(house, app, monkeypatch)
    yield made
    made.close()


def test_what_was_read_is_told_once(late_door: Door) -> None:
    assert b"Postgres" in late_door.ask(ASKED)
    assert late_door.ask(ASKED + " Please look.") == b""
    assert late_door.ctx.state.counters()["injections"] == 1


@pytest.mark.parametrize("waits_for_answer", [False, True], ids=["gone before", "left unread"])
def test_what_nobody_read_is_told_again(late_door: Door, waits_for_answer: bool) -> None:
    """Whether the hook gave up before the answer came, or with the answer before it: it is neither told nor
    counted, and nobody asks whether it was used."""
    with late_door.begin(ASKED) as sock:
        if waits_for_answer:
            assert select.select([sock], [], [], WAIT_S)[0]
    late_door.settle()
    assert late_door.ctx.state.shown_ids("s") == set()
    counters = late_door.ctx.state.counters()
    assert (counters.get("injections", 0), counters["answers_unread"]) == (0, 1)
    assert shown_notes.waiting(late_door.ctx.running, "s").notes() == []
    assert b"Postgres" in late_door.ask(ASKED + " Please look.")
    late_door.ctx.state.flush()
    noted = late_door.ctx.state.audit_entries(9, action="recall")
    assert ["unread" in entry.detail for entry in noted] == [False, True, False]


def test_what_was_told_meanwhile_stays_told(late_door: Door) -> None:
    """Another prompt of the session was told the same after the one that gave up began."""
    state, now = late_door.ctx.state, late_door.ctx.now()
    state.add_shown("s", ["a", "b"], now)
    state.add_shown("s", ["b"], now.replace(year=2027))
    state.take_back_shown("s", ["a", "b"], now)
    assert state.shown_ids("s") == {"b"}


def test_each_call_without_an_id_is_looked_at(house: ServiceHouse) -> None:
    """A client that gives none may make the same call twice, and both are to be refused."""
    events = Events(house.ctx, lambda work: work())  # type: ignore[func-returns-value]
    call = b'{"hook_event_name": "PreToolUse", "tool_name": "Bash"%s}'
    assert all(events._is_first("PreToolUse", call % b"") for _ in range(3))
    with_id = call % b', "tool_use_id": "t1"'
    assert [events._is_first("PreToolUse", with_id) for _ in range(2)] == [True, False]


def test_what_came_early_is_told_once(late_door: Door) -> None:
    """The hook gets the answer that was begun, the same event from another wiring none, and who started the hook is
    looked at when it asks."""
    late_door.give_early(late_door.body(ASKED))
    assert b"Postgres" in late_door.ask(ASKED)
    assert late_door.heard == [ASKED]
    assert late_door.ask(ASKED) == b""
    counters = late_door.ctx.state.counters()
    assert (counters["injections"], counters["hook_UserPromptSubmit"]) == (1, 1)


def test_what_came_early_and_was_never_asked_is_as_if_it_had_not_come(late_door: Door) -> None:
    late_door.give_early(late_door.body(ASKED))
    late_door.until(lambda: not late_door._daemon.early._begun)
    late_door.until(lambda: not late_door.ctx.state.shown_ids("s"))
    assert late_door.ctx.state.counters().get("injections", 0) == 0
    assert b"Postgres" in late_door.ask(ASKED)


def test_what_came_early_and_was_not_read_is_told_again(late_door: Door) -> None:
    late_door.give_early(late_door.body(ASKED))
    with late_door.begin(ASKED):
        pass
    late_door.settle()
    assert late_door.ctx.state.shown_ids("s") == set()
    assert b"Postgres" in late_door.ask(ASKED + " Please look.")


def test_what_is_no_whole_prompt_is_not_begun(late_door: Door) -> None:
    """Nor is what is more than a few at once."""
    whole = late_door.body(ASKED)
    late_door.give_early()
    with open(wire.PROMPTS, "r+b", buffering=0) as pipe:
        pipe.write(
            b"\n".join(
                [b"", b"{}", whole[:-9], whole[:-9] + b"}", b"\0[1]", b"\xff" * 9, whole, b""]
            )
        )
    late_door.until(lambda: whole in late_door._daemon.early._begun)
    assert set(late_door._daemon.early._begun) == {whole}
    assert late_door.ctx.state.counters().get("hook_inputs_broken", 0) == 0
    assert b"Postgres" in late_door.ask(ASKED)


def test_the_pipe_is_made_again_and_goes_with_the_daemon(late_door: Door) -> None:
    """A hook that got no answer removes it."""
    os.unlink(wire.PROMPTS)
    late_door._daemon.early.listen()
    late_door.give_early(late_door.body(ASKED))
    assert b"Postgres" in late_door.ask(ASKED)
    late_door._daemon.server.stop()
    assert not os.path.exists(wire.PROMPTS)


def test_another_daemons_pipe_stays(late_door: Door) -> None:
    os.unlink(wire.PROMPTS)
    os.mkfifo(wire.PROMPTS)
    late_door._daemon.early.close()
    assert os.path.exists(wire.PROMPTS)


def test_a_newer_daemon_may_tell_what_this_one_has_begun(
    late_door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This one steps down with the hook's question, so that nobody reads its answer."""
    late_door.give_early(late_door.body(ASKED))
    late_door.until(lambda: late_door.ctx.state.shown_ids("s"))
    monkeypatch.setattr(late_door._daemon, "_is_replaced_by", lambda version: True)
    with late_door.begin(ASKED) as sock:
        assert sock.recv(1) == wire.OLD
    assert late_door.ctx.state.shown_ids("s") == set()


def test_a_pipe_that_could_not_be_made_at_first_is_heard(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, say: whatever comes through it would else stay there, and hold up the shells."""
    heard = threading.Event()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(servers, "LOOK_S", 0.05)
    early = EarlyPrompts(lambda *_: b"", lambda body: heard.set())
    server = servers.Server(SOCKET, lambda *_: None, early=early)
    with monkeypatch.context() as full:
        full.setattr(os, "mkfifo", unmade)
        server.listen()
    assert early.fd < 0
    thread = threading.Thread(target=server.serve, args=(early.listen,))
    thread.start()
    try:
        end = time.monotonic() + WAIT_S
        while not os.path.exists(wire.PROMPTS) and time.monotonic() < end:
            time.sleep(0.01)
        Path(wire.PROMPTS).write_bytes(b"/app\0{}\n")
        assert heard.wait(WAIT_S)
    finally:
        server.stop()
        thread.join()
        server.close(0.0)


def unmade(path: str, mode: int) -> None:
    """Fail as on a full disk."""
    raise OSError(errno.ENOSPC, path)
