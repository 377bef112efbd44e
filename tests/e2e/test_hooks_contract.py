"""Hooks keep their contract whatever stands behind the socket and whatever comes on stdin: exit 0,
nothing on stderr, and on stdout nothing or one JSON object."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from e2e.harness import fake_daemon, hook
from e2e.harness.hook import Stdin
from processes import holds

from vector_memory.client.spool import read_spool
from vector_memory.system.paths import Home

pytestmark = pytest.mark.e2e

EVERYTHING = ("is absent", "is stopped", "has nothing to say")
IN_TURN = 4
"""Behind the other sockets, each of which a hook treats as it treats another, one in so many inputs is tried
with an event: all of them with each socket and each event, and the proper one always."""


@pytest.fixture(params=hook.pythons(), ids=os.path.basename)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data home whose daemon cannot be started."""
    return hook.bare_home(tmp_path / "data home", request.param)


@pytest.mark.parametrize("state", fake_daemon.ALL_STATES)
@pytest.mark.parametrize("event", hook.EVENTS)
def test_a_hook_without_a_good_daemon_says_nothing(event: str, state: str, home: Path) -> None:
    """With no daemon or a bad one, every hook ends by itself, with success and in silence."""
    proper, *hopeless = hook.inputs(event).values()
    if state not in EVERYTHING:
        turn = list(hook.EVENTS).index(event) + fake_daemon.ALL_STATES.index(state)
        hopeless = hopeless[turn % IN_TURN :: IN_TURN]
    stdins = [proper, *hopeless]
    with fake_daemon.daemon_that(state, home):
        outcomes = run_all(event, stdins, home)
    for outcome in outcomes:
        outcome.assert_polite()
        assert outcome.out == b""


@pytest.mark.parametrize("state", ["is absent", "never answers"])
@pytest.mark.parametrize("event", hook.EVENTS)
def test_a_stdin_that_never_closes_is_given_up(event: str, state: str, home: Path) -> None:
    """A hook whose input does not end, ends all the same."""
    with fake_daemon.daemon_that(state, home):
        outcomes = run_all(event, list(hook.held(event).values()), home)
    for outcome in outcomes:
        outcome.assert_polite()
        assert outcome.out == b""


def run_all(event: str, stdins: list[Stdin], home: Path) -> list[hook.Outcome]:
    """Run one hook with every input, all at once."""
    return [one.wait() for one in [hook.start(event, stdin, home) for stdin in stdins]]


@pytest.mark.parametrize("event", hook.EVENTS)
def test_stdin_reaches_the_daemon_as_it_is(event: str, home: Path) -> None:
    """The daemon gets the event, the project's folder and the very bytes of stdin; what it answers
    is printed where the client takes context, and only there."""
    daemon = fake_daemon.Answering()
    data = hook.payload(event, prompt="caf\u00e9 \U0001f980 " * 3, odd="\x00")
    with fake_daemon.listening(home / "run" / "daemon.sock", daemon):
        outcome = hook.run(event, Stdin(data), home)
    outcome.assert_polite()
    assert daemon.asked == [(f"hook.{hook.EVENTS[event]}", b"/nonexistent/project\0" + data)]
    assert (outcome.context == "told") is (event in hook.MAY_SPEAK)


def test_a_large_prompt_reaches_the_daemon_whole(home: Path) -> None:
    """Five megabytes of stdin pass within the deadline."""
    daemon = fake_daemon.Answering()
    data = hook.payload("user_prompt_submit", prompt="x" * 5_000_000)
    with fake_daemon.listening(home / "run" / "daemon.sock", daemon):
        outcome = hook.run("user_prompt_submit", Stdin(data), home)
    outcome.assert_polite()
    assert [len(body) for _verb, body in daemon.asked] == [len(b"/nonexistent/project\0" + data)]


@pytest.mark.parametrize("event", ["stop", "subagent_stop", "pre_compact", "session_end"])
def test_what_must_not_be_lost_is_spooled_without_text(event: str, home: Path) -> None:
    """Without a daemon these events leave a note of where to read on, and none of the words."""
    data = hook.payload(event, last_assistant_message="the words", custom_instructions="the words")
    hook.run(event, Stdin(data), home).assert_polite()
    # On a crowded machine that is done when the hook's time is over already.
    assert holds(lambda: read_spool(Home(str(home))))
    notes = [path.read_bytes() for path in (home / "spool").iterdir()]
    assert len(notes) == 1
    assert json.loads(data)["session_id"].encode() in notes[0]
    assert b"/nonexistent/transcript.jsonl" in notes[0]
    assert b"the words" not in notes[0]


@pytest.mark.parametrize("event", ["session_start", "user_prompt_submit"])
def test_questions_are_not_spooled(event: str, home: Path) -> None:
    """What only asks leaves nothing behind."""
    hook.run(event, Stdin(hook.payload(event)), home).assert_polite()
    assert list((home / "spool").iterdir()) == []


@pytest.mark.parametrize("event", hook.EVENTS)
def test_an_unreadable_data_home_is_borne_in_silence(event: str, tmp_path: Path) -> None:
    """A data home that is a file, or that cannot be written, stops no session."""
    broken = tmp_path / "file"
    broken.write_text("not a folder")
    hook.run(event, Stdin(hook.payload(event)), broken).assert_polite()


@pytest.mark.parametrize("event", hook.EVENTS)
def test_an_unknown_event_or_a_bare_environment_is_borne(event: str, home: Path) -> None:
    """Without the client's variables a hook still ends well."""
    bare = hook.run(event, Stdin(hook.payload(event)), home, CLAUDE_PROJECT_DIR="", PATH="")
    bare.assert_polite()
    hook.run("no_such_event", Stdin(b"{}"), home).assert_polite()


def test_hooks_write_nothing_into_the_plugin(home: Path, tmp_path: Path) -> None:
    """The plugin's folder is the client's: bytecode and all else goes to the data home."""
    plugin = tmp_path / "plugin"
    for folder in ("hooks", "lib"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(hook.ROOT / folder, plugin / folder, ignore=ignored, symlinks=True)
    before = sorted(plugin.rglob("*"))
    for event in hook.EVENTS:
        hook.run(event, Stdin(hook.payload(event)), home, plugin).assert_polite()
    assert sorted(plugin.rglob("*")) == before
    assert list((home / "run" / "pycache").rglob("*.pyc"))
