"""Whether what a hook was told has reached it. It is noted as told while the answer is made, since another
hook of the session may ask meanwhile, and taken back where nobody read the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vector_memory.service.base.context import Context

Undo = Callable[[], object]


class Delivery:
    """One answer on its way, and how to take back what was noted of it."""

    def __init__(self) -> None:
        self._undo: list[Undo] = []

    def __bool__(self) -> bool:
        """Whether there is something to take back."""
        return bool(self._undo)

    def unless(self, undo: Undo) -> None:
        """Have something done if the answer is not read."""
        self._undo.append(undo)

    def take_back(self) -> None:
        """Undo what was noted, the last first: the answer was not read."""
        while self._undo:
            self._undo.pop()()


_on_its_way: ContextVar[Delivery | None] = ContextVar("on_its_way", default=None)


@contextmanager
def deliverable() -> Iterator[Delivery]:
    """What is noted as told within this block, by this thread, can be taken back.

    Returns:
        A block for `with` that lends the answer on its way.
    """
    delivery = Delivery()
    token = _on_its_way.set(delivery)
    try:
        yield delivery
    finally:
        _on_its_way.reset(token)


def unless_read(undo: Undo) -> None:
    """Have something done if the answer that is being made is not read. Where nobody looks whether it is, as
    with the answers of verbs, nothing happens."""
    delivery = _on_its_way.get()
    if delivery is not None:
        delivery.unless(undo)


def add_shown(ctx: Context, session: str, ids: Sequence[str]) -> None:
    """Note that a session is being told of memories: they are not told again, unless this is not read."""
    shown_ids, at = list(ids), ctx.now()
    ctx.state.add_shown(session, shown_ids, at)
    unless_read(lambda: ctx.state.take_back_shown(session, shown_ids, at))
