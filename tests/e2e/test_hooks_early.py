"""A prompt is given to the daemon while its hook's interpreter still starts, and nothing depends on that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from e2e.harness import fake_daemon, hook
from e2e.harness.hook import Stdin

from vector_memory import wire

pytestmark = pytest.mark.e2e

EVENT = "user_prompt_submit"
FOLDER = b"/nonexistent/project\0"
MORE_THAN_A_PIPE_HOLDS = 40


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data home whose daemon cannot be started, with the pipe that a daemon would have made."""
    made = hook.bare_home(tmp_path / "data home", hook.pythons()[0])
    (made / "run").mkdir(exist_ok=True)
    os.mkfifo(made / "run" / wire.PROMPTS, 0o600)
    return made


@pytest.fixture
def pipe(home: Path) -> int:
    """The daemon's end."""
    return os.open(home / "run" / wire.PROMPTS, os.O_RDWR | os.O_NONBLOCK)


def come(pipe: int) -> bytes:
    """Return what has come through the pipe."""
    try:
        return os.read(pipe, 1 << 20)
    except BlockingIOError:
        return b""


@pytest.mark.parametrize("configuration", ["", "/other/configuration"])
def test_it_comes_as_it_will_be_asked(home: Path, pipe: int, configuration: str) -> None:
    """Byte for byte what the hook then asks over the socket."""
    daemon = fake_daemon.Answering()
    data = hook.payload(EVENT, prompt="100 % caf\u00e9 \\0 $HOME `x` \U0001f980", odd="\x00\n")
    named = {"CLAUDE_CONFIG_DIR": configuration} if configuration else {}
    with fake_daemon.listening(home / "run" / "daemon.sock", daemon):
        outcome = hook.run(EVENT, Stdin(data), home, **named)
    outcome.assert_polite()
    assert outcome.context == "told"
    assert daemon.asked == [
        ("hook.UserPromptSubmit", wire.encode_hook(FOLDER[:-1], configuration.encode(), data))
    ]
    assert come(pipe) == daemon.asked[0][1] + b"\n"


def test_prompts_at_once_come_whole(home: Path, pipe: int) -> None:
    daemon = fake_daemon.Answering()
    texts = [hook.payload(EVENT, prompt=f"{number} " * 400) for number in range(16)]
    with fake_daemon.listening(home / "run" / "daemon.sock", daemon):
        for begun in [hook.start(EVENT, Stdin(data), home) for data in texts]:
            begun.wait().assert_polite()
    lines = come(pipe).split(b"\n")
    assert len(lines) > 1
    # One that has to wait for its words goes the usual way.
    assert set(lines) <= {b"", *(FOLDER + data for data in texts)}


@pytest.mark.parametrize("size", [3_000, 5_000, 2_000_000])
def test_a_long_prompt_goes_the_usual_way(home: Path, pipe: int, size: int) -> None:
    daemon = fake_daemon.Answering()
    data = hook.payload(EVENT, prompt="x }\\n" * (size // 5))
    with fake_daemon.listening(home / "run" / "daemon.sock", daemon):
        hook.run(EVENT, Stdin(data), home).assert_polite()
    assert [body for _verb, body in daemon.asked] == [FOLDER + data]
    assert len(come(pipe)) < 4_096


@pytest.mark.parametrize("relative", [True, False])
def test_nothing_comes_that_would_be_asked_otherwise(
    home: Path, pipe: int, tmp_path: Path, relative: bool
) -> None:
    """A configuration's folder that is relative is made whole by the hook alone; what was in the environment before
    is no prompt."""
    named = {"CLAUDE_CONFIG_DIR": "here"} if relative else {wire.EARLY.decode(): "{}"}
    daemon = fake_daemon.Answering()
    data = hook.payload(EVENT)
    with fake_daemon.listening(home / "run" / "daemon.sock", daemon):
        hook.run(EVENT, Stdin(data), home, cwd=tmp_path, **named).assert_polite()
    assert len(daemon.asked) == 1
    assert daemon.asked[0][1].endswith(b"\0" + data)
    assert come(pipe) == (b"" if relative else FOLDER + data + b"\n")


def test_a_pipe_that_nobody_reads_holds_nothing_up(home: Path, pipe: int) -> None:
    """The first hook that gets no answer removes it; a daemon that still runs makes another."""
    data = hook.payload(EVENT, prompt="x" * 2_000)
    for _ in range(MORE_THAN_A_PIPE_HOLDS):
        hook.run(EVENT, Stdin(data), home).assert_polite()
    assert not (home / "run" / wire.PROMPTS).exists()
    assert len(come(pipe)) < 2 * 4_096


@pytest.mark.parametrize("name", list(hook.held(EVENT)))
def test_a_stdin_that_never_closes_is_given_up(home: Path, pipe: int, name: str) -> None:
    outcome = hook.run(EVENT, hook.held(EVENT)[name], home)
    outcome.assert_polite()
    assert outcome.out == b""


def test_somebody_elses_pipe_is_left_alone(home: Path, pipe: int) -> None:
    """Nor is a file in its place written to."""
    (home / "run" / wire.PROMPTS).unlink()
    plain = home / "run" / wire.PROMPTS
    plain.write_text("mine")
    hook.run(EVENT, Stdin(hook.payload(EVENT)), home).assert_polite()
    assert come(pipe) == b""
    if os.geteuid() == 0:
        plain.unlink(missing_ok=True)
        os.mkfifo(plain, 0o666)
        os.chown(plain, 12_345, 12_345)
        theirs = os.open(plain, os.O_RDWR | os.O_NONBLOCK)
        hook.run(EVENT, Stdin(hook.payload(EVENT)), home).assert_polite()
        assert come(theirs) == b""
