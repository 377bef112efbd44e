"""What is said while `capture` is off stays out, also once it is on again; what a mistake in the settings kept out is
read when that is mended."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from service_house import ServiceHouse, door
from talk import transcript

from vector_memory import config, wire
from vector_memory.client.spool import read_entry, spooled_paths
from vector_memory.daemon.events import Events
from vector_memory.service.capture import step_log

FIRST, CLOSED, LAST = (
    "The mill grinds oats on Mondays.",
    "We close the plant in Nordhausen.",
    "The mill grinds rye on Fridays.",
)
REASON = " It was settled after a long talk about the orders of the last quarter, and stays so."


@pytest.fixture
def events(house: ServiceHouse) -> Events:
    return Events(house.ctx, lambda work: work())


def say(events: Events, folder: Path, sentences: list[str], event: str = "Stop") -> None:
    """Let a session have said all this, and its last turn end."""
    path = transcript(folder, [(f"Note this: {one}", one + REASON) for one in sentences])
    told = {"session_id": "s1", "transcript_path": str(path), "cwd": str(folder)}
    told |= {"hook_event_name": event, "prompt_id": f"p{len(sentences)}"}
    events.answer(event, wire.encode_hook(str(folder).encode(), b"", json.dumps(told).encode()))


def stored(house: ServiceHouse) -> str:
    return str(door(house.ctx, "list", {"all_projects": True, "k": 1_000})["memories"])


def test_it_stays_out(house: ServiceHouse, events: Events, tmp_path: Path) -> None:
    """Whoever reads the transcript later: the next turn, the session's end, a backfill; and its steps."""
    on, off = house.ctx.settings, replace(house.ctx.settings, capture=False)
    say(events, tmp_path, [FIRST])
    house.ctx.settings = off
    say(events, tmp_path, [FIRST, CLOSED])
    house.ctx.settings = on
    say(events, tmp_path, [FIRST, CLOSED, LAST])
    say(events, tmp_path, [FIRST, CLOSED, LAST], "SessionEnd")
    door(house.ctx, "backfill", {"paths": [str(tmp_path / "s1.jsonl")]})
    assert FIRST in stored(house) and LAST in stored(house)
    assert "Nordhausen" not in stored(house)
    steps = [step.said for step in step_log.of_session(house.ctx, "s1")]
    assert len(steps) == 2 and "Nordhausen" not in str(steps)


def test_what_waited_when_it_was_said_counts(house: ServiceHouse, tmp_path: Path) -> None:
    """The turn ended while it was off; it is read only after it is on again."""
    on, waiting = house.ctx.settings, []
    events = Events(house.ctx, waiting.append)
    house.ctx.settings = replace(on, capture=False)
    say(events, tmp_path, [CLOSED])
    house.ctx.settings = on
    while waiting:
        waiting.pop(0)()
    say(Events(house.ctx, lambda work: work()), tmp_path, [CLOSED, LAST])
    assert LAST in stored(house) and "Nordhausen" not in stored(house)


def test_a_mistake_in_the_settings_keeps_nothing_out_for_good(
    house: ServiceHouse, events: Events, tmp_path: Path
) -> None:
    on = house.ctx.settings
    put_in_force(house, "{")
    say(events, tmp_path, [CLOSED])
    assert "Nordhausen" not in stored(house)
    house.ctx.settings = on
    say(events, tmp_path, [CLOSED, LAST])
    assert "Nordhausen" in stored(house)


def put_in_force(house: ServiceHouse, settings: str) -> None:
    """Write settings that are not in order, and take of them what the daemon takes."""
    Path(house.ctx.home.config).write_text(settings)
    house.ctx.settings = config.salvaged(house.ctx.home.config)


def leave_for_long(house: ServiceHouse) -> list[str]:
    """Let what waits in the spool have waited; return the events that do."""
    paths = spooled_paths(house.ctx.home.spool)
    for path in paths:
        os.utime(path, (1, 1))
    return [str(read_entry(path)["event"]) for path in paths]


@pytest.mark.parametrize(
    ("mended", "is_read"), [({}, True), ({"capture": False}, False)], ids=["on", "off"]
)
@pytest.mark.parametrize("is_next_daemon", [True, False])
def test_a_first_session_under_a_mistake_waits_until_that_is_mended(
    house: ServiceHouse,
    events: Events,
    tmp_path: Path,
    mended: dict[str, bool],
    is_read: bool,
    is_next_daemon: bool,
) -> None:
    """Its last turn and its end, each once, and as the settings say then; also if another daemon begins meanwhile."""
    on = house.ctx.settings
    put_in_force(house, '{"capture_without": "fix"}')
    for count in (1, 2):
        say(events, tmp_path, [CLOSED, LAST][:count])
    say(events, tmp_path, [CLOSED, LAST], "SessionEnd")
    assert leave_for_long(house) == ["Stop", "SessionEnd"]
    if is_next_daemon:
        events = Events(house.ctx, lambda work: work())
        events.backlog.drain()
    say(events, tmp_path, [CLOSED, LAST])
    events.backlog.take_up()
    assert leave_for_long(house) == ["Stop", "SessionEnd"] and stored(house) == "[]"
    house.ctx.settings = replace(on, **mended)
    events.backlog.take_up()
    assert ("Nordhausen" in stored(house)) == (LAST in stored(house)) == is_read
    assert leave_for_long(house) == []
    house.ctx.settings = on
    door(house.ctx, "backfill", {"paths": [str(tmp_path / "s1.jsonl")]})
    assert ("Nordhausen" in stored(house)) == is_read


def test_what_is_said_while_capture_is_off_stays_out_though_something_else_is_wrong(
    house: ServiceHouse, events: Events, tmp_path: Path
) -> None:
    """That it is off is the user's word, whatever mistake stands beside it."""
    on = house.ctx.settings
    put_in_force(house, '{"capture": false, "excluded_projects": 5}')
    say(events, tmp_path, [CLOSED])
    assert leave_for_long(house) == []
    house.ctx.settings = on
    say(events, tmp_path, [CLOSED, LAST])
    assert LAST in stored(house) and "Nordhausen" not in stored(house)
