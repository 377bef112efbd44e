"""Whether the notes that a session was shown were used: read from the turn that followed.

Nothing of the words is kept: a label for each note says what it was and whether it was used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vector_memory.index.exchanges import DONE, PLANNED, SAID, Exchange, ToolUse
from vector_memory.index.reader import TurnRead
from vector_memory.journal.use_labels import UseLabel
from vector_memory.model import Memory
from vector_memory.service.base import gate_threshold, shown_notes
from vector_memory.service.base.context import Context
from vector_memory.service.base.shown_notes import START, ShownNote
from vector_memory.text.traces import Heard, is_used

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
    memories = _memories(ctx, notes)
    labels, done = [], []
    for note in notes:
        ctx.hooks.give_way()
        turns = TURNS_OF_START if note.channel == START else TURNS
        before, after, following = talk.around(note, turns)
        used = bool(after) and is_used(note.text, before, after)
        if after and note.memory in memories:
            labels.append(_label(session, note, memories[note.memory], used))
        if used or following > turns or is_over:
            done.append(note)
    if labels:
        ctx.state.add_use_labels(labels)
        ctx.count("memories_used", sum(label.used for label in labels))
        gate_threshold.reconsider(ctx)
    waiting.drop(done)
    return len(labels)


class Talk:
    """The main conversation of a session, as far as it was read, cut into pieces once for all its notes."""

    def __init__(self, exchanges: Sequence[Exchange], last_words: str) -> None:
        self._exchanges = exchanges
        self._pieces = [list(_pieces(exchange)) for exchange in exchanges]
        words = last_words.strip()
        if words and self._pieces and not any(words in one.text for _, one in self._pieces[-1]):
            self._pieces[-1].append((None, Heard(words, is_said=True)))

    def around(self, note: ShownNote, turns: int) -> tuple[list[Heard], list[Heard], int]:
        """Return what was in sight when a note was shown, what followed in so many turns, both in their
        order, and how many turns have begun to follow."""
        first = next(
            (
                place
                for place, one in enumerate(self._exchanges)
                if one.ended_at is not None and one.ended_at > note.at
            ),
            len(self._exchanges),
        )
        before = [piece for pieces in self._pieces[:first] for _, piece in pieces]
        following = self._pieces[first : first + turns]
        after = [piece for pieces in following for piece in pieces]
        # A note may come in the midst of a turn, with a failure: what was done by then, it did not cause.
        begun = [
            place
            for place, (call, _) in enumerate(after)
            if call and call.at and call.at <= note.at
        ]
        start = begun[-1] + 1 if begun else 0
        before += [piece for _, piece in after[:start]]
        return before, [piece for _, piece in after[start:]], len(self._exchanges) - first


def _pieces(exchange: Exchange) -> Iterator[tuple[ToolUse | None, Heard]]:
    """Yield the pieces of an exchange in their order, each with the call that it belongs to: what the
    assistant said and did, and what it was given."""
    yield None, Heard(exchange.prompt, is_said=False)
    calls: dict[int, list[ToolUse]] = {}
    for call in exchange.calls:
        calls.setdefault(call.place, []).append(call)
    for place, step in enumerate(exchange.steps):
        own = calls.get(place, [])
        yield own[0] if own else None, Heard(step.text, is_said=step.kind in (SAID, PLANNED, DONE))
        for call in own:
            yield call, Heard("\n".join((call.command, call.file, call.written)), is_said=True)
            yield call, Heard(call.answered, is_said=False)


def _memories(ctx: Context, notes: Sequence[ShownNote]) -> dict[str, Memory]:
    ids = list({note.memory for note in notes})
    return {
        id: memory
        for shelf in ctx.all_shelves()
        for id, memory in shelf.journal.by_ids(ids).items()
    }


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
