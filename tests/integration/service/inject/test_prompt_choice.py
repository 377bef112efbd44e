"""Which of the hits worth telling a prompt is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from service_house import ServiceHouse, hook_question

from vector_memory.model import PASSAGE, CleanText, Memory, Source
from vector_memory.retrieve import gate
from vector_memory.retrieve.newer import SAME_THING, Newer
from vector_memory.retrieve.search import Hit
from vector_memory.service.base.gate_threshold import least_worth
from vector_memory.service.base.shown_notes import Worth
from vector_memory.service.inject.prompt_recall import (
    SURE,
    SURE_OF_ALL,
    chosen,
    least_worth_of,
    on_prompt,
    worths_of,
)
from vector_memory.text import analysis

TEXTS = ("The parser of ledger.py rounds down.", "Exports of ledger.py are sorted by year.")


def hit(turn: int) -> Hit:
    """Return a passage that holds a name which was searched for."""
    source = Source("old", "/old.jsonl", 1, 2, turn)
    at = datetime(2026, 5, 3, tzinfo=timezone.utc)
    memory = Memory(f"{turn:032x}", CleanText(TEXTS[turn]), at, kind=PASSAGE, source=source)
    return Hit(memory, 1.0, 1.0, {"exact": 0.5}, 0, frozenset(analysis.analyse(memory.text)))


@pytest.mark.parametrize(
    ("prompt", "before", "count"),
    [("why does ledger.py fail?", "", 2), ("why does ledger.py fail?", "The tests ran.", 2),
     ("why did that fail?", "The tests of ledger.py ran.", 1), ("why did that fail?", "", 2)],
)  # fmt: skip
def test_in_the_midst_one_is_told_but_for_names_of_the_prompt(
    house: ServiceHouse, tmp_path: Path, prompt: str, before: str, count: int
) -> None:
    """A name in the talk before, with which a prompt that points back is searched for, calls nothing."""
    question = hook_question(house.ctx, "now", str(tmp_path), prompt, before=before)
    hits = [hit(0), hit(1)]
    worths = {one.memory.id: Worth(0.5) for one in hits}
    assert chosen(house.ctx, question, hits, worths, set()) == hits[:count]


@pytest.mark.parametrize(
    ("prompt", "relevance", "is_told"),
    [("How does the parser of ledger.py round?", SURE, True),
     ("how to round in the parser of ledger.py", SURE, True),
     ("How does the parser of ledger.py round?", SURE - 0.02, False),
     ("wie rundet der Parser von ledger.py", SURE, True),
     ("Make the parser of ledger.py round up.", SURE, False),
     ("Make the parser of ledger.py round up.", SURE_OF_ALL, True)],
)  # fmt: skip
def test_what_surely_answers_is_told_however_old_it_is(
    house: ServiceHouse, tmp_path: Path, prompt: str, relevance: float, is_told: bool
) -> None:
    """Although the gate expects little of it; to a request it must be surer still."""
    old = hit(0)
    said = CleanText(f"User: how is it rounded?\nAssistant: {TEXTS[0]} Amounts are kept in cents.")
    memory = replace(old.memory, text=said, created_at=house.time - timedelta(days=40))
    parts = {"cosine": 0.3, "words": 0.3, "relevance": relevance}
    sure = Hit(memory, 1.0, relevance, parts, 0, frozenset(analysis.analyse(said)))
    question = hook_question(house.ctx, "now", str(tmp_path), prompt)
    assert bool(worths_of(house.ctx, question, [sure], 0.5)) == is_told
    # Searched for together with the talk, it would be that which is answered.
    after_talk = replace(question, prompt="try it again", before="How does the parser round?")
    assert not worths_of(house.ctx, after_talk, [sure], 0.5)


@pytest.mark.parametrize(
    ("rest_h", "relevance", "before", "is_told"),
    [(30, 0.6, "", True), (30, 0.4, "", False), (2, 0.6, "", False), (30, 0.6, "The tests ran.", False)],
)  # fmt: skip
def test_who_comes_back_is_told_what_fits_a_little_sooner(
    house: ServiceHouse, rest_h: float, relevance: float, before: str, is_told: bool
) -> None:
    """With the first prompt after a day or more, and of what fits; who goes on with the work is not."""
    old = hit(0)
    parts = {"cosine": 0.4, "words": 0.3, "relevance": relevance}
    one = replace(old, relevance=relevance, breakdown=parts)
    end = (house.time - timedelta(hours=rest_h)).timestamp() / 86_400
    moment = gate.Moment(house.time, not before, (end, end))
    usual = least_worth(house.ctx)
    assert (least_worth_of(house.ctx, one, moment, 0.5) < usual) == is_told


@pytest.mark.parametrize(
    ("answer", "is_told"),
    [("Merged `ci` into `main` as `0ce7713`.", False),
     ("Merged `ci`: it builds every push on the runner, and `main` is tagged by hand.", True)],
)  # fmt: skip
def test_a_command_line_is_no_content(
    house: ServiceHouse, tmp_path: Path, answer: str, is_told: bool
) -> None:
    """What a passage says counts, not how long the commands are that were run between."""
    done = "Done: Bash: git checkout -q main && git merge -q --no-ff ci && git log --oneline -1"
    said = CleanText(f"User: merge\n{done}\nAssistant: {answer}")
    memory = replace(hit(0).memory, text=said)
    parts = {"cosine": 0.5, "words": 0.5, "relevance": 1.0}
    found = Hit(memory, 1.0, 1.0, parts, 0, frozenset(analysis.analyse(said)))
    question = hook_question(house.ctx, "now", str(tmp_path), "how do git rebase and merge differ?")
    assert bool(worths_of(house.ctx, question, [found], 0.5)) == is_told


def test_what_is_to_be_done_today_is_not_looked_for_in_today(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """Who asks what was so today is told that nothing fits there."""
    house.remember("The exports of the ledger are kept in the archive bucket.", tmp_path)
    house.pass_time(days=40)
    house.follow()

    def told(prompt: str, session: str) -> str:
        return on_prompt(house.ctx, hook_question(house.ctx, session, str(tmp_path), prompt))

    wish = told("move the exports of the ledger to the archive bucket today", "wishes")
    asked = told("which exports of the ledger are kept in the archive bucket today?", "asks")
    assert "archive bucket" in wish and "archive bucket" in asked
    assert "Nothing fits" not in wish and "Nothing fits" in asked


def test_what_a_later_session_said_anew_is_told_in_its_place(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """It is worth as much as what it follows; what is only of the same field leaves that as it is."""
    question = hook_question(house.ctx, "now", str(tmp_path), "Where do exports of ledger.py go?")
    terms = frozenset(analysis.analyse(" ".join(TEXTS)))
    parts = {"cosine": 0.7, "words": 0.6}
    old, new = (replace(hit(number), terms=terms, breakdown=parts) for number in (0, 1))
    assert not old.terms - new.terms
    alone = worths_of(house.ctx, question, [old], 0.5)[old.memory.id].value
    weak = replace(new, relevance=0.5, breakdown={"cosine": 0.3, "words": 0.3})
    assert not worths_of(house.ctx, question, [weak], 0.5)
    like = replace(old, newer=Newer(new.memory, SAME_THING))
    worths = worths_of(house.ctx, question, [like, weak], 0.5)
    assert list(worths) == [new.memory.id]
    assert 0.3 < worths[new.memory.id].value < alone
    unlike = replace(old, newer=Newer(new.memory, SAME_THING - 0.1))
    assert len(worths_of(house.ctx, question, [unlike, new], 0.5)) == 2
