"""What a hit is shown with: an idea with the sentences around it, a passage with its neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from service_house import ServiceHouse, captured_of
from talk import transcript

from vector_memory import redact
from vector_memory.model import PASSAGE, Memory, Scope, Sensitivity
from vector_memory.service.base import reach
from vector_memory.service.memory.passages import in_context, turn_reader

PROMPT = "Why is the nightly export empty on the first of a month?"
ANSWER = (
    "I looked at the export first.\n\n"
    "**The root cause is that the job reads the month from the *local* clock.** "
    "It runs at midnight in UTC, when it is still the last day here. "
    "I'll pass the month to it instead."
)
IDEA = "The root cause is that the job reads the month from the local clock."


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    """The service with one captured session."""
    made = ServiceHouse(tmp_path)
    path = transcript(tmp_path, [(PROMPT, ANSWER)])
    captured_of(made.ctx, str(path), final=True)
    yield made
    made.close()


def stored(house: ServiceHouse) -> list[Memory]:
    """Return what was captured."""
    return list(house.ctx.global_shelf().journal.iter_memories(Scope()))


def text_of(house: ServiceHouse, memory: Memory) -> str:
    return in_context(turn_reader(house.ctx.global_shelf()), memory).text


def idea(house: ServiceHouse) -> Memory:
    return next(one for one in stored(house) if one.text.startswith("The root cause"))


def test_an_idea_is_followed_by_what_was_said_next(house: ServiceHouse) -> None:
    """However it was marked up there, and without saying it twice."""
    text = text_of(house, idea(house))
    own, then, before = text.split("\n\n")
    assert own == IDEA
    assert then.startswith("[then] It runs at midnight in UTC")
    assert before.startswith(f"[before] User: {PROMPT}")
    assert text.count("root cause") == 1


def test_no_full_stop_alone_follows_an_idea(tmp_path: Path) -> None:
    """One of Japanese is another character."""
    made = ServiceHouse(tmp_path)
    path = transcript(tmp_path, [(PROMPT, f"I looked at the export first. {IDEA[:-1]}。")])
    captured_of(made.ctx, str(path), final=True)
    passage = next(one for one in stored(made) if one.kind == PASSAGE)
    said = redact.clean(IDEA[:-1]).text
    text = text_of(made, replace(passage, id="idea", kind="", text=said))
    made.close()
    assert "[then]" not in text
    assert "[before]" in text


def test_an_idea_in_other_words_is_followed_by_its_passage(house: ServiceHouse) -> None:
    said = redact.clean("The month of the nightly job comes from a local clock, not UTC.").text
    text = text_of(house, replace(idea(house), text=said))
    assert text.startswith(f"{said}\n\n[in] ")
    assert "root cause" in text


def test_an_idea_of_nothing_that_was_said_stands_alone(house: ServiceHouse) -> None:
    said = redact.clean("Zebras graze elsewhere entirely.").text
    assert text_of(house, replace(idea(house), text=said)) == said


def test_what_may_not_be_given_stands_around_nothing(house: ServiceHouse) -> None:
    """An exchange may hold what is more sensitive than what was found of it, or is kept under another law."""
    shelf = house.ctx.global_shelf()
    (passage,) = (one for one in stored(house) if one.kind == PASSAGE)
    shelf.journal.update(replace(passage, sensitivity=Sensitivity.CONFIDENTIAL, jurisdiction="EU"))
    for scope in (Scope(levels=("public", "internal")), Scope(laws=("US",))):
        with reach.within(scope):
            assert in_context(turn_reader(shelf), idea(house)).text == IDEA
    assert text_of(house, idea(house)) != IDEA


def test_long_lists_of_actions_come_after_the_talk(house: ServiceHouse) -> None:
    (passage,) = (one for one in stored(house) if one.kind == PASSAGE)
    short, long = (
        "Done: Bash: make",
        "Done: " + "; ".join(f"Bash: step {n} --all" for n in range(12)),
    )
    lines = f"{short}\n{long}\nAssistant: All of it is mended."
    text = text_of(house, replace(passage, text=redact.clean(lines).text))
    assert text == f"{short}\nAssistant: All of it is mended.\n{long}"
