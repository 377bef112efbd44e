"""What is asked for is found and weighed alike, whichever memories are cold."""

from __future__ import annotations

from typing import Any

import pytest
from journal_samples import memory, turn
from service_house import ServiceHouse, door

from vector_memory.model import PASSAGE, Memory, Scope, Source, Tier
from vector_memory.service.base.whole_shelf import WholeShelf

TALK = (
    "why does the haproxy ledger port refuse connections?",
    "it was bound to the loopback of the container alone",
    "the nightly report is rendered by pandoc",
    "icons are drawn in inkscape",
)


def talk(house: ServiceHouse) -> list[Memory]:
    """Store the passages of one session, one a turn, and let the index follow."""
    said = [
        memory(
            number,
            text,
            id=f"{number:032x}",
            created_at=house.time,
            kind=PASSAGE,
            external_id=f"key-{number}:0",
            source=Source("a session", "/t/one.jsonl", turn=number),
        )
        for number, text in enumerate(TALK, 1)
    ]
    stored = house.ctx.global_shelf().journal.add(said)
    house.follow()
    return stored


def freeze(house: ServiceHouse, memories: list[Memory]) -> None:
    house.ctx.global_shelf().journal.move_to_tiers({one.id: Tier.COLD for one in memories})
    house.follow()


def recall(house: ServiceHouse, query: str) -> list[dict[str, Any]]:
    found = door(house.ctx, "recall", {"query": query, "global": True, "k": 10})["hits"]
    return [dict(hit) for hit in found]


@pytest.mark.parametrize("cold", [(0,), (1,), (0, 2), (0, 1, 2, 3)])
def test_neighbours_are_known_across_tiers(house: ServiceHouse, cold: tuple[int, ...]) -> None:
    stored = talk(house)
    freeze(house, [stored[at] for at in cold])
    shelf = house.ctx.global_shelf()
    now = {one.id: one.seq for one in shelf.journal.iter_memories(Scope())}
    order = [now[one.id] for one in stored]
    whole = WholeShelf(shelf, house.ctx.embedding)
    around = whole.around(order[:1], order[:1])
    assert around is not None
    # Its neighbours come along, in the order in which they were said.
    at = {
        seq: (before, after)
        for seq, before, after in zip(
            around.seqs.tolist(), around.before.tolist(), around.after.tolist(), strict=True
        )
    }
    assert at == {
        order[0]: (0, order[1]),
        order[1]: (order[0], order[2]),
        order[2]: (order[1], order[3]),
    }
    assert set(around.session.tolist()) == {0}
    assert all(around.size)
    assert set(whole.between(Scope(), float("-inf"), float("inf"), 9)) == set(order)
    vectors = whole.vectors(around.seqs)
    assert vectors is not None
    assert vectors.any(axis=1).all()


def test_scores_are_those_of_a_store_without_cold_memories(house: ServiceHouse) -> None:
    """What a question finds, and what each memory of it scores, does not depend on the tiers."""
    stored = talk(house)
    question = "haproxy ledger port"
    journal = house.ctx.global_shelf().journal
    warm = recall(house, question)
    freeze(house, [stored[1], stored[2]])
    half = recall(house, question)
    assert [hit["id"] for hit in half] == [hit["id"] for hit in warm]
    # What was asked for has come back.
    assert journal.get(half[0]["id"]).tier is not Tier.COLD
    for one, other in zip(warm, half, strict=True):
        for feature in ("own", "before", "dense", "pooled", "size", "support"):
            assert one["breakdown"][feature] == pytest.approx(other["breakdown"][feature], abs=0.02)


def test_a_cold_memory_without_a_vector_gets_one_when_somebody_asks(house: ServiceHouse) -> None:
    (first, *_) = talk(house)
    journal = house.ctx.global_shelf().journal
    freeze(house, [first])
    model = house.ctx.embedding.model
    with journal.connections.writing() as connection:
        connection.execute("DELETE FROM vectors")
    seq = journal.get(first.id).seq
    assert journal.vectors_of([seq], model) is None
    (hit, *_) = recall(house, "haproxy ledger port refuse")
    assert hit["id"] == first.id
    assert hit["breakdown"]["dense"] > 0
    assert journal.vectors_of([journal.get(first.id).seq], model) is not None


def test_sessions_are_known_before_there_is_an_index(house: ServiceHouse) -> None:
    """A daemon that has just begun weighs a first prompt by the pause before it, as it does later."""
    shelf = house.ctx.global_shelf()
    shelf.journal.add([turn(1, "one", 1), turn(2, "one", 2), turn(3, "other", 1)])
    asked = Scope(), 2, "now"
    assert shelf.index is None
    at_once = shelf.latest_sessions(*asked)
    house.follow()
    assert shelf.index is not None
    assert len(at_once) == 2
    assert at_once == shelf.latest_sessions(*asked)
