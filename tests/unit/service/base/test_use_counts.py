"""Uses wait in memory, add up, and are written in one go."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, cast

from vector_memory.errors import StoreFullError
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.base.use_counts import EVERY_S, MOST, Uses

AT = datetime(2026, 5, 3, tzinfo=timezone.utc)


class Journal:
    """A journal that notes what it is told, as far as it can be written."""

    folder = "/store"

    def __init__(self, writable: bool = True, full: bool = False) -> None:
        self.journal = self
        self.writable, self.full = writable, full
        self.written: list[tuple[dict[str, int], datetime]] = []

    def touch(self, uses: dict[str, int], at: datetime) -> None:
        if self.full:
            raise StoreFullError("The disk is full.")
        self.written.append((dict(uses), at))


def shelf() -> Any:
    return cast("Shelf", Journal())


def test_uses_add_up_until_they_are_due() -> None:
    """Many uses of one memory are one row; half a minute after the first they are due."""
    now = [100.0]
    uses, one, other = Uses(lambda: now[0]), shelf(), shelf()
    uses.count(one, ["a", "b"], AT)
    uses.count(one, ["a"], AT)
    uses.count(other, ["z"], AT)
    assert not uses.is_due
    now[0] += EVERY_S
    assert uses.is_due
    assert uses.write() == 3
    assert one.written == [({"a": 2, "b": 1}, AT)]
    assert other.written == [({"z": 1}, AT)]
    assert not uses.is_due
    assert uses.write() == 0


def test_many_uses_are_due_at_once() -> None:
    """However short the time, a full batch is written."""
    uses = Uses(lambda: 0.0)
    uses.count(shelf(), [str(i) for i in range(MOST)], AT)
    assert uses.is_due


def test_a_store_that_cannot_be_written_keeps_no_other_waiting() -> None:
    """Its uses are not counted; those of the others are."""
    uses, sound = Uses(lambda: 0.0), shelf()
    for one in (Journal(writable=False), Journal(full=True), sound):
        uses.count(cast("Shelf", one), ["a"], AT)
    assert uses.write() == 1
    assert sound.written == [({"a": 1}, AT)]
