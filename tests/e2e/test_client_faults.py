"""Whatever is broken, the real client's session goes on without noticing."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.harness import story
from e2e.harness.api import ScriptedApi
from e2e.harness.client import Client
from e2e.harness.install import Installation
from e2e.harness.request import Request, injections, texts
from e2e.harness.story import AGAIN, QUESTION

pytestmark = pytest.mark.e2e


def test_a_killed_daemon_costs_no_session(
    client: Client, installed: Installation, tmp_path: Path
) -> None:
    """After a crash of the daemon sessions run on, and memory is back by itself."""
    decided = story.decide(client, installed, tmp_path / "ledger")
    killed = installed.kill_daemon()
    run = client.session(QUESTION, cwd=decided.project, plugin=installed.plugin)
    story.assert_unharmed(run)
    assert story.mentions(run.main[0]) == 1
    installed.wait_until(lambda: installed.pid() not in {None, killed}, "a new daemon")
    later = client.session(AGAIN, cwd=decided.project, plugin=installed.plugin)
    assert story.mentions(later.main[0]) == 1


def test_a_turn_without_a_daemon_is_indexed_later(
    client: Client, installed: Installation, tmp_path: Path
) -> None:
    """What was said while no daemon could start is spooled, and remembered once one runs."""
    project = tmp_path / "ledger"
    with installed.no_daemon():
        run = client.session(
            story.PROMPT, cwd=project, replies=[story.ANSWER], plugin=installed.plugin
        )
        story.assert_unharmed(run)
        assert list((installed.home / "spool").iterdir())
    installed.cli("daemon", "start")
    installed.settle(1)
    assert any(story.FACT in one["text"] for one in installed.exported())
    assert not list((installed.home / "spool").iterdir())


def test_a_secret_is_stored_nowhere(
    client: Client, installed: Installation, tmp_path: Path
) -> None:
    """A key in a prompt or an answer is in no file of the data home and in no later request."""
    secret = "AKIA" + "Q7RZP2MXW5KD3VNB"
    password = "hunter" + "2-" + "Xk9!vQ"
    cwd, plugin = tmp_path / "cloud", installed.plugin
    client.session(
        f"Deploy the walrus service with AWS key {secret} please",
        cwd=cwd,
        replies=[f"Deployed the walrus service. DB_PASSWORD={password} is in the .env file."],
        plugin=plugin,
    )
    installed.settle(1)
    run = client.session("Which AWS key deploys the walrus service?", cwd=cwd, plugin=plugin)
    installed.cli("daemon", "stop")
    assert "walrus" in "".join(injections(run.main[0]))
    assert secret not in "".join(injections(run.main[0]))
    assert password not in "".join(injections(run.main[0]))
    assert files_with(installed.home, b"walrus")
    assert files_with(installed.home, secret.encode()) == []
    assert files_with(installed.home, password.encode()) == []


def files_with(home: Path, word: bytes) -> list[Path]:
    """Return the data home's files that hold some bytes; links to shared folders stay unread."""
    return [
        Path(folder, name)
        for folder, _, names in os.walk(home)
        for name in names
        if Path(folder, name).is_file() and word in Path(folder, name).read_bytes()
    ]


def test_a_damaged_journal_costs_no_session(
    client: Client, installed: Installation, tmp_path: Path
) -> None:
    """A journal that is no database is noticed by no session."""
    decided = story.decide(client, installed, tmp_path / "ledger")
    installed.cli("daemon", "stop")
    for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
        path = installed.home / "global" / name
        if path.exists():
            path.write_bytes(b"\x00garbage" * 4096)
    run = client.session(QUESTION, cwd=decided.project, plugin=installed.plugin)
    story.assert_unharmed(run)


@pytest.fixture
def broken_home(api: ScriptedApi, tmp_path: Path) -> Iterator[Client]:
    """The client with a data home that is a file."""
    home = tmp_path / "file"
    home.write_text("not a folder")
    yield Client(api, tmp_path, home, with_servers=False)
    assert home.read_text() == "not a folder"


def test_an_unusable_data_home_costs_no_session(
    broken_home: Client, plugin: Path, tmp_path: Path
) -> None:
    """Where nothing can be read or written, sessions run without a word about it."""
    run = broken_home.session("Hello there", cwd=tmp_path / "p", replies=["Hi."], plugin=plugin)
    story.assert_unharmed(run)
    assert run.result == "Hi."
    assert [injections(one) for one in run.main] == [[]]


def test_a_missing_runtime_is_told_at_the_first_start(
    api: ScriptedApi, plugin: Path, tmp_path: Path
) -> None:
    """Without a runtime the first session's start says in one line that it is being set up; a set-up
    that fails leaves the session alone, and the next start says what is wrong."""
    home = tmp_path / "data"
    home.mkdir()
    # Nothing can be installed where a file stands, so the set-up ends at once.
    (home / "runtime").write_text("in the way")
    client = Client(api, tmp_path, home)
    first = client.session("Hello there", cwd=tmp_path / "p", plugin=plugin)
    story.assert_unharmed(first)
    (line,) = start_lines(first.main[0])
    assert "set up" in line
    failed = home / "run" / "setup.failed"
    wait_for(failed)
    second = client.session("Hello again", cwd=tmp_path / "p", plugin=plugin)
    story.assert_unharmed(second)
    (line,) = start_lines(second.main[0])
    assert "could not" in line.lower()


def start_lines(request: Request) -> list[str]:
    """Return what hooks said at the session's start, line by line."""
    mark = "SessionStart hook additional context: "
    found = "\n".join(texts(request)).split(mark)[1:]
    return [text.split("\n")[0] for text in found]


def wait_for(path: Path) -> None:
    """Wait until a file exists, at most 60 s."""
    until = time.monotonic() + 60.0
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} never came"
        time.sleep(0.1)
