"""What a session is given at its start: what matters, what is open, what was last, and what waits for the user."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain

from vector_memory import redact
from vector_memory.model import (
    GLOBAL_PROJECT,
    PASSAGE,
    QUIET,
    SUMMARY,
    TOPIC,
    Memory,
    Origin,
    Scope,
)
from vector_memory.retrieve import render
from vector_memory.retrieve.echoes import ShownTexts
from vector_memory.service.base import client_memory
from vector_memory.service.base.asker import HookQuestion, ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.base.context_block import checked, show
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.base.shown_notes import START, Showing
from vector_memory.service.inject import after_compaction
from vector_memory.service.memory import proposals
from vector_memory.service.memory.lookup import name_in, project_names
from vector_memory.system.durable_files import write_durably
from vector_memory.text import analysis, fence

START_NOTE_TOKENS = 110


ENOUGH_CHARS, LEAST_TERMS = 1_000, 12
"""Talk of fewer terms is not worth a place at a start."""


NOTED_KINDS = ("decision", "preference", "procedure", "note", "conclusion", "solution", SUMMARY)


EPISODES = "episodes"


def on_start(ctx: Context, question: HookQuestion) -> str:
    """Return the fenced memories that a session starts with: the important, the open, the recent.

    After a compaction the model has forgotten what it was shown, so all of it may be shown again.
    """
    if question.source in ("compact", "clear"):
        ctx.state.clear_shown(question.session)
    if not ctx.settings.recall_on_start:
        return ""
    hidden = ctx.state.shown(question.session)
    own = question.session if question.source == "resume" else ""
    back = after_compaction.notes(ctx, question) if question.source == "compact" else []
    from vector_memory.service.learning import guidance

    learned = guidance.for_start(ctx, question, hidden)
    line = _waiting(ctx, question) if question.source != "compact" else ""
    given = [*back, *learned]
    spare = fence.tokens(line) if line else 0
    notes = [*back, *start_notes(ctx, question, hidden, own, given, spare), *learned]
    ctx.later(lambda: save_snapshot(ctx, question, question.folder))
    known = client_memory.known_to_client(question.transcript)
    told = (
        show(
            ctx,
            question.session,
            notes,
            f"Project {question.place.name}:",
            known,
            showing=Showing(START),
        )
        if notes
        else ""
    )
    return "\n".join(filter(None, (told, line)))


def _waiting(ctx: Context, asker: ProjectAsker) -> str:
    """Return the line that says how much waits for the user, "" for nothing. What waits is not named: the
    model has written it, and would read it again."""
    count = proposals.waiting(ctx, asker.shelves, (asker.place.id, GLOBAL_PROJECT))
    if not count:
        return ""
    what = "1 memory waits" if count == 1 else f"{count} memories wait"
    line = (
        f"{what} for the user's review. Tell the user once, and decide nothing yourself: "
        "`vector-memory review`, in a terminal of their own, shows them."
    )
    return fence.fence([], line, fence.OWN_HEAD)


def start_notes(
    ctx: Context,
    asker: ProjectAsker,
    hidden: set[str],
    own_session: str = "",
    given: Sequence[fence.Note] = (),
    spare: int = 0,
) -> list[fence.Note]:
    """Return a start's notes within its budget, most important first.

    Args:
        hidden: ids that the session was shown already.
        own_session: a resumed session, whose own talk the model still sees.
        given: notes that come before these and take their part of the budget.
        spare: tokens that are needed for something else.
    """
    names = project_names(asker.shelves)
    left = ctx.settings.start_tokens - render.FENCE_TOKENS - spare
    left -= sum(one.tokens for one in given)
    shares = render.Shares(left, ctx.settings.origin_share)
    hidden = hidden | {one.id for one in given}
    made: list[fence.Note] = []
    told = ShownTexts([one.text for one in given])
    for memory in _start_memories(ctx, asker):
        if len(made) >= ctx.settings.start_memories:
            break
        if memory.id in hidden or told.holds(memory, whole_turns=True):
            continue
        if own_session and memory.source.session == own_session:
            continue
        note = render.note(memory, name_in(names, memory.project), START_NOTE_TOKENS)
        # What matters stands first here, whoever said it: others alone keep to their share.
        if note.tokens <= min(left, shares.room(memory, note.tokens, within=False)):
            made.append(note)
            told.add(memory)
            shares.take(memory, note.tokens)
            left -= note.tokens
    return made


def _start_memories(ctx: Context, asker: ProjectAsker) -> Iterator[Memory]:
    """Yield candidates for a start, each once: what matters, what is open, what was last. Talk is looked at
    only as far as it is asked for."""
    k = ctx.settings.start_memories
    both = Scope(projects=(asker.place.id, GLOBAL_PROJECT))
    own = Scope(projects=(asker.place.id,))
    important = [one for shelf in asker.shelves for one in shelf.journal.important(both, k)]
    unfinished = [one for shelf in asker.shelves for one in shelf.journal.open_items(own, 2)]
    noted = [one for shelf in asker.shelves for one in _noted(shelf, own, k)]
    latest = [one for shelf in asker.shelves for one in shelf.journal.recent(own, 4 * k)]
    latest.sort(key=lambda one: one.created_at, reverse=True)
    ordered = chain(important[: k // 2 + 1], unfinished[:2], noted[: k // 2], _first_pieces(latest))
    now, seen = ctx.now(), set()
    for one in ordered:
        # What mended an error comes with that error.
        may_come = one.collection != EPISODES and one.collection not in QUIET
        if may_come and one.id not in seen and (one.expires_at is None or one.expires_at > now):
            seen.add(one.id)
            yield one


def _noted(shelf: Shelf, scope: Scope, k: int) -> list[Memory]:
    """Return the newest memories that somebody made on purpose, rather than verbatim talk."""
    found = shelf.journal.recent(scope, 4 * k, kinds=NOTED_KINDS)
    return [one for one in found if one.collection != EPISODES and _is_meant(one)][:k]


def _is_meant(memory: Memory) -> bool:
    """Whether a memory is one to start with: made on purpose, or what the user decided or likes in a
    session. What the assistant found out there comes when it is asked for."""
    if not memory.source.path or memory.kind == SUMMARY:
        return True
    return memory.origin is Origin.USER and memory.kind in ("decision", "preference")


def _says_something(memory: Memory) -> bool:
    """Whether talk says more than a greeting and its answer."""
    terms = set(analysis.analyse(memory.text[:ENOUGH_CHARS]))
    return not memory.source.session or len(terms) >= LEAST_TERMS


def _first_pieces(memories: Sequence[Memory]) -> Iterator[Memory]:
    """Yield one memory for each exchange: its newest piece stands for it."""
    seen: set[tuple[str, int]] = set()
    for memory in memories:
        key = (memory.source.session, memory.source.turn)
        if memory.kind == TOPIC or (memory.source.session and key in seen):
            continue
        if memory.kind != PASSAGE or _says_something(memory):
            seen.add(key)
            yield memory


def save_snapshot(ctx: Context, asker: ProjectAsker, folder: str) -> None:
    """Write what a session in a folder would start with, for a start without a daemon."""
    with redact.for_project(asker.place.root):
        notes = checked(start_notes(ctx, asker, set()))
    path = ctx.home.snapshot(folder)
    data = {
        "notes": [
            {"id": one.id, "head": one.head, "text": one.text, "foreign": one.foreign}
            for one in notes
        ]
    }
    write_durably(path, json.dumps(data).encode())
