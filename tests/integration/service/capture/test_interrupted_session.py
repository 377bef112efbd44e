"""A session whose client was killed told nobody of its end: the next one of its project has it read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from service_house import ServiceHouse, door
from talk import transcript

from vector_memory import wire
from vector_memory.client.spool import read_spool
from vector_memory.daemon.callers import HookStarter
from vector_memory.daemon.events import Events
from vector_memory.service.jobs import session_sweep
from vector_memory.service.jobs.step import JobRun
from vector_memory.system import processes

OLD = [("How often is the old gauge read?", "The night shift reads the old gauge every hour.")]
NEW = [
    (
        "Can you move all cranes of hall two from HTTP to MQTT?",
        "Cranes 1 to 14 report over MQTT now; 15 to 20 are left.",
    )
]
LATER = [*NEW, ("And the lifts of hall three?", "The lifts of hall three report over MQTT, too.")]


class Client:
    """Sessions of one project, one after the other or at once; what a daemon reads waits until `read`."""

    def __init__(self, house: ServiceHouse, project: Path) -> None:
        self.house, self.project = house, project
        self.folder = project.parent / "transcripts"
        self.folder.mkdir()
        self.waiting: list[object] = []
        self.events = Events(house.ctx, self.waiting.append)

    def say(self, session: str, talk: list[tuple[str, str]], folder: Path | None = None) -> Path:
        """Let a session have said something."""
        path = transcript(folder or self.project, talk, session, after_hours=session != "old")
        there = self.folder / path.name
        path.rename(there)
        return there

    def tell(
        self, event: str, session: str, by: int = 0, prompt: str = "", folder: Path | None = None
    ) -> str:
        """Run a hook, of the client that is process `by`; return what it brings."""
        cwd, process = str(folder or self.project), processes.process(by) if by else None
        told = {
            "hook_event_name": event, "session_id": session, "cwd": cwd, "prompt": prompt,
            "transcript_path": str(self.folder / f"{session}.jsonl"), "source": "startup",
        }  # fmt: skip
        body = wire.encode_hook(cwd.encode(), b"", json.dumps(told).encode())
        started = HookStarter(process, True) if process else None
        return self.events.answer(event, body, started).decode()

    def end(self, session: str, event: str = "SessionEnd") -> None:
        """Let a session end in order, or a turn of it."""
        self.tell(event, session)
        self.read()

    def read(self) -> None:
        """Read all that waits."""
        while self.waiting:
            self.waiting.pop(0)()  # type: ignore[operator]

    def queued(self) -> list[tuple[str, str]]:
        """Return the session and event of what waits to be read."""
        return [
            (str(entry["session"]), str(entry["event"]))
            for _, entry in read_spool(self.house.ctx.home)
        ]

    def known(self) -> str:
        """Return all that is stored."""
        return str(door(self.house.ctx, "list", {"all_projects": True, "k": 1_000})["memories"])


@pytest.fixture
def client(house: ServiceHouse, app: Path) -> Client:
    made = Client(house, app)
    made.say("old", OLD)
    made.end("old")
    return made


@pytest.fixture
def another() -> Iterator[subprocess.Popen[bytes]]:
    """Another process than this one."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as made:
        yield made


def test_it_is_read_when_the_next_one_starts(client: Client) -> None:
    """The start says that what it tells is not the newest, and a prompt soon after is told the newest."""
    client.tell("SessionStart", "new")
    client.say("new", NEW)
    told = client.tell("SessionStart", "next")
    assert "old gauge" in told
    assert "A newer session (new, " in told
    client.read()
    assert "15 to 20 are left" in client.tell("UserPromptSubmit", "next", prompt="continue")
    assert "newer session" not in client.tell("SessionStart", "third")
    assert client.queued() == []


def test_one_that_was_read_in_part_is_read_on(client: Client) -> None:
    """Nothing is said of it: it is the one that the start tells."""
    client.say("new", NEW)
    client.end("new", "Stop")
    client.say("new", LATER)
    assert "newer session" not in client.tell("SessionStart", "next")
    client.read()
    assert "hall three" in client.known()


@pytest.mark.skipif(processes.process(os.getpid()) is None, reason="nobody tells of processes here")
def test_one_that_goes_on_is_left_alone(client: Client, another: subprocess.Popen[bytes]) -> None:
    """Beside it another one is looked at, and once its client has gone its end is certain, as is that of one whose
    client began the present one."""
    client.tell("SessionStart", "beside", by=another.pid)
    client.tell("SessionStart", "crashed", by=os.getpid())
    client.say("crashed", NEW)
    os.utime(client.folder / "crashed.jsonl", (2_000_000_000, 2_000_000_000))
    client.say("beside", LATER)
    os.utime(client.folder / "beside.jsonl", (2_000_000_100, 2_000_000_100))
    assert "newer session (crashed" in client.tell("SessionStart", "next", by=os.getpid())
    assert client.queued() == [("crashed", "Stop")]
    client.read()
    client.tell("SessionStart", "again", by=os.getpid())
    assert client.queued() == []
    another.kill()
    another.wait()
    assert "newer session (beside" in client.tell("SessionStart", "third", by=os.getpid())
    assert client.queued() == [("beside", "SessionEnd")]


def test_one_that_ended_in_order_is_not_read_again(client: Client) -> None:
    """Nor is that of a resumed or compacted session itself."""
    client.say("new", NEW)
    client.end("new")
    client.tell("SessionStart", "next")
    client.tell("SessionStart", "new")
    assert client.queued() == []


@pytest.mark.parametrize("why", ["never asked for", "capture off", "excluded", "another project"])
def test_what_nobody_asked_for_stays_unread(
    house: ServiceHouse, app: Path, tmp_path: Path, why: str
) -> None:
    client = Client(house, app)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if why != "never asked for":
        client.say("old", OLD)
        client.end("old")
    client.say("new", NEW, elsewhere if why == "another project" else app)
    if why == "capture off":
        house.ctx.settings = replace(house.ctx.settings, capture=False)
    elif why == "excluded":
        house.ctx.settings = replace(house.ctx.settings, excluded_projects=(str(app),))
    assert "newer session" not in client.tell("SessionStart", "next")
    assert client.queued() == []


def restarted(client: Client) -> None:
    """Let another daemon go on: what is known of running sessions alone is gone."""
    client.house.ctx.running.clear()
    client.events = Events(client.house.ctx, client.waiting.append)


@pytest.mark.skipif(processes.process(os.getpid()) is None, reason="nobody tells of processes here")
def test_of_one_whose_client_is_not_known_nobody_says_that_it_ended(
    client: Client, another: subprocess.Popen[bytes]
) -> None:
    """It may still go on: what it has said is read, and its end is not."""
    client.tell("SessionStart", "beside", by=another.pid)
    path = client.say("beside", NEW)
    before = client.house.time.timestamp() - 600
    os.utime(path, (before, before))
    os.utime(client.folder / "old.jsonl", (before - 600, before - 600))
    restarted(client)
    told = client.tell("SessionStart", "next", by=os.getpid())
    assert "newer session (beside" in told and "may not have ended" in told
    assert client.queued() == [("beside", "Stop")]


def test_what_a_client_writes_after_the_end_is_taken_up_once(client: Client) -> None:
    """However often a daemon starts anew meanwhile."""
    client.say("new", NEW)
    client.end("new")
    path = client.folder / "new.jsonl"
    with path.open("a") as file:
        file.write(json.dumps({"type": "summary", "summary": "cranes"}) + "\n")
    os.utime(path, (2_000_000_000, 2_000_000_000))
    seen = []
    for number in range(3):
        restarted(client)
        client.tell("SessionStart", f"n{number}")
        seen.append(len(client.queued()))
        client.read()
    assert seen == [1, 0, 0]


def ask(client: Client, path: Path, number: int, is_kept: bool = True, late_s: float = 0.0) -> None:
    """Let a session's hook tell of one of its prompts, so many seconds after the transcript says that it was typed."""
    asked = [json.loads(line) for line in path.read_text("utf-8").splitlines()][2 * number]
    moment = datetime.fromisoformat(asked["timestamp"]).timestamp() + late_s
    ctx, on = client.house.ctx, client.house.ctx.settings
    ctx.settings = replace(on, capture=is_kept)
    with pytest.MonkeyPatch.context() as clock:
        clock.setattr(time, "time", lambda: moment)
        client.tell("UserPromptSubmit", path.stem, prompt=asked["message"]["content"])
    ctx.settings = on


def said_unkept(client: Client, talk: list[tuple[str, str]] = NEW, late_s: float = 0.0) -> Path:
    """Say something while `capture` is off, in a turn that never ends; return its transcript."""
    path = client.say("private", talk)
    ask(client, path, 0, is_kept=False, late_s=late_s)
    return path


@pytest.mark.parametrize("by", ["the next start", "the sweep"])
def test_what_was_said_while_capture_was_off_is_kept_by_nobody(client: Client, by: str) -> None:
    """Its client was killed before its turn had ended, and now `capture` is on again."""
    path = said_unkept(client)
    if by == "the next start":
        os.utime(path, (2_000_000_000, 2_000_000_000))
        assert "newer session" not in client.tell("SessionStart", "next")
        client.read()
    else:
        now = datetime.now(timezone.utc)
        os.utime(path, (now.timestamp() - 600,) * 2)
        os.utime(client.folder / "old.jsonl", (now.timestamp() - 1_200,) * 2)
        session_sweep.step(client.house.ctx, JobRun(now))
    assert "15 to 20 are left" not in client.known()


def test_what_is_said_after_capture_is_on_again_is_kept(client: Client) -> None:
    """In the session, too, of which a turn was passed over."""
    path = said_unkept(client)
    os.utime(path, (2_000_000_000, 2_000_000_000))
    client.tell("SessionStart", "next")
    client.read()
    client.say("private", LATER)
    client.tell("UserPromptSubmit", "private", prompt=LATER[1][0])
    client.end("private")
    assert "hall three" in client.known() and "15 to 20 are left" not in client.known()


@pytest.mark.parametrize("by", ["a turn's end", "the session's end", "a backfill"])
def test_a_turn_that_was_broken_off_while_capture_was_off_stays_out(
    client: Client, by: str
) -> None:
    """Nothing tells of its end (Esc); the session goes on with `capture` on, and what is said then is kept."""
    path = said_unkept(client, LATER)
    ask(client, path, 1)
    if by == "a backfill":
        client.read()
        door(client.house.ctx, "backfill", {"paths": [str(path)]})
    else:
        client.end("private", "Stop" if by == "a turn's end" else "SessionEnd")
    assert "hall three" in client.known() and "15 to 20 are left" not in client.known()


def test_a_turn_that_began_while_capture_was_off_is_not_read_before_its_end(
    client: Client,
) -> None:
    """`capture` is switched on in its midst, and the client compacts."""
    path = said_unkept(client)
    client.read()
    client.end("private", "PreCompact")
    client.end("private", "Stop")
    assert path.exists() and "15 to 20 are left" not in client.known()


@pytest.mark.parametrize("late_s", [0.5, 2.5, 4.0])
def test_a_hook_that_comes_late_keeps_out_what_was_said_before_it(
    client: Client, late_s: float
) -> None:
    """And of the turn that is kept nothing."""
    path = said_unkept(client, LATER, late_s)
    ask(client, path, 1, late_s=late_s)
    client.end("private", "Stop")
    assert "hall three" in client.known() and "15 to 20 are left" not in client.known()


@pytest.mark.parametrize("gap_s", [2, 4, 20])
def test_a_turn_that_is_broken_off_at_once_stays_out(client: Client, gap_s: int) -> None:
    """The next prompt comes seconds later."""
    path = client.say("private", LATER)
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    begun = datetime.fromisoformat(lines[0]["timestamp"])
    for line in lines[2:]:
        line["timestamp"] = (begun + timedelta(seconds=gap_s)).isoformat()
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    ask(client, path, 0, is_kept=False)
    ask(client, path, 1)
    client.end("private", "Stop")
    assert "hall three" in client.known() and "15 to 20 are left" not in client.known()


def test_what_was_kept_between_two_unkept_turns_is_kept(client: Client) -> None:
    """Though its end waits to be read when the second one begins."""
    talk = [*LATER, ("And the doors of hall five?", "The doors of hall five report over MQTT as well.")]  # fmt: skip
    path = said_unkept(client, talk)
    whole = path.read_text("utf-8")
    path.write_text("".join(whole.splitlines(keepends=True)[:4]), "utf-8")
    ask(client, path, 1)
    client.tell("Stop", "private")
    path.write_text(whole, "utf-8")
    ask(client, path, 2, is_kept=False)
    client.read()
    known = client.known()
    assert "hall three" in known and "hall five" not in known and "15 to 20 are left" not in known


def test_what_a_subagent_said_in_such_a_turn_stays_out(client: Client) -> None:
    """Its transcript is read when the session ends."""
    path = said_unkept(client, LATER)
    about = json.loads(path.read_text("utf-8").splitlines()[0])
    about |= {"isSidechain": True, "agentId": "a1"}
    folder = path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    answer = {"role": "assistant", "id": "m", "content": [{"type": "text", "text": "The plan of the vault lies in hall nine, below the third lamp."}]}  # fmt: skip
    lines = [
        {**about, "uuid": "x1", "message": {"role": "user", "content": "Look for the plan of the vault."}},
        {**about, "uuid": "x2", "type": "assistant", "message": answer},
    ]  # fmt: skip
    (folder / "agent-a1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ask(client, path, 1)
    client.end("private", "Stop")
    client.end("private", "SessionEnd")
    assert "hall three" in client.known() and "hall nine" not in client.known()
    assert not client.house.ctx.state.records("unkept")
