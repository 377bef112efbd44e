"""Which of a long list of memories say something again: the same as if each were compared with all before it."""

from __future__ import annotations

import random
from datetime import datetime, timezone

import pytest

from vector_memory.model import CleanText, Memory, Source
from vector_memory.retrieve import repetitions
from vector_memory.text import analysis

NOW = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)
WORDS = [
    "uses",
    "needs",
    "Redis",
    "ledger",
    "not",
    "port",
    "5432",
    "the",
    "cache",
    "x_y",
    "red",
    "blue",
    "never",
]
COMMON = "import of the ledger wrote the payroll run into the search index before the audit trail"


def told(number: int, chance: random.Random) -> Memory:
    """Return a memory of few words that many have."""
    text = " ".join(chance.sample(WORDS, chance.randint(1, 5)))
    if chance.random() < 0.5:
        text = f"The {text} {COMMON} was closed"
    source = Source(session=f"s{number % 5}", path="/t.jsonl", turn=number % 3)
    return Memory(f"{number:032x}", CleanText(text), NOW, source=source if number % 2 else Source())


def terms_of(memory: Memory) -> frozenset[str]:
    """Return the terms by which two memories are compared."""
    return frozenset(analysis.analyse(memory.text))


def fresh(memories: list[Memory]) -> list[Memory]:
    """Return those that repeat nothing."""
    said = repetitions.SaidTexts()
    return [memory for memory in memories if said.add(memory, terms_of(memory))]


def compared_with_all(memories: list[Memory]) -> list[Memory]:
    """Return those that repeat nothing, each compared with all before it."""
    kept: list[Memory] = []
    for memory in memories:
        mine, turn = terms_of(memory), (memory.source.session, memory.source.turn)
        for other in kept:
            theirs = terms_of(other)
            of_turn = (
                memory.is_captured
                and other.is_captured
                and turn == (other.source.session, other.source.turn)
                and repetitions.contained(mine, theirs) >= repetitions.WITHIN
            )
            is_alike = of_turn or repetitions.jaccard(mine, theirs) >= repetitions.SAME
            if is_alike and repetitions.says_no_more(memory.text, other.text, of_turn):
                break
        else:
            kept.append(memory)
    return kept


@pytest.mark.parametrize("few", [0, repetitions.FEW])
def test_the_same_is_left_out_as_if_all_were_compared(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few are compared word by word."""
    monkeypatch.setattr(repetitions, "FEW", few)
    for seed in range(8):
        memories = [told(number, random.Random(f"{seed} {number}")) for number in range(80)]
        assert fresh(memories) == compared_with_all(memories)


def test_a_long_list_of_alike_texts_is_not_compared_each_with_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of texts that differ in a number each is compared with few: twice as many take twice as long."""
    compared = []
    plain = repetitions.jaccard

    def counting(one: frozenset[str], other: frozenset[str]) -> float:
        compared.append(one)
        return plain(one, other)

    monkeypatch.setattr(repetitions, "jaccard", counting)
    monkeypatch.setattr(repetitions, "FEW", 10)
    texts = [f"The nightly {COMMON} was closed, batch {number}" for number in range(300)]
    memories = [Memory(f"{n:032x}", CleanText(text), NOW) for n, text in enumerate(texts)]
    assert len(fresh(memories)) == 300
    assert len(compared) < 300
