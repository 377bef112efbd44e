"""The state of things as commands show it, what could be expected, and what surprises."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from vector_memory.observe.learning import world
from vector_memory.observe.learning.world import (
    COMMAND,
    DOWN,
    FAILS,
    OK,
    PORT,
    UP,
    VERSION,
    Sighting,
    Thing,
)

AT = datetime(2026, 5, 1, 9, tzinfo=timezone.utc)


def sightings(states: str, kind: str = COMMAND, name: str = "just test") -> list[Sighting]:
    """A thing seen once an hour: `.` for well, `x` for badly."""
    words = {".": OK if kind == COMMAND else UP, "x": FAILS if kind == COMMAND else DOWN}
    return [
        Sighting(kind, name, words[sign], "it broke" if sign == "x" else "", f"i{number}",
                 (AT + timedelta(hours=number)).isoformat(), 40.0)
        for number, sign in enumerate(states)
    ]  # fmt: skip


def thing(states: str, kind: str = COMMAND, name: str = "just test") -> Thing:
    """What these sightings make."""
    (made,) = world.things_of(sightings(states, kind, name))
    return made


def test_a_sighting_counts_once() -> None:
    """Seen again by the same call, nothing changes; seen in an older call, the state stays."""
    seen = sightings("....")
    again = seen[3]
    older = seen[0]._replace(state=FAILS, at=(AT - timedelta(days=1)).isoformat())
    assert world.things_of([*seen, again]) == [thing("....")]
    (made,) = world.things_of([*seen, older])
    assert (made.state, made.seen) == (OK, 5)


def test_only_so_many_sightings_are_kept() -> None:
    """The oldest go."""
    assert thing("." * 40).seen == world.MOST_SEEN


def test_what_is_worth_keeping() -> None:
    """A command that checks something, or that came again; ports always."""
    assert thing(".", name="just ship").is_worth_keeping
    assert not thing(".", name="node a.js").is_worth_keeping
    assert thing("..", name="node a.js").is_worth_keeping
    assert thing(".", PORT, "5432").is_worth_keeping


@pytest.mark.parametrize(
    ("states", "surprise"),
    [
        ("....x", True), ("....", False), ("...x", False), ("..x.x", False), ("xxxx.", True),
        (".........xx", True), ("....x....", False), ("xxxxxx", False),
    ],
)  # fmt: skip
def test_what_is_a_surprise(states: str, surprise: bool) -> None:
    """Four earlier outcomes, nine of ten of them the same, and now the other."""
    assert thing(states).surprise is surprise


def test_a_state_in_words() -> None:
    """What is broken, works again or is down since when; what is as usual without a date."""
    broken, mended, down = thing("....xx"), thing("xxxx."), thing(".x", PORT, "5432")
    assert broken.text == "`just test` fails since 2026-05-01 (passed 4 of 4 before): it broke"
    assert mended.text == "`just test` passes since 2026-05-01 (failed 4 of 4 before)"
    assert down.text.startswith("port 5432 is down since 2026-05-01")
    assert thing("....").text == "`just test` passes"


def test_a_version_that_changed() -> None:
    """The new one and the old one are told."""
    (made,) = world.things_of(
        Sighting(VERSION, "python", state, "", f"i{number}", (AT + timedelta(days=number)).isoformat())
        for number, state in enumerate(("3.11.7", "3.11.7", "3.12.1"))
    )  # fmt: skip
    assert made.surprise
    assert made.text == "python is 3.12.1 since 2026-05-03, was 3.11.7"


def test_how_long_a_command_takes() -> None:
    """The median of its good runs."""
    assert thing("...x").seconds == 40.0
    assert thing("x").seconds == 0.0
