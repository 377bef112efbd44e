"""A review on a real terminal: a screen a memory, a key each, the last one can be undone."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_daemon import FakeDaemon, fake_daemon
from terminal import STEERING, Terminal, on_terminal

from vector_memory.system import paths
from vector_memory.system.paths import Home

LIB = os.path.dirname(paths.PACKAGE_ROOT)
CODE = f"import sys; sys.path.insert(0, {LIB!r})\nfrom vector_memory.cli.main import main\nsys.exit(main())"
COMMAND = [sys.executable, "-c", CODE, "review"]
LONG = (
    "Releases are tagged on Thursdays, after everybody has eaten, and never before a holiday. " * 3
)
QUIT = "q = quit"


def item(number: int, **more: Any) -> dict[str, Any]:
    """Return what the daemon says of a captured decision."""
    return {
        "id": f"{number:032x}", "reason": "decision", "kind": "decision", "project": "greeter",
        "text": f"Decision {number}. {LONG}", "created_at": "2026-11-20T10:00:00+00:00",
        "origin": "user", "priority": "NORMAL", "session": "s1", "title": "Why so late?", "sessions": 2,
        "actions": ["confirm", "keep", "edit", "drop", "raise"], **more,
    }  # fmt: skip


OLDER = {"id": "f" * 32, "text": "Ten minutes.", "kind": "decision", "origin": "assistant",
         "created_at": "2026-11-01T10:00:00+00:00"}  # fmt: skip
PAIR = item(1, reason="contradiction", text="Thirty minutes.", other=OLDER, session="s0",
            actions=["confirm", "drop", "keep"])  # fmt: skip
ITEMS = [PAIR, item(2), item(3), item(4, session="s2"), item(5, session="s3")]


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    """A daemon with five items."""
    names = {"confirm": "confirmed", "keep": "kept", "drop": "dropped", "raise": "raised"}
    with fake_daemon(Home(str(tmp_path / "data"))) as running:

        def answer(asked: dict[str, Any]) -> dict[str, Any]:
            if not any(asked.get(name) for name in (*names, "finish")):
                return {"items": ITEMS, "total": len(ITEMS)}
            return {told: asked.get(name, []) for name, told in names.items()}

        running.handlers["review"] = answer
        running.handlers["edit"] = lambda asked: {"memory": {}}
        yield running


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the program runs with: a terminal that knows nothing special, and no editor."""
    left_out = ("EDITOR", "VISUAL", "COLUMNS", "LINES", "NO_COLOR", "CLAUDECODE")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "TERM": "xterm", "VECTOR_MEMORY_HOME": str(tmp_path / "data"), "PYTHONIOENCODING": "utf-8"}  # fmt: skip


def decided(daemon: FakeDaemon) -> list[tuple[str, list[int]]]:
    """Return what the daemon was asked to do, in its order: how, and with which items."""
    return [
        (name, [int(id, 16) for id in asked[name]])
        for asked in daemon.payloads("review")
        for name in ("confirm", "keep", "drop", "raise")
        if asked.get(name)
    ]


def press(terminal: Terminal, keys: str) -> list[str]:
    """Press one key after the other, each when a screen stands there; return the screens."""
    screens = []
    for key in keys:
        screens.append(terminal.read_until(QUIT))
        terminal.press(key)
    return screens


@pytest.mark.parametrize("columns", [46, 120])
def test_a_screen_a_memory(daemon: FakeDaemon, environ: dict[str, str], columns: int) -> None:
    """Whatever the width, nothing is wider; each key does what the screen says."""
    with on_terminal(COMMAND, environ, columns) as terminal:
        screens = press(terminal, "nkrds")
        end = terminal.read_until("Settled: 1")
    assert "1 is left for the next review.\nKept: 1\nDropped: 1\nRaised: 1\nSettled: 1" in end
    assert decided(daemon) == [("confirm", [1]), ("keep", [2]), ("raise", [3]), ("drop", [4])]
    assert max(len(line) for screen in screens for line in screen.splitlines()) < columns
    assert "1 of 5: disagrees with an older one" in screens[0]
    assert "Newer, by you, 2026-11-20:\n  Thirty minutes." in screens[0]
    assert "Older, by the assistant, 2026-11-01:\n  Ten minutes." in screens[0]
    assert "n = newer holds" in screens[0] and "edit" not in screens[0] and "undo" not in screens[0]
    assert (
        "in 2 sessions" in " ".join(screens[1].split())
        and "In this turn: Why so late?" in screens[1]
    )
    assert "a = keep all of this session" in screens[1] and "a =" not in screens[2]
    assert "u = undo" in screens[2]


def test_the_last_decision_can_be_undone(daemon: FakeDaemon, environ: dict[str, str]) -> None:
    """The one before it is done by then."""
    with on_terminal(COMMAND, environ) as terminal:
        screens = press(terminal, "ndduuxq")
        terminal.read_until("3 are left for the next review")
    assert "Taken back." in screens[4] and "3 of 5" in screens[4]
    assert "nothing to undo" in screens[5] and "'x' means nothing here" in screens[6]
    assert decided(daemon) == [("confirm", [1]), ("drop", [2])]


def test_a_session_or_all_at_once(daemon: FakeDaemon, environ: dict[str, str]) -> None:
    """What was captured; a key that would keep all asks once more."""
    with on_terminal(COMMAND, environ) as terminal:
        press(terminal, "sa")
        terminal.read_until(QUIT)
        terminal.press("f")
        terminal.read_until("Keep all 2 that are left? y = yes")
        terminal.press("n")
        terminal.read_until(QUIT)
        terminal.press("fy")
        terminal.read_until("All looked through.")
    assert decided(daemon) == [("keep", [2, 3])]
    assert [asked for asked in daemon.payloads("review") if asked.get("finish")]


def test_words_are_changed_in_place(daemon: FakeDaemon, environ: dict[str, str]) -> None:
    """The line stands there; or an editor is opened, on a file that nobody else can read and that goes with it."""
    with on_terminal(COMMAND, environ, 120) as terminal:
        press(terminal, "se")
        terminal.read_until("a holiday.")
        terminal.press("\x15Tagged on Fridays.\n")
        press(terminal, "q")
        terminal.read_until("Edited: 1")
    assert daemon.payloads("edit")[-1]["text"] == "Tagged on Fridays."
    editor = f"{sys.executable} -c 'import sys; open(sys.argv[1], \"w\").write(sys.argv[1])'"
    with on_terminal(COMMAND, {**environ, "EDITOR": editor}) as terminal:
        press(terminal, "se")
        press(terminal, "q")
        terminal.read_until("Edited: 1")
    path = daemon.payloads("edit")[-1]["text"]
    assert os.path.dirname(path) == daemon.home.run and not os.path.exists(path)


@pytest.mark.parametrize(
    ("editor", "reason"),
    [("true", ""), ("false", "false ended with 1. "), ("/no", "does not start")],
)
def test_an_editor_that_leaves_the_words_changes_nothing(
    daemon: FakeDaemon, environ: dict[str, str], editor: str, reason: str
) -> None:
    """Nor one that fails, and the review goes on."""
    unanswered = item(2, reason="unanswered", actions=["confirm", "keep", "edit"])
    daemon.handlers["review"] = lambda asked: {"items": [unanswered], "total": 1}
    with on_terminal(COMMAND, {**environ, "EDITOR": editor}, 120) as terminal:
        screens = press(terminal, "eq")
        terminal.read_until("1 is left")
    assert reason in screens[1] and "Nothing was changed." in screens[1]
    assert not any(asked.get("confirm") for asked in daemon.payloads("review"))


@pytest.mark.parametrize("end", ["\x03", "\x04"])
def test_however_it_ends_what_was_decided_counts(
    daemon: FakeDaemon, environ: dict[str, str], end: str
) -> None:
    """By Ctrl-C and by the end of input; the terminal is as it was."""
    with on_terminal(COMMAND, environ) as terminal:
        press(terminal, f"n{end}")
        terminal.read_until("Settled: 1")
        assert terminal.process.wait(20) == 0
    assert decided(daemon) == [("confirm", [1])]


def test_plainly(daemon: FakeDaemon, environ: dict[str, str]) -> None:
    """For a screen reader: lines, a key and Enter, and nothing that steers the terminal; nothing is cut."""
    with on_terminal([*COMMAND, "--plain"], environ, 80, 12) as terminal:
        for key in ("n", "", "k", "q"):
            shown = terminal.read_until("Key: ")
            terminal.press(f"{key}\n")
        end = terminal.read_until("Kept: 1")
    assert "\x1b" not in terminal.raw
    assert "show" not in shown and "3 of 5" not in end
    assert decided(daemon) == [("confirm", [1]), ("keep", [3])]


def test_plain_keys_that_end_leave_the_rest(daemon: FakeDaemon, environ: dict[str, str]) -> None:
    """As on screens: what was decided counts, and that is told."""
    with on_terminal([*COMMAND, "--plain"], environ, 80, 12) as terminal:
        terminal.read_until("Key: ")
        terminal.press("n\n")
        terminal.read_until("Key: ")
        terminal.press("\x04")
        end = terminal.read_until("Settled: 1")
    assert "4 are left for the next review." in end
    assert decided(daemon) == [("confirm", [1])]


def test_without_colour(daemon: FakeDaemon, environ: dict[str, str]) -> None:
    """Nothing but the clearing is left."""
    with on_terminal(COMMAND, {**environ, "NO_COLOR": "1"}) as terminal:
        press(terminal, "q")
        terminal.read_until("left")
    assert set(STEERING.findall(terminal.raw)) == {"\x1b[H", "\x1b[2J"}


def test_a_long_text_leaves_the_keys_on_the_screen(
    daemon: FakeDaemon, environ: dict[str, str]
) -> None:
    """What does not fit is told."""
    ITEMS_LONG = [item(2, text=LONG * 9)]
    daemon.handlers["review"] = lambda asked: {"items": ITEMS_LONG, "total": 1}
    with on_terminal(COMMAND, environ, 46, 24) as terminal:
        (screen,) = press(terminal, "q")
        terminal.read_until("left")
    assert len(screen.splitlines()) <= 24
    assert re.search(r"`vector-memory show\s+0{10}", screen)
