"""What is told unasked keeps to the settings' limits, whatever it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from service_house import ServiceHouse, captured_of, hook_question
from transcript_samples import Talk

from vector_memory.config import Settings
from vector_memory.service.inject import open_items
from vector_memory.service.inject.prompt_recall import on_prompt
from vector_memory.service.inject.session_start import on_start
from vector_memory.text import fence

LAST = "last"
OPEN, GOES_ON, ASKS, WORKS = (
    "What is still open?",
    "continue",
    "Where is the ledger of the heron shop kept, and which port has its mailer?",
    "Please write the changelog of this release now",
)


@pytest.fixture
def shop(house: ServiceHouse, tmp_path: Path) -> Iterator[ServiceHouse]:
    """A project with a session in which much was decided and left open, and with facts and a deadline each week."""
    talk = Talk("first", cwd=str(tmp_path), timestamp=house.time.isoformat())
    for thing in ("ledger", "mailer", "basket", "search"):
        talk.user(
            f"We decided to keep the {thing} of the heron shop in SQLite instead of Postgres."
        )
        talk.say(f"The {thing} of the heron shop is kept in SQLite from now on, in WAL mode.")
        house.remember(
            f"The {thing} of the heron shop listens on port 80{len(thing)}, behind a proxy in {thing}.conf, for its readers.",
            tmp_path,
        )
    for day in range(10, 20):
        house.remember(f"Send report {day} to the board of the heron shop", tmp_path, kind="todo", due=f"2026-05-{day}")  # fmt: skip
    captured_of(house.ctx, talk.write(tmp_path / "first.jsonl"), str(tmp_path), final=True)
    house.follow()
    house.pass_time(minutes=2)
    yield house


def told(shop: ServiceHouse, folder: Path, prompt: str, session: str = LAST) -> str:
    """Return what a prompt is given."""
    return on_prompt(shop.ctx, hook_question(shop.ctx, session, str(folder), prompt))


def notes_in(printed: str) -> int:
    """Return how many notes a text holds."""
    return printed.count("\n- 2026-")


@pytest.mark.parametrize(
    ("tokens", "memories"),
    [(50, 5), (160, 5), (480, 5), (480, 4), (480, 6), (480, 1), (480, 0), (2000, 20)],
)
def test_a_prompt_gets_no_more_than_it_may(
    shop: ServiceHouse, tmp_path: Path, tokens: int, memories: int
) -> None:
    """What is open, how the session before ended, what was found, and what is to be confirmed beside it."""
    shop.ctx.settings = replace(
        shop.ctx.settings, prompt_tokens=tokens, prompt_memories=memories, confirm_decisions=True
    )
    sessions = {OPEN: "asks", GOES_ON: "goes on", ASKS: LAST, WORKS: "first"}
    for prompt, session in sessions.items():
        printed = told(shop, tmp_path, prompt, session)
        most = (
            open_items.MOST if prompt == OPEN and memories == Settings.prompt_memories else memories
        )
        assert notes_in(printed) <= most, prompt
        assert fence.tokens(printed) <= tokens, prompt
        assert bool(printed) == (tokens > 50 and memories > 0), prompt


@pytest.mark.parametrize(("memories", "open_count"), [(5, 8), (4, 4), (6, 6), (20, 8), (0, 0)])
def test_what_is_open_is_whole_where_nobody_set_how_much_is_told(
    shop: ServiceHouse, tmp_path: Path, memories: int, open_count: int
) -> None:
    """Who asks for it takes what they are told for all; beside it there is no room for what is to be confirmed."""
    shop.ctx.settings = replace(
        shop.ctx.settings, prompt_memories=memories, prompt_tokens=2000, confirm_decisions=True
    )
    printed = told(shop, tmp_path, OPEN, "first")
    open_part = printed.partition("</vector-memory")[0]
    assert notes_in(open_part) == open_count
    assert (notes_in(printed) > open_count) is (memories == 20)


def test_what_finds_no_room_to_be_confirmed_is_asked_later(
    shop: ServiceHouse, tmp_path: Path
) -> None:
    """One after the other where a prompt is told one memory."""
    shop.ctx.settings = replace(shop.ctx.settings, prompt_memories=1, confirm_decisions=True)
    asked = [told(shop, tmp_path, WORKS, "first") for _ in range(5)]
    assert [notes_in(printed) for printed in asked] == [1, 1, 1, 1, 0]


def test_a_session_gets_as_much_as_is_left_of_its_cap(shop: ServiceHouse, tmp_path: Path) -> None:
    """A start that would take more is shorter, rather than none; nothing goes beyond the cap."""

    def given(session: str, cap: int) -> list[str]:
        shop.ctx.settings = replace(shop.ctx.settings, session_tokens=cap)
        question = hook_question(shop.ctx, session, str(tmp_path), source="startup")
        start = on_start(shop.ctx, question)
        return [start, *(told(shop, tmp_path, prompt, session) for prompt in (OPEN, ASKS))]

    free, capped = given("free", 0), given("capped", 300)
    assert 0 < notes_in(capped[0]) < notes_in(free[0])
    blocks = [block for printed in capped for block in printed.split("<vector-memory mark=")[1:]]
    shown = [block for block in blocks if fence.OWN_HEAD not in block]
    assert sum(fence.tokens(block) for block in shown) <= 300
    assert shop.ctx.running.session("tally", "capped", dict)["tokens"] <= 300
