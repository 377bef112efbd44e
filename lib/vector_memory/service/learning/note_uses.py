"""Whether the notes that a session was shown were used: read from the turn that followed.

Nothing of the words is kept: a label for each note says what it was and whether it was used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from vector_memory.index.exchanges import DONE_STEP, PLANNED, SAID, Exchange
from vector_memory.index.reader import TurnRead
from vector_memory.journal.use_labels import UseLabel
from vector_memory.model import Memory
from vector_memory.service.base import gate_threshold, shown_notes
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import by_ids
from vector_memory.service.base.shown_notes import START, ShownNote
from vector_memory.text.traces import SessionPiece, is_used

TURNS, TURNS_OF_START = 1, 3
"""In how many turns after a note its traces are looked for; what a session starts with is for longer."""


def judge(ctx: Context, session: str, turn: TurnRead, last_words: str, is_over: bool) -> int:
    """Judge the notes of a session by what followed them in its transcript; return how many were.

    Args:
        last_words: the last answer, where the transcript lags behind it.
        is_over: the session is over: nothing follows any more.
    """
    waiting = shown_notes.waiting(ctx.running, session)
    notes = waiting.notes()
    if not notes or turn.exchanges is None:
        # What was too long to be read here is not read again for this: the next turn's reading looks back.
        return 0
    talk = Talk([exchange for exchange in turn.exchanges if not exchange.is_subagent], last_words)
    memories = by_ids(ctx.all_shelves(), {note.memory for note in notes})
    labels, judged = [], []
    for note in notes:
        ctx.hooks.give_way()
        turns = TURNS_OF_START if note.channel == START else TURNS
        before, after, following = talk.around_note(note, turns)
        used = bool(after) and is_used(note.text, before, after)
        if after and note.memory in memories:
            labels.append(_label(session, note, memories[note.memory], used))
        if used or following > turns or is_over:
            judged.append(note)
    if labels:
        ctx.state.add_use_labels(labels)
        ctx.count("memories_used", sum(label.used for label in labels))
        gate_threshold.reconsider(ctx)
    waiting.drop(judged)
    return len(labels)


class Talk:
    """The main conversation of a session, as far as it was read, cut into pieces once for all its notes."""

    def __init__(self, exchanges: Sequence[Exchange], last_words: str) -> None:
        self._exchanges = exchanges
        self._pieces = [
            (number, at, piece)
            for number, exchange in enumerate(exchanges)
            for at, piece in _pieces(exchange)
        ]
        words, last = last_words.strip(), len(exchanges) - 1
        newest = (piece for number, _, piece in self._pieces if number == last)
        if words and exchanges and not any(words in piece.text for piece in newest):
            self._pieces.append((last, None, SessionPiece(words, is_said=True)))

    def around_note(
        self, note: ShownNote, turns: int
    ) -> tuple[list[SessionPiece], list[SessionPiece], int]:
        """Return what was in sight when a note was shown, what followed in so many turns, both in their
        order, and how many turns have begun to follow."""
        ends = (exchange.ended_at for exchange in self._exchanges)
        later = (number for number, end in enumerate(ends) if end is not None and end > note.at)
        first_after = next(later, len(self._exchanges))
        end = first_after + turns
        turn_pieces = [piece for piece in self._pieces if first_after <= piece[0] < end]
        # A note may come in the midst of a turn, with a failure: what was done by then, it did not cause.
        done = [place for place, (_, at, _) in enumerate(turn_pieces, 1) if at and at <= note.at]
        done_count = done[-1] if done else 0
        before = [piece for piece in self._pieces if piece[0] < first_after]
        before += turn_pieces[:done_count]
        following = len(self._exchanges) - first_after
        after = turn_pieces[done_count:]
        return [heard for *_, heard in before], [heard for *_, heard in after], following


def _pieces(exchange: Exchange) -> Iterator[tuple[datetime | None, SessionPiece]]:
    """Yield the pieces of an exchange in their order, each with the time of the call that it belongs to: what the
    assistant said and did, and what it was given."""
    yield None, SessionPiece(exchange.prompt, is_said=False)
    for place, step in enumerate(exchange.steps):
        calls = [call for call in exchange.calls if call.place == place]
        at = calls[0].at if calls else None
        yield at, SessionPiece(step.text, is_said=step.kind in (SAID, PLANNED, DONE_STEP))
        for call in calls:
            yield (
                call.at,
                SessionPiece("\n".join((call.command, call.file, call.written)), is_said=True),
            )
            yield call.at, SessionPiece(call.answered, is_said=False)


def _label(session: str, note: ShownNote, memory: Memory, used: bool) -> UseLabel:
    return UseLabel(
        session=session,
        memory=note.memory,
        at=note.at,
        channel=note.channel,
        kind=memory.kind,
        age_s=max(0.0, (note.at - memory.created_at).total_seconds()),
        used=used,
        worth=note.worth.value if note.worth else None,
        prompt=note.prompt,
        features=note.worth.features if note.worth else {},
    )
