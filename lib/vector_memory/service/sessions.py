"""What comes by itself: memories at a session's start and with a prompt."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from vector_memory import analysis, injection, projects, prompts, redact
from vector_memory.durable_files import write_durably
from vector_memory.errors import UnsafeTextError
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
from vector_memory.retrieve import query as queries
from vector_memory.retrieve import render
from vector_memory.retrieve.echoes import Told, without_echoes
from vector_memory.retrieve.factors import least_relevance
from vector_memory.retrieve.search import Hit, search
from vector_memory.service import after_compaction, client_notes, proposals
from vector_memory.service.context import Context, scope_of
from vector_memory.service.questions import embedding_of, query_of
from vector_memory.service.recall import is_open, name_in, project_names, touch
from vector_memory.service.shelf import Shelf

MAX_PROMPT_CHARS = 8_000
"""What of a prompt is searched for; the rest is most likely pasted output."""
CONTEXT_CHARS = 600
"""What of the last turn is searched together with a prompt that points back to it."""
START_NOTE_TOKENS = 110
ENOUGH_CHARS, LEAST_TERMS = 1_000, 12
"""Talk of fewer terms is not worth a place at a start."""
NOTED_KINDS = ("decision", "preference", "procedure", "note", "conclusion", "solution", SUMMARY)
EPISODES = "episodes"


@dataclass(frozen=True)
class Ask:
    """A hook's question: who asks, from which folder, what was said and what was said before."""

    session: str
    folder: str
    prompt: str = ""
    before: str = ""
    source: str = "startup"
    compacted_at: datetime | None = None
    transcript: str = ""


def on_prompt(ctx: Context, ask: Ask) -> str:
    """Return the fenced memories that a prompt needs, "" for none."""
    if not ctx.settings.recall_on_prompt or prompts.needs_nothing(ask.prompt):
        return ""
    place = ctx.place(ask.folder)
    if ctx.is_excluded(place, ask.folder):
        return ""
    shelves = ctx.shelves_of(place)
    hits = _relevant(ctx, ask, place, shelves)
    from vector_memory.service import guidance

    guide = guidance.for_prompt(ctx, place, ask)
    told = _present(ctx, ask, shelves, hits, guide) if hits or guide else ""
    if not ctx.settings.confirm_decisions:
        return told
    from vector_memory.service import confirming

    decided = confirming.to_confirm(ctx, shelves, ask.session)
    asking = fence(ctx, ask.session, decided, confirming.TITLE)
    return "\n".join(one for one in (told, asking) if one)


def _relevant(ctx: Context, ask: Ask, place: projects.Place, shelves: Sequence[Shelf]) -> list[Hit]:
    """Return what is relevant enough to speak up and was not shown in this session."""
    text = ask.prompt[:MAX_PROMPT_CHARS]
    if ask.before and prompts.points_back(text):
        text = text + "\n" + ask.before[-CONTEXT_CHARS:]
    query = query_of(ctx, text, scope_of(place), shelves, place, ask.session)
    shown = ctx.state.shown(ask.session)
    k = ctx.settings.prompt_memories
    hits = search(
        query,
        shelves,
        k + len(shown),
        ctx.now(),
        candidates=ctx.settings.candidates,
        scoring=ctx.settings.scoring,
        embed=embedding_of(ctx),
        allowed=is_open,
    )
    least = least_relevance(
        ctx.settings.threshold, sum(shelf.size(query.scope) for shelf in shelves)
    )
    told = without_echoes(hits)
    fit = [hit for hit in told if hit.relevance >= least and hit.memory.id not in shown]
    return _not_told(shelves, shown, [hit for hit in fit if not in_sight(hit.memory, ask)])[:k]


def _not_told(shelves: Sequence[Shelf], shown: set[str], hits: list[Hit]) -> list[Hit]:
    """Return hits without those whose words the session was given in another memory: an idea and the
    passage that it stands in are two memories that say one thing."""
    if not shown or not any(hit.memory.source.session for hit in hits):
        return hits
    told = Told()
    for shelf in shelves:
        for memory in shelf.journal.by_ids(list(shown)).values():
            told.add(memory)
    return [hit for hit in hits if not told.holds(hit.memory)]


def in_sight(memory: Memory, ask: Ask) -> bool:
    """Whether the model still sees where a memory comes from: its own session, not compacted since."""
    if memory.source.session != ask.session or not ask.session:
        return False
    return ask.compacted_at is None or memory.created_at > ask.compacted_at


def _present(
    ctx: Context,
    ask: Ask,
    shelves: Sequence[Shelf],
    hits: Sequence[Hit],
    guide: Sequence[injection.Note],
) -> str:
    names = project_names(shelves)
    notes = render.notes(
        hits,
        ctx.settings.prompt_tokens - sum(note.tokens for note in guide),
        lambda project: name_in(names, project),
        queries.analyse(ask.prompt[:MAX_PROMPT_CHARS], Scope()).terms,
        ctx.settings.origin_share,
    )
    chosen = {note.id for note in notes}
    touch(ctx, shelves, [hit for hit in hits if hit.memory.id in chosen])
    known = client_notes.known_to_client(ask.transcript)
    return fence(ctx, ask.session, [*notes, *guide], known=known)


def on_start(ctx: Context, ask: Ask) -> str:
    """Return the fenced memories that a session starts with: the important, the open, the recent.

    After a compaction the model has forgotten what it was shown, so all of it may be shown again.
    """
    place = ctx.place(ask.folder)
    if ask.source in ("compact", "clear"):
        ctx.state.clear_shown(ask.session)
    if not ctx.settings.recall_on_start or ctx.is_excluded(place, ask.folder):
        return ""
    shelves = ctx.shelves_of(place)
    hidden = ctx.state.shown(ask.session)
    own = ask.session if ask.source == "resume" else ""
    back = (
        after_compaction.notes(ctx, place, shelves, ask.session) if ask.source == "compact" else []
    )
    from vector_memory.service import guidance

    learned = guidance.for_start(ctx, place, hidden)
    line = _waiting(ctx, place, shelves) if ask.source != "compact" else ""
    given = [*back, *learned]
    spare = injection.tokens(line) if line else 0
    notes = [*back, *start_notes(ctx, place, shelves, hidden, own, given, spare), *learned]
    ctx.later(lambda: save_snapshot(ctx, ask.folder))
    known = client_notes.known_to_client(ask.transcript)
    told = fence(ctx, ask.session, notes, f"Project {place.name}:", known) if notes else ""
    return "\n".join(filter(None, (told, line)))


def _waiting(ctx: Context, place: projects.Place, shelves: list[Shelf]) -> str:
    """Return the line that says how much waits for the user, "" for nothing. What waits is not named: the
    model has written it, and would read it again."""
    count = proposals.waiting(ctx, shelves, (place.id, GLOBAL_PROJECT))
    if not count:
        return ""
    what = "1 memory waits" if count == 1 else f"{count} memories wait"
    line = (
        f"{what} for the user's review. Tell the user once, and decide nothing yourself: "
        "`vector-memory review`, in a terminal of their own, shows them."
    )
    return injection.fence([], line, injection.OWN_HEAD)


def start_notes(
    ctx: Context,
    place: projects.Place,
    shelves: Sequence[Shelf],
    hidden: set[str],
    own_session: str = "",
    given: Sequence[injection.Note] = (),
    spare: int = 0,
) -> list[injection.Note]:
    """Return a start's notes within its budget, most important first.

    Args:
        hidden: ids that the session was shown already.
        own_session: a resumed session, whose own talk the model still sees.
        given: notes that come before these and take their part of the budget.
        spare: tokens that are needed for something else.
    """
    names = project_names(shelves)
    left = ctx.settings.start_tokens - render.FENCE_TOKENS - spare
    left -= sum(one.tokens for one in given)
    shares = render.Shares(left, ctx.settings.origin_share)
    hidden = hidden | {one.id for one in given}
    made: list[injection.Note] = []
    told = Told([one.text for one in given])
    for memory in _start_memories(ctx, place, shelves):
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


def _start_memories(
    ctx: Context, place: projects.Place, shelves: Sequence[Shelf]
) -> Iterator[Memory]:
    """Yield candidates for a start, each once: what matters, what is open, what was last. Talk is looked at
    only as far as it is asked for."""
    k = ctx.settings.start_memories
    both = Scope(projects=(place.id, GLOBAL_PROJECT))
    own = Scope(projects=(place.id,))
    important = [one for shelf in shelves for one in shelf.journal.important(both, k)]
    unfinished = [one for shelf in shelves for one in shelf.journal.open_items(own, 2)]
    noted = [one for shelf in shelves for one in _noted(shelf, own, k)]
    latest = [one for shelf in shelves for one in shelf.journal.recent(own, 4 * k)]
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


def save_snapshot(ctx: Context, folder: str) -> None:
    """Write what a session in a folder would start with, for a start without a daemon."""
    place = ctx.place(folder)
    with redact.for_project(place.root):
        notes = _checked(start_notes(ctx, place, ctx.shelves_of(place), set()))
    path = ctx.home.snapshot(folder)
    data = {
        "notes": [
            {"id": one.id, "head": one.head, "text": one.text, "foreign": one.foreign}
            for one in notes
        ]
    }
    write_durably(path, json.dumps(data).encode())


def fence(
    ctx: Context,
    session: str,
    notes: Sequence[injection.Note],
    title: str = "",
    known: frozenset[str] = frozenset(),
    head: str = injection.HEAD,
) -> str:
    """Return the block that is shown, and remember that it was.

    Args:
        head: what is said of the notes first.
        known: what the client told the model itself: it is not said again.
    """
    fresh = [one for one in notes if not client_notes.repeats(one.text, known)]
    checked = _checked(fresh)
    if not checked:
        return ""
    ctx.state.add_shown(session, [note.id for note in checked], ctx.now())
    ctx.count("memories_shown", len(checked))
    ctx.count("injections")
    ctx.noted("recall", "hook", [note.id for note in checked], session=session)
    return injection.fence(checked, title, head)


def _checked(notes: Sequence[injection.Note]) -> list[injection.Note]:
    """Redact once more on the way out: rules may have become stricter since it was stored."""
    policy = redact.active()
    with contextlib.suppress(UnsafeTextError):
        # Mostly nothing is found; one look at all is faster than two at each.
        whole = "\n\n".join(f"{one.head}\n{one.text}" for one in notes)
        if redact.clean(whole, policy).text == whole:
            return list(notes)
    checked = []
    for one in notes:
        with contextlib.suppress(UnsafeTextError):
            head, text = redact.clean(one.head, policy).text, redact.clean(one.text, policy).text
            checked.append(injection.Note(one.id, head, text, one.foreign))
    return checked


def output(event: str, context: str) -> dict[str, Any] | None:
    """Return what the hook prints for a context, None for nothing."""
    return dict(injection.hook_output(event, context)) if context else None
