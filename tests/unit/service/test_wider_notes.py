"""Notes of passages that bring other passages of their exchange."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from vector_memory.model import EDITED, EPISODES, PASSAGE, CleanText, Memory, Origin, Source
from vector_memory.retrieve import render
from vector_memory.retrieve.search import Hit
from vector_memory.service.inject.wider_notes import in_their_passages, widened
from vector_memory.text import fence

AT = datetime(2026, 11, 20, tzinfo=timezone.utc)
WORDS = "The {} step copies what the crawler wrote into the archive and then checks every sum."


def hit(number: int, turn: int = 3, kind: str = PASSAGE, origin: Origin = Origin.ASSISTANT) -> Hit:
    """Return a hit that is the passage of that number of an exchange."""
    text = CleanText(WORDS.format(f"{turn}.{number}"))
    memory = Memory(
        id=f"{turn:016x}{number:016x}",
        text=text,
        kind=kind,
        origin=origin,
        project="p",
        created_at=AT,
        external_id=f"s:{turn}:{number}",
        source=Source("s", "/t/s.jsonl", turn=turn),
    )
    return Hit(memory, 1.0, 0.9, {}, 0, frozenset())


def told(hits: list[Hit], found: list[Hit], left: int) -> list[fence.Note]:
    """Return the notes of hits, widened by what was found, with some tokens more than they take."""
    notes = [render.note(one.memory, "p", 90) for one in hits]
    budget = sum(note.tokens for note in notes) + left
    return widened(notes, hits, [one.memory for one in found], budget)


def test_passages_of_one_exchange_are_read_in_their_order() -> None:
    best, after, before, apart = hit(4), hit(5), hit(1), hit(9, turn=7)
    (note,) = told([best], [best, after, apart, before], 400)
    places = [note.text.index(one.memory.text) for one in (before, best, after)]
    assert places == sorted(places)
    # A mark where something is left out, none between neighbours.
    assert note.text.count("…") == 1
    assert note.also == (after.memory.id, before.memory.id)
    assert apart.memory.text not in note.text
    assert (note.id, note.is_cut) == (best.memory.id, False)


def test_the_budget_is_kept_and_nothing_is_cut_for_it() -> None:
    best, second, third = hit(1), hit(2), hit(3)
    before = render.note(best.memory, "p", 90).tokens
    room = fence.tokens(second.memory.text) + 4
    (note,) = told([best], [second, third], room)
    assert note.also == (second.memory.id,)
    assert note.tokens - before <= room
    (note,) = told([best], [second, third], 5)
    assert note.also == () and note.text == best.memory.text


def test_a_note_that_was_cut_is_told_whole_where_there_is_room() -> None:
    best = hit(1)
    cut = render.note(best.memory, "p", fence.tokens(render.head(best.memory, "p")) + 12)
    assert cut.is_cut
    (note,) = widened([cut], [best], [hit(2).memory], 400)
    assert not note.is_cut and note.text.startswith(best.memory.text)
    assert widened([cut], [best], [hit(2).memory], cut.tokens + 1) == [cut]


def test_what_others_wrote_and_what_is_told_itself_stands_alone() -> None:
    best, foreign, idea = hit(1), hit(2, origin=Origin.TOOL), hit(3, kind="fact")
    (note,) = told([best], [foreign, idea], 400)
    assert note.also == ()
    (note,) = told([foreign], [best], 400)
    assert note.also == ()
    both = told([best, hit(4)], [best, hit(4)], 400)
    assert [note.also for note in both] == [(), ()]


def test_what_is_worth_most_takes_its_room_from_later_talk() -> None:
    """And from nothing that was remembered on purpose."""
    best, later = hit(1), hit(1, turn=7)
    meant = hit(1, turn=9)
    meant = replace(meant, memory=replace(meant.memory, source=Source()))
    beside = [hit(number) for number in (2, 3, 4, 5)]
    room = sum(fence.tokens(one.memory.text) for one in beside) // 2
    notes = told([best, later, meant], beside, room)
    assert [note.id for note in notes] == [best.memory.id, meant.memory.id]
    assert len(notes[0].also) >= 2
    whole = sum(render.note(one.memory, "p", 90).tokens for one in (best, later, meant))
    assert sum(note.tokens for note in notes) <= whole + room


CAUSE = "The watchdog bites: the main thread hangs in the driver of the bus."
CURE = "The chip holds the line low, and nine pulses of the clock free it."


def idea(text: str, number: int, kind: str = "problem", **more: object) -> Hit:
    """Return a hit that is an idea of the third exchange."""
    one = hit(number, kind=kind)
    memory = replace(one.memory, text=CleanText(text), external_id=f"idea:{number}")
    return replace(one, memory=replace(memory, **more))  # type: ignore[arg-type]


def explained(
    hits: list[Hit], left: int, said: str = f"Assistant: {CAUSE} {CURE}"
) -> list[fence.Note]:
    """Return the notes of hits, ideas as the passage that says them where so many tokens are left."""
    passage = replace(hit(1).memory, text=CleanText(said))
    notes = [render.note(one.memory, "p", 90) for one in hits]
    budget = sum(note.tokens for note in notes) + left
    return in_their_passages(notes, hits, lambda _: [hit(2).memory, passage], budget)


def test_an_idea_is_told_as_its_passage_where_there_is_room() -> None:
    """The cure stands beside the cause; no other note gives way to it."""
    best, other = idea(CAUSE, 4), hit(1, turn=7)
    (wide, beside) = explained([best, other], 60)
    assert CURE in wide.text and wide.text.count(CAUSE) == 1
    assert (wide.id, wide.also) == (best.memory.id, (hit(1).memory.id,))
    assert beside.text == other.memory.text
    (narrow, _) = explained([best, other], 5)
    assert narrow.text == CAUSE
    assert explained([idea(f"[the reset at night] {CAUSE}", 4)], 60)[0].text.endswith(CURE)
    assert explained([best], 60, said="Something else")[0].text == CAUSE


def test_an_idea_that_is_told_with_another_one_takes_no_room() -> None:
    first, second = explained([idea(CAUSE, 4), idea(CURE, 5)], 60), idea(CURE, 5).memory.id
    assert len(first) == 1 and second in first[0].also
    elsewhere = idea(CURE, 5)
    source = replace(elsewhere.memory.source, turn=9)
    elsewhere = replace(elsewhere, memory=replace(elsewhere.memory, source=source))
    assert len(explained([idea(CAUSE, 4), elsewhere], 60)) == 2


def test_an_idea_is_told_as_the_passage_that_says_all_of_it() -> None:
    """Not as one that ends as it does; signs and marks do not count."""
    other = CAUSE.replace("watchdog", "power supply")
    assert explained([idea(other, 4)], 200)[0].text == other
    assert [note.text for note in explained([idea(CURE, 4), idea(other, 5)], 200)][1:] == [other]
    marked = CAUSE.replace("main thread", "`main` **thread**")
    assert CURE in explained([idea(CAUSE, 4)], 200, f"Assistant: {marked}\n{CURE}")[0].text


def test_which_ideas_are_told_as_they_are() -> None:
    """A todo, what mended an error, what is suspicious, what was meant to be told, what the user corrected."""
    for kind, more in (
        ("todo", {}), ("solution", {"collection": EPISODES}), ("topic", {}),
        ("problem", {"origin": Origin.TOOL}), ("problem", {"source": Source()}),
        ("problem", {"extra": {EDITED: True}}),
    ):  # fmt: skip
        assert explained([idea(CAUSE, 4, kind, **more)], 200)[0].text == CAUSE


def test_a_rule_is_told_as_it_is_and_a_wish_of_the_moment_is_not() -> None:
    rule = "Never push to main without the notes of the release."
    wish = "Like a list of fifty funny crab names, and you can reroll."
    for said, is_alone in ((rule, True), (wish, False)):
        (note,) = explained([idea(said, 4, "preference")], 200, f"User: {said} {CURE}")
        assert (note.text == said) is is_alone
