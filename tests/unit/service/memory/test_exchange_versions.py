"""Which reading of an exchange is kept."""

from __future__ import annotations

from datetime import datetime, timezone

from vector_memory.model import PASSAGE, CleanText, Memory, Priority, Source, Status
from vector_memory.service.memory.exchange_versions import (
    NOTHING,
    compare,
    compare_each,
    exchange_of,
)

AT = datetime(2026, 5, 3, tzinfo=timezone.utc)


def passages(*texts: str, path: str = "/a", end: int = 9, **more: object) -> list[Memory]:
    """Return an exchange's passages."""
    return [
        Memory(
            id=f"id{number}",
            text=CleanText(text),
            created_at=AT,
            kind=PASSAGE,
            external_id=f"u1:{number}",
            source=Source(path=path, line_end=end),
            **more,  # type: ignore[arg-type]
        )
        for number, text in enumerate(texts)
    ]


def test_exchange_of() -> None:
    """A passage's name begins with its exchange's."""
    assert exchange_of("u1:12") == "u1"


def test_a_beginning_changes_nothing() -> None:
    """However it was cut, in whichever file."""
    stored = passages("one two", "three four")
    assert compare(passages("one", "two three", end=8), stored) == NOTHING
    assert compare(passages("one", "two three", path="/b"), stored) == NOTHING
    assert compare(stored, stored) == NOTHING


def test_words_of_the_next_answer_go() -> None:
    """The same file, read as far, that says less: what a hook told was no answer to this prompt."""
    changes = compare(passages("one"), passages("one", "words of the next answer"))
    assert (changes.changed, changes.dropped) == ([], ["id1"])


def test_growth_replaces_adds_and_drops() -> None:
    """What is cut otherwise now leaves nothing of the former cut."""
    changes = compare(passages("one two three four five"), passages("one two", "three"))
    assert [one.text for one in changes.changed] == ["one two three four five"]
    assert changes.dropped == ["id1"]
    more = compare(passages("one two", "three", "four"), passages("one two", "three"))
    assert [one.text for one in more.added] == ["four"]
    assert more.changed == []


def test_a_copy_that_went_another_way_must_say_more() -> None:
    """In the same file the newer words hold, in a copy only longer ones."""
    stored = passages("one two three")
    assert compare(passages("one other", path="/b"), stored) == NOTHING
    assert compare(passages("one other"), stored).changed[0].text == "one other"
    assert compare(passages("one other and more", path="/b"), stored).changed != []


def test_what_the_user_changed_stays() -> None:
    """Priority, kind and confidence are the user's; nothing forgotten comes back elsewhere."""
    stored = passages("one", priority=Priority.CORE, tags=("mine",))
    (changed,) = compare(passages("one two"), stored).changed
    assert (changed.priority, changed.tags) == (Priority.CORE, ("mine",))
    forgotten = passages("", "two", status=Status.FORGOTTEN)
    assert compare(passages("one", "two three"), forgotten) == NOTHING


def test_one_by_one() -> None:
    """What makes up no whole is compared by itself and never dropped."""
    changes = compare_each(passages("one more"), passages("one", "two"))
    assert [one.text for one in changes.changed] == ["one more"]
    assert changes.dropped == []
