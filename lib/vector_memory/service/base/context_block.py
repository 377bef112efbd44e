"""The block of memories that a hook shows, and what is noted of it: its tokens, under one cap over all of a session's."""

from __future__ import annotations

import contextlib
import math
import threading
from collections import Counter
from collections.abc import Sequence

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.service.base import client_memory, delivery, shown_notes
from vector_memory.service.base.context import Context
from vector_memory.service.base.shown_notes import FAILURE, PROMPT, START
from vector_memory.text import fence


def show(
    ctx: Context,
    session: str,
    notes: Sequence[fence.Note],
    title: str = "",
    client_sentences: frozenset[str] = frozenset(),
    head: str = fence.HEAD,
    mark_of_cut: str = "",
    showing: shown_notes.Showing | None = None,
    part: str = "",
    budget: float = math.inf,
) -> str:
    """Return the block that is shown, and remember that it was: as many of the notes, the first ones, as there is room
    for in it and in what its session may be given.

    Args:
        session: whose model sees it from now on, "" for none: then it may be shown again.
        head: what is said of the notes first.
        client_sentences: what the client told the model itself: it is not said again.
        mark_of_cut: stands before what is remembered of a note that does not give the whole memory: the
            whole may still be shown then.
        showing: with what it is shown, where it is to be judged whether it was used.
        part: the compartment that its tokens count for, see `PARTS`; by default the channel's.
        budget: tokens that the block may take.
    """
    unrepeated = [note for note in notes if not client_memory.repeats(note.text, client_sentences)]
    safe = _counted(ctx, session, checked(unrepeated), budget, title, head)
    if not safe:
        return ""
    block = fence.fence(safe, title, head)
    tokens, part = fence.tokens(block), part or (showing.channel if showing else "")
    shown_ids = [mark_of_cut + note.id if note.is_cut else note.id for note in safe]
    shown_ids += [id for note in safe for id in note.also]
    if session:
        delivery.add_shown(ctx, session, shown_ids)
    if showing is not None and session:
        waiting = shown_notes.waiting(ctx.running, session)
        unjudged = showing.waiting_notes(session, safe, ctx.now())
        waiting.add(unjudged)
        delivery.unless_read(lambda: waiting.drop(unjudged))
    ids = [note.id for note in safe]
    # Counted, and noted for the audit log.
    ctx.count("memories_shown", len(ids))
    ctx.count("injections")
    part = part if part in PARTS else GUIDANCE
    ctx.audit("recall", "hook", ids, session=session, part=part, tokens=tokens)

    def take_back() -> None:
        ctx.count("memories_shown", -len(ids))
        ctx.count("injections", -1)
        ctx.audit("recall", "hook", ids, session=session, unread=True)

    delivery.unless_read(take_back)
    return block


def checked(notes: Sequence[fence.Note]) -> list[fence.Note]:
    """Redact once more on the way out: rules may have become stricter since it was stored.

    Returns:
        The notes in their order, each with its text as it may be shown now.
    """
    policy = redact.active()
    with contextlib.suppress(UnsafeTextError):
        # Mostly nothing is found; one look at all is faster than two at each.
        joined = "\n\n".join(f"{note.head}\n{note.text}" for note in notes)
        if redact.clean(joined, policy).text == joined:
            return list(notes)
    safe = []
    for note in notes:
        with contextlib.suppress(UnsafeTextError):
            head, text = redact.clean(note.head, policy).text, redact.clean(note.text, policy).text
            safe.append(fence.Note(note.id, head, text, note.foreign, note.is_cut, note.also))
    return safe


def output(event: str, context: str) -> dict[str, object] | None:
    """Return what the hook prints for a context, None for nothing."""
    return dict(fence.hook_output(event, context)) if context else None


SEARCH, GUIDANCE = "search", "guidance"
PARTS = (START, PROMPT, SEARCH, FAILURE, GUIDANCE)
"""Compartments by which what was shown is noted; all else is guidance."""


_counting = threading.Lock()
"""Held from before it is known what a session may still be given until that is counted."""


def _counted(
    ctx: Context, session: str, notes: Sequence[fence.Note], budget: float, title: str, head: str
) -> list[fence.Note]:
    """Return as many of the notes as a block may hold and its session, if any, may still be given, and count these."""
    limit = ctx.settings.session_tokens if session else 0
    tally = ctx.running.session("tally", session, Counter[str])
    with _counting:
        room = limit - tally["tokens"] if limit else math.inf
        fitting = fence.within(list(notes), min(budget, room), title, head)
        if session and fitting:
            tally["tokens"] += fence.tokens(fence.fence(fitting, title, head))
    ctx.count("context_capped", room < budget and len(fitting) < len(notes))
    return fitting
