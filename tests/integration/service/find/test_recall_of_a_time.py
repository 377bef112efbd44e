"""A question about a time, and nothing else, is answered with all that was in it."""

from __future__ import annotations

import pytest
from service_house import ServiceHouse, door


@pytest.mark.parametrize(
    "question",
    [
        "what did we do last week?",
        "last week",
        "what was fixed last week",
        "what happened last week",
    ],
)
def test_what_was_in_a_week_fits(house: ServiceHouse, question: str) -> None:
    """Though it shares no word with the question; what is of another week does not."""
    for text, at in (
        ("The crane of the yard has a new cable.", "2026-04-22T10:00:00Z"),
        ("Posters are printed on recycled paper.", "2026-03-02T10:00:00Z"),
    ):
        door(house.ctx, "remember", {"text": text, "at": at})
    house.follow()
    house.time = house.time.replace(year=2026, month=4, day=29)
    hits = door(house.ctx, "recall", {"query": question, "all_projects": True})["hits"]
    assert [hit["text"] for hit in hits if hit["fits"]] == [
        "The crane of the yard has a new cable."
    ]


def test_a_subject_still_limits(house: ServiceHouse) -> None:
    """Where it names one, what is of that time and of another subject does not fit."""
    text, at = "The crane of the yard has a new cable.", "2026-04-22T10:00:00Z"
    door(house.ctx, "remember", {"text": text, "at": at})
    house.follow()
    house.time = house.time.replace(year=2026, month=4, day=29)
    query = "what did we say about violins last week?"
    hits = door(house.ctx, "recall", {"query": query, "all_projects": True})["hits"]
    assert not [hit for hit in hits if hit["fits"]]


@pytest.mark.parametrize("question", ["what did we do last week?", "what did we decide last week?"])
def test_a_week_with_nothing_in_it_fits_nothing(house: ServiceHouse, question: str) -> None:
    """What is of another time does not fit for its kind alone; the nearest are there for who asks for all."""
    text, at = "The crane of the yard has a new cable.", "2026-03-02T10:00:00Z"
    door(house.ctx, "remember", {"text": text, "at": at, "kind": "decision"})
    house.follow()
    house.time = house.time.replace(year=2026, month=4, day=29)
    answer = door(house.ctx, "recall", {"query": question, "all_projects": True})
    assert [hit["fits"] for hit in answer["hits"]] == [False]
    assert answer["widened"]
