"""Whether notes that were shown were used, from the hook to the figures."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from service_house import ServiceHouse, door, hook_question
from talk import START, transcript

from vector_memory.journal.use_labels import UseLabel
from vector_memory.service.base.gate_threshold import least_worth, reconsider
from vector_memory.service.inject import prompt_recall, session_start
from vector_memory.service.jobs import turn_end
from vector_memory.service.purge.purge import purge
from vector_memory.service.purge.selection import PurgeRequest

NOTE = "The nightly export calls flush_rows before render_ledger closes the cursor handle."
PROMPT = "Why does the nightly export of the ledger fail?"
USING = "It fails because flush_rows runs after render_ledger here."
OTHER = "I do not know yet; let me think about it."


@pytest.fixture
def house(house: ServiceHouse, tmp_path: Path) -> ServiceHouse:
    """The service, with one memory, at the time of the transcripts."""
    house.time = START - timedelta(days=2)
    house.remember(NOTE, tmp_path)
    house.time = START - timedelta(seconds=1)
    return house


def shown(house: ServiceHouse, tmp_path: Path, session: str = "s1") -> None:
    """Have a prompt be given the note."""
    ask = hook_question(house.ctx, session, str(tmp_path), PROMPT)
    assert "flush_rows" in prompt_recall.on_prompt(house.ctx, ask)


def end(house: ServiceHouse, path: Path, session: str = "s1", last: str = "") -> None:
    """Have the turn end."""
    ended = turn_end.EndedTurn(session, str(path), str(path.parent), last_message=last)
    turn_end.learn(house.ctx, ended)


@pytest.mark.parametrize(("answer", "used"), [(USING, True), (OTHER, False)])
def test_the_turn_that_followed_tells(
    house: ServiceHouse, tmp_path: Path, answer: str, used: bool
) -> None:
    """A label says what the note was and whether it was used, and nothing of its words."""
    shown(house, tmp_path)
    end(house, transcript(tmp_path, [(PROMPT, answer)]))
    (label,) = house.ctx.state.use_labels()
    assert (label.channel, label.used, label.session) == ("prompt", used, "s1")
    assert label.age_s == pytest.approx(2 * 86_400, abs=1)
    assert label.worth is not None
    assert label.prompt
    assert "export" not in repr(label)


def test_the_last_answer_may_not_stand_in_the_transcript_yet(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """Then the client's word counts."""
    shown(house, tmp_path)
    end(house, transcript(tmp_path, [(PROMPT, "Let me look.")]), last=USING)
    assert [label.used for label in house.ctx.state.use_labels()] == [True]


def test_what_was_said_before_is_no_use(house: ServiceHouse, tmp_path: Path) -> None:
    """The session knew it already."""
    path = transcript(tmp_path, [("What is there?", USING), (PROMPT, USING)])
    house.time = START + timedelta(seconds=59)
    shown(house, tmp_path)
    end(house, path)
    assert [label.used for label in house.ctx.state.use_labels()] == [False]


def test_a_start_is_judged_by_the_turns_after_it(house: ServiceHouse, tmp_path: Path) -> None:
    """What a session starts with may be used in its second turn; each reading brings the verdict up to
    date, and a turn that is read again counts once."""
    question = hook_question(house.ctx, "s1", str(tmp_path))
    assert "flush_rows" in session_start.on_start(house.ctx, question)
    first, second = ("What is there to do?", OTHER), ("And the export?", USING)
    end(house, transcript(tmp_path, [first]))
    assert [label.used for label in house.ctx.state.use_labels()] == [False]
    for _ in range(2):
        end(house, transcript(tmp_path, [first, second]))
    (label,) = house.ctx.state.use_labels()
    assert (label.channel, label.used) == ("start", True)
    assert house.ctx.state.totals()["memories_used"] == 1


def test_figures(house: ServiceHouse, tmp_path: Path) -> None:
    """`stats` counts by channel, kind, age and worth."""
    shown(house, tmp_path)
    end(house, transcript(tmp_path, [(PROMPT, USING)]))
    told = door(house.ctx, "stats", {})["uses"]
    assert (told["shown"], told["used"], told["days"]) == (1, 1, 30)
    assert told["by"]["channel"] == {"prompt": {"shown": 1, "used": 1}}
    assert told["by"]["age"] == {"a week": {"shown": 1, "used": 1}}
    assert told["threshold"] == pytest.approx(house.ctx.settings.threshold)


def test_the_threshold_follows_what_is_used(house: ServiceHouse) -> None:
    """Where much is shown in vain it rises, within its bound; the setting switches that off."""
    usual = house.ctx.settings.threshold
    assert least_worth(house.ctx) == usual
    labels = [
        UseLabel("s", str(n), house.time, "prompt", "passage", 60.0, False, 0.4, "", {"age": 1.0})
        for n in range(200)
    ]
    house.ctx.state.add_use_labels(labels)
    reconsider(house.ctx)
    assert usual + 0.05 < least_worth(house.ctx) <= usual + 0.1
    house.ctx.settings = replace(house.ctx.settings, adapt_threshold=False)
    assert least_worth(house.ctx) == usual


def test_a_purged_session_leaves_no_label(house: ServiceHouse, tmp_path: Path) -> None:
    """Nothing says that it was there."""
    shown(house, tmp_path)
    end(house, transcript(tmp_path, [(PROMPT, USING)]))
    purge(house.ctx, PurgeRequest(session="s1"), lambda *_: None)
    assert house.ctx.state.use_labels() == []


def test_labels_are_bounded(house: ServiceHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too old ones go, and the oldest of too many."""
    from vector_memory.journal import use_labels
    from vector_memory.journal.state import State

    monkeypatch.setattr(use_labels, "MOST_KEPT", 3)
    ages = [200, 5, 4, 3, 2, 1]
    house.ctx.state.add_use_labels(
        UseLabel("s", str(days), house.time - timedelta(days=days), "start", "fact", 1.0, True)
        for days in ages
    )
    again = State.open(house.ctx.home.state_db, clock=lambda: house.time)
    assert [label.memory for label in again.use_labels()] == ["3", "2", "1"]
    again.close()
