"""The state of things as commands show it, what could be expected, and what surprises."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.observe.learning import things
from vector_memory.observe.learning.things import (
    COMMAND,
    DOWN,
    FAILS,
    OK,
    PORT,
    UP,
    VERSION,
    Ran,
    Thing,
)

AT = datetime(2026, 5, 1, 9, tzinfo=timezone.utc)


def looked(
    said: str, output: str, ok: bool | None = True, counts: bool = False
) -> set[tuple[str, str, str]]:
    """What a command shows, without the command itself."""
    found = things.look(Ran(said, ok, output, counts), "i", AT)
    return {(one.kind, one.name, one.state) for one in found}


@pytest.mark.parametrize(
    ("said", "output", "port", "state"),
    [
        ("npm run dev", "  ➜  Local:   http://localhost:5173/", "5173", UP),
        ("flask run", " * Running on http://127.0.0.1:5000", "5000", UP),
        ("node s.js", "Server listening on port 8080", "8080", UP),
        ("uvicorn a:b", "Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C)", "8000", UP),
        ("curl -s localhost:9200/health", "{}", "9200", UP),
        ("pg_isready", "localhost:5432 - accepting connections", "5432", UP),
        ("npm start", "Error: listen EADDRINUSE: address already in use :::3000", "3000", UP),
        ("npm test", "connect ECONNREFUSED 127.0.0.1:5432", "5432", DOWN),
        ("psql", "connection to server at \"localhost\", port 5432 failed: Connection refused", "5432", DOWN),
        ("curl localhost:80", "curl: (7) Failed to connect to localhost port 8081 after 0 ms", "8081", DOWN),
    ],
)  # fmt: skip
def test_ports(said: str, output: str, port: str, state: str) -> None:
    """What listens, and what refuses."""
    ok = state == UP and "EADDR" not in output
    assert (PORT, port, state) in looked(said, output, ok)


@pytest.mark.parametrize(
    ("said", "output"),
    [
        ("", "src/server.py:107: running the local server"),
        ("pytest", "tests/test_server.py:123: started at 12:30:45"),
        ("npm test", "ready in 532 ms"),
        ("just ci", "serving 3 files, 1024 bytes"),
    ],
)
def test_what_is_no_port(said: str, output: str) -> None:
    """Line numbers, times and sizes are none."""
    assert looked(said, output) == set()


def test_versions_and_files() -> None:
    """A version that was asked for, and a file that a command missed."""
    assert looked("python3 --version", "Python 3.11.7") == {(VERSION, "python3", "3.11.7")}
    assert looked("node -v", "v22.1.0") == {(VERSION, "node", "22.1.0")}
    assert looked("pytest", "Python 3.11.7") == set()
    missing = looked("python a.py", "[Errno 2] No such file or directory: 'conf/app.yml'", False)
    assert missing == {(things.FILE, "conf/app.yml", things.MISSING)}


def thing(states: str, kind: str = COMMAND, name: str = "just test") -> Thing:
    """A thing that was seen once an hour: `.` for well, `x` for badly."""
    words = {".": OK if kind == COMMAND else UP, "x": FAILS if kind == COMMAND else DOWN}
    made = None
    for number, sign in enumerate(states):
        one = things.Sighting(kind, name, words[sign], "it broke" if sign == "x" else "", "", f"i{number}",
                             AT + timedelta(hours=number), 40.0)  # fmt: skip
        made = things.with_sighting(made, one)
    assert made is not None
    return made


def test_a_sighting_counts_once() -> None:
    """Seen again by the same call, nothing changes; seen in an older call, the state stays."""
    known = thing("....")
    assert (
        things.with_sighting(known, things.Sighting(COMMAND, "just test", FAILS, "", "", "i3", AT))
        == known
    )
    older = things.Sighting(COMMAND, "just test", FAILS, "", "", "new", AT - timedelta(days=1))
    assert things.with_sighting(known, older).state == OK
    assert len(things.with_sighting(known, older).seen) == 5


def test_only_so_many_sightings_are_kept() -> None:
    """The oldest go, and stay gone when they are read again."""
    known = thing("." * 40)
    assert len(known.seen) == things.MOST_SEEN
    again = things.Sighting(COMMAND, "just test", FAILS, "", "", "i0", AT)
    assert things.with_sighting(known, again) == known


@pytest.mark.parametrize(
    ("states", "surprise"),
    [
        ("....x", True), ("....", False), ("...x", False), ("..x.x", False), ("xxxx.", True),
        (".........xx", True), ("....x....", False), ("xxxxxx", False),
    ],
)  # fmt: skip
def test_what_is_a_surprise(states: str, surprise: bool) -> None:
    """Four earlier outcomes, nine of ten of them the same, and now the other."""
    assert thing(states).is_surprise is surprise


def test_what_is_told_when_it_happens() -> None:
    """How often it passed, when last, what was changed since; nothing of what was never reliable."""
    told = things.surprise_at(thing("............"), ["a.py", "b.py"])
    assert told == (
        "`just test` passed 12 of the last 12 times, last 2026-05-01 20:00 UTC. Changed since: a.py, b.py."
    )
    for states in ("...", "..x.", "....x", "xxxx"):
        assert things.surprise_at(thing(states)) == ""
    assert "last seen up" in things.surprise_at(thing(".", PORT, "5432"))
    assert things.surprise_at(thing(".x", PORT, "5432")) == ""


def test_what_a_start_is_told() -> None:
    """What is broken while it is, what works again once, neither for ever."""
    broken, mended, down = thing("....xx"), thing("xxxx."), thing(".x", PORT, "5432")
    now = AT + timedelta(days=1)
    assert things.unresolved([broken, mended, down, thing("....")], now) == [broken, mended, down]
    assert things.unresolved([thing("xxxx..")], now) == []
    assert things.unresolved([broken], now + timedelta(days=20)) == []
    assert (
        things.news(broken) == "`just test` fails since 2026-05-01 (passed 4 of 4 before): it broke"
    )
    assert things.news(mended) == "`just test` passes since 2026-05-01 (failed 4 of 4 before)"
    assert things.news(down).startswith("port 5432 is down since 2026-05-01")


def test_a_version_that_changed() -> None:
    """The new one and the old one are told."""
    made = None
    for number, state in enumerate(("3.11.7", "3.11.7", "3.12.1")):
        one = things.Sighting(VERSION, "python", state, "", "python --version", f"i{number}", AT)
        made = things.with_sighting(made, one._replace(at=AT + timedelta(days=number)))
    assert made is not None
    assert made.is_surprise
    assert things.news(made) == "python is 3.12.1 since 2026-05-03, was 3.11.7"


def test_it_survives_being_stored() -> None:
    """Records give it back; anything else is nothing."""
    known = thing("...x")
    assert Thing.from_dict(known.to_dict()) == known
    assert things.usual_seconds(known) == 40.0
    for broken in (
        {},
        {"kind": "x"},
        {**known.to_dict(), "seen": []},
        {**known.to_dict(), "seen": [[1]]},
    ):
        assert Thing.from_dict(broken) is None
