"""Hooks keep their contract in odd surroundings: streams, folders, variables, signals, a broken
installation."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from e2e.harness import fake_daemon, hook
from e2e.harness.hook import Stdin
from processes import holds

pytestmark = pytest.mark.e2e

RUN = str(hook.ROOT / "hooks" / "run")


@pytest.fixture(params=hook.pythons(), ids=os.path.basename)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A data home whose daemon cannot be started."""
    return hook.bare_home(tmp_path / "data home", request.param)


def environment(home: Path, **more: str) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home.parent),
        "VECTOR_MEMORY_HOME": str(home),
        **more,
    }


def run(
    home: Path, event: str, redirect: str = "", **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run a hook with its streams as a shell redirects them."""
    options.setdefault("env", environment(home))
    return subprocess.run(
        ["/bin/sh", "-c", f'exec /bin/sh "$1" "$2" {redirect}', "sh", RUN, event],
        input=hook.payload(event),
        capture_output=True,
        timeout=hook.HANG_S,
        check=False,
        **options,
    )


@pytest.mark.parametrize("event", hook.EVENTS)
@pytest.mark.parametrize(
    "redirect",
    ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "</", "<>/dev/tty </dev/null", ">/dev/full"],
)
def test_closed_and_broken_streams(home: Path, event: str, redirect: str) -> None:
    """A stream that is closed, a folder, or full: 0, and nothing on stderr."""
    if "/dev/full" in redirect and not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full on this system")
    redirect = redirect.replace("<>/dev/tty ", "")
    answering = fake_daemon.Answering()
    for sock in (None, answering):
        if sock is None:
            done = run(home, event, redirect)
        else:
            with fake_daemon.listening(home / "run" / "daemon.sock", sock):
                done = run(home, event, redirect)
        assert (done.returncode, done.stderr) == (0, b"")
        assert not done.stdout or isinstance(json.loads(done.stdout), dict)


@pytest.mark.parametrize("event", sorted(hook.MAY_SPEAK))
def test_a_reader_that_has_gone(home: Path, event: str) -> None:
    """Nobody reads stdout any more: no SIGPIPE, no word."""
    reader, writer = os.pipe()
    os.close(reader)
    with fake_daemon.listening(home / "run" / "daemon.sock", fake_daemon.Answering()):
        done = subprocess.run(
            ["/bin/sh", RUN, event],
            input=hook.payload(event),
            stdout=writer,
            stderr=subprocess.PIPE,
            env=environment(home),
            timeout=hook.HANG_S,
            check=False,
        )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_reader_that_does_not_read(home: Path) -> None:
    """stdout is a pipe that is full and stays so: the hook ends all the same."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with pytest.raises(BlockingIOError):
        while True:
            os.write(writer, b"x" * 65_536)
    os.set_blocking(writer, True)
    with fake_daemon.listening(home / "run" / "daemon.sock", fake_daemon.Answering()):
        done = subprocess.run(
            ["/bin/sh", RUN, "user_prompt_submit"],
            input=hook.payload("user_prompt_submit"),
            stdout=writer,
            stderr=subprocess.PIPE,
            env=environment(home),
            timeout=hook.HANG_S,
            check=False,
        )
    os.close(writer)
    os.close(reader)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("event", hook.EVENTS)
def test_the_users_python_variables_change_nothing(home: Path, event: str, tmp_path: Path) -> None:
    """Variables that break or slow any other Python reach no hook."""
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ("posix", "json", "sitecustomize", "vector_memory"):
        (trap / f"{name}.py").write_text("raise SystemExit(7)\n")
    variables = {
        "PYTHONPATH": str(trap), "PYTHONHOME": str(trap), "PYTHONSTARTUP": str(trap / "json.py"),
        "PYTHONINSPECT": "1", "PYTHONVERBOSE": "3", "PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "2",
        "PYTHONIOENCODING": "nonsense", "PYTHONMALLOC": "debug", "PYTHONDEVMODE": "1",
        "PYTHONHASHSEED": "junk", "PYTHONPLATLIBDIR": "none", "LC_ALL": "C", "LANG": "xx_YY.bad",
    }  # fmt: skip
    spooled: list[str] = []
    # On a busy machine the first may run out of its time.
    for _ in range(10):
        done = run(home, event, env=environment(home, **variables), cwd=trap)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        spooled = os.listdir(home / "spool")
        if spooled:
            break
    assert bool(spooled) is (event in {"stop", "subagent_stop", "pre_compact", "session_end"})


@pytest.mark.parametrize("event", hook.EVENTS)
def test_without_home_and_in_a_deleted_folder(home: Path, event: str, tmp_path: Path) -> None:
    """No HOME, no PATH, and the folder that it starts in is gone."""
    gone = tmp_path / "gone"
    gone.mkdir()
    command = 'cd "$3" && rmdir "$3" && exec env -i {} /bin/sh "$1" "$2"'
    for variables in ("", f'VECTOR_MEMORY_HOME="{home}"', "VECTOR_MEMORY_HOME=relative"):
        gone.mkdir(exist_ok=True)
        done = subprocess.run(
            ["/bin/sh", "-c", command.format(variables), "sh", RUN, event, str(gone)],
            input=hook.payload(event),
            capture_output=True,
            timeout=hook.HANG_S,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, b"")
        # What the shell says before it reads its first line is out of a script's hands.
        assert all(b"getcwd" in line for line in done.stderr.splitlines())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_in_the_middle(home: Path, number: int) -> None:
    """Told to end while it waits for a daemon, by the signal to all of its group, it still exits with
    0 and prints nothing that is no JSON."""
    with fake_daemon.daemon_that("never answers", home):
        for delay_s in (0.0, 0.005, 0.01, 0.02, 0.05, 0.1):
            process = subprocess.Popen(
                ["/bin/sh", "-c", 'trap "" TERM INT HUP; exec /bin/sh "$@"', "sh", RUN, "stop"]
                if delay_s == 0.0
                else ["/bin/sh", RUN, "stop"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment(home),
                start_new_session=True,
            )
            started = holds(lambda pid=process.pid: _is_in_python(pid), 5.0)  # type: ignore[misc]
            time.sleep(delay_s)
            if started:
                os.killpg(process.pid, number)
            out, err = process.communicate(hook.payload("stop"), timeout=hook.HANG_S)
            assert (process.returncode, out, err) == (0, b"", b"")


def _is_in_python(pid: int) -> bool:
    """Whether the shell of a hook has come to start its interpreter (or cannot be looked at)."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return True
    return bool(children)


@pytest.mark.parametrize("event", hook.EVENTS)
def test_a_broken_installation(home: Path, event: str, tmp_path: Path) -> None:
    """The plugin's code half swept away, or an interpreter without its library: 0 and silence."""
    plugin = tmp_path / "plugin"
    shutil.copytree(hook.ROOT / "hooks", plugin / "hooks")
    hook.run(event, Stdin(hook.payload(event)), home, plugin).assert_polite()
    interpreter = home / "runtime" / "hook-python"
    interpreter.unlink()
    interpreter.write_text("#!/bin/sh\necho broken >&2\nkill -SEGV $$\n")
    interpreter.chmod(0o700)
    outcome = hook.run(event, Stdin(hook.payload(event)), home)
    outcome.assert_polite()
    assert outcome.out == b""


def _little_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (20 << 20, 20 << 20))


def _few_files() -> None:
    # The shell itself needs 11.
    resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))


def _no_file_grows() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize("limit", [_little_memory, _few_files, _no_file_grows])
@pytest.mark.parametrize("event", hook.EVENTS)
def test_without_memory_files_or_room(home: Path, event: str, limit: Callable[[], None]) -> None:
    """Whatever the system refuses, the session goes on; no event is left cut in the spool."""
    done = run(home, event, preexec_fn=limit)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    for path in (home / "spool").iterdir():
        if not path.name.startswith("."):
            assert json.loads(path.read_bytes())


@pytest.fixture
def passable() -> Iterator[Path]:
    """A folder that any user may pass. What pytest makes is its user's alone, and so again whenever another run begins."""
    with tempfile.TemporaryDirectory(prefix="vm-") as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.mark.parametrize("event", hook.EVENTS)
def test_a_data_home_that_can_only_be_read(event: str, passable: Path) -> None:
    """Another user's, or on a disk that is mounted read-only."""
    python = "/usr/bin/python3" if os.getuid() == 0 else hook.base_python()
    if not os.path.exists(python):
        pytest.skip("root can write anywhere, and there is no Python that another user may run")
    home = hook.bare_home(passable / "data home", os.path.realpath(python))
    folders = [home, *(path for path in home.rglob("*") if path.is_dir() and not path.is_symlink())]
    for folder in folders:
        folder.chmod(0o555)

    def become_nobody() -> None:
        if os.getuid() == 0:
            os.setgid(65_534)
            os.setuid(65_534)

    code = passable / "plugin"
    for name in ("hooks", "lib"):
        shutil.copytree(hook.ROOT / name, code / name, symlinks=True)
    for one in (code, *code.rglob("*")):
        # Whoever checked the code out may have kept it to himself.
        one.chmod(one.stat().st_mode | (0o755 if one.is_dir() else 0o444))
    try:
        done = subprocess.run(
            ["/bin/sh", str(code / "hooks" / "run"), event],
            input=hook.payload(event),
            capture_output=True,
            timeout=hook.HANG_S,
            env=environment(home),
            preexec_fn=become_nobody,
            check=False,
        )
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list((home / "spool").iterdir()) == []
