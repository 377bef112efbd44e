"""What a purge is to remove: by id, by words, by session, by project, or what was forgotten."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from vector_memory import redact
from vector_memory.errors import BadInputError, NotFoundError, UnsafeTextError
from vector_memory.model import (
    DERIVED,
    LIVING,
    QUIET,
    Memory,
    Origin,
    Scope,
    Status,
)
from vector_memory.service.base import messages, reach
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import archives
from vector_memory.service.learning import learned_records
from vector_memory.service.memory import tombstones
from vector_memory.service.memory.companions import companions, repeating
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.purge.byte_search import pieces_of

LEAST_WORDS = 4
"""Characters that `text` must have: fewer stand everywhere."""
EVERY_STATUS = tuple(Status)


class PurgeRequest(messages.Request):
    """Remove for good: memories (`ids`), whatever holds a `text`, a `session`, the project in a folder (`dir`),
    or what was `forgotten`; one of these.

    Attributes:
        dry_run: only tell what would go.
        backups: delete the backups in their usual place, too.
        certificate: write a signed proof of it, which names no words, and take back from teams what they were given.
        access: the AWS variables of who asks; `passphrase` that of this installation's key, "" for none.
    """

    ids: tuple[str, ...] = messages.words()
    text: str = messages.maybe_text(10_000)
    session: str = messages.maybe_text(256)
    dir: str = messages.maybe_text(4_096)
    forgotten: bool = messages.flag()
    dry_run: bool = messages.flag()
    backups: bool = messages.flag()
    certificate: bool = messages.flag()
    access: Any = messages.read_by(lambda sent, name: sent.get(name), None)
    passphrase: str = messages.word()


@dataclass
class StorePart:
    """What goes of one store. `damaged` are rows that hold the words and cannot be read; `derived` are
    topics and summaries of the sessions concerned, which are made anew without what goes."""

    shelf: Shelf
    memories: list[Memory]
    damaged: list[str] = field(default_factory=list)
    derived: list[Memory] = field(default_factory=list)

    @property
    def ids(self) -> list[str]:
        """Return the ids of all rows that go."""
        return [*(memory.id for memory in (*self.memories, *self.derived)), *self.damaged]


@dataclass
class PurgeSelection:
    """What goes: of each store (`parts`), from which `sessions`, and `pieces` of its words to search the files for.
    `names` are what must not be captured again; `session` and `project` go whole."""

    form: str
    parts: list[StorePart]
    sessions: set[str]
    pieces: list[str]
    names: set[str]
    session: str = ""
    project: str = ""

    @property
    def ids(self) -> list[str]:
        """Return the ids of all rows that go."""
        return [id for part in self.parts for id in part.ids]

    @property
    def memories(self) -> list[tuple[Shelf, Memory]]:
        """Return the memories that go, without what is made anew."""
        return [(part.shelf, memory) for part in self.parts for memory in part.memories]


def choose(ctx: Context, request: PurgeRequest) -> PurgeSelection:
    """Return what a request is to remove.

    Raises:
        BadInputError: it names nothing, or in two ways; or memories would go that who asks may not be given.
        NotFoundError: there is no such memory, session or project.
    """
    ways = {
        _by_ids: request.ids,
        _by_text: request.text,
        _by_session: request.session,
        _by_project: request.dir,
        _forgotten: request.forgotten,
    }
    chosen_ways = [choose_by for choose_by, value in ways.items() if value]
    if len(chosen_ways) != 1:
        raise BadInputError(
            "Purge what? Name it in one way.",
            "Give ids, --text WORDS, --session ID, --project DIR or --forgotten.",
        )
    selection = chosen_ways[0](ctx, request)
    if any(part.ids for part in selection.parts if is_shared(ctx, part.shelf)):
        request.require_user("decides what is kept of what others shared")
    if not request.forgotten:
        reach.require_all(memory for _, memory in selection.memories)
    for part in selection.parts:
        _add_derived(part, selection.sessions)
    return selection


def is_shared(ctx: Context, shelf: Shelf) -> bool:
    """Whether a store is that of what others shared."""
    return shelf.folder == ctx.home.team


def _by_ids(ctx: Context, request: PurgeRequest) -> PurgeSelection:
    """Choose memories, what goes with them, and whatever else holds their whole text."""
    chosen = [lookup(ctx, prefix, shared=True) for prefix in request.ids]
    for _, memory in chosen:
        if memory.kind in DERIVED and memory.source.session:
            raise BadInputError(
                f"{memory.id[:12]} is a {memory.kind}: it is made of what was said, and would be made again.",
                "Purge what it is made of, or `forget` it; a topic that is forgotten stays so.",
            )
    parts = []
    for shelf in ctx.every_shelf():
        store_memories = [memory for owner, memory in chosen if owner is shelf]
        repeated = repeating(shelf, [memory for _, memory in chosen])
        store_memories = _each_once(
            [*store_memories, *(memory for memory in repeated if memory.kind not in DERIVED)]
        )
        if store_memories:
            parts.append(
                StorePart(shelf, _each_once([*store_memories, *companions(shelf, store_memories)]))
            )
    return _selection("ids", parts)


def _by_text(ctx: Context, request: PurgeRequest) -> PurgeSelection:
    """Choose every row that holds the words, of whatever kind and status."""
    words = request.text.strip()
    if len(words) < LEAST_WORDS:
        raise BadInputError(
            f"That is shorter than {LEAST_WORDS} characters.", "It would stand nearly everywhere."
        )
    _require_all_open(ctx)
    spellings = _spellings(words)
    parts = []
    for shelf in ctx.every_shelf():
        ids = shelf.journal.holding(spellings)
        by_id = shelf.journal.by_ids(ids)
        damaged = [id for id in ids if id not in by_id]
        parts.append(StorePart(shelf, list(by_id.values()), damaged))
    return _selection("text", parts, spellings)


def _require_all_open(ctx: Context) -> None:
    """Make sure that no memory is withheld from who asks: by trying words, one could learn what such a memory says.

    Raises:
        BadInputError: something is.
    """
    if levels := reach.levels_withheld():
        withheld = (
            shelf.journal.iter_memories(Scope(levels=levels)) for shelf in ctx.all_shelves()
        )
        if next(chain.from_iterable(withheld), None):
            raise BadInputError(
                "By words would be found what you may not be given.", "Ask the user."
            )


def _spellings(words: str) -> list[str]:
    """Return words as they were given, and as they are stored."""
    try:
        return list(dict.fromkeys([words, str(redact.clean(words).text)]))
    except UnsafeTextError:
        return [words]


def _by_session(ctx: Context, request: PurgeRequest) -> PurgeSelection:
    name = request.session.strip()
    sessions = messages.named_sessions(ctx.all_shelves(), [name])
    # The beginning of an id is refused: once its session is gone, the same purge would mean another session.
    matches = [id for id in sessions if id == name or not id.startswith(name)]
    if len(matches) > 1:
        raise BadInputError(f"{name!r} names {len(matches)} sessions.", "Give the whole id of one.")
    session = matches[0] if matches else name
    parts = _store_parts(ctx, Scope(sessions=(session,)))
    if not parts and not archives.archives_of(ctx.home, session):
        raise NotFoundError(
            f"Nothing is stored of a session {session!r}.",
            "Give its whole id: `vector-memory topics` shows sessions.",
        )
    selection = _selection("session", parts)
    selection.session = session
    selection.sessions.add(session)
    selection.names.add(tombstones.session_name(session))
    return selection


def _by_project(ctx: Context, request: PurgeRequest) -> PurgeSelection:
    folder = os.path.join(request.base, os.path.expanduser(request.dir))
    place = ctx.place(folder)
    parts = (
        _store_parts(ctx, Scope(projects=(place.id,))) if messages.may_mean(place, folder) else []
    )
    if not parts:
        raise NotFoundError(
            f"Nothing is stored of a project in {folder}.", "`vector-memory stats` shows projects."
        )
    selection = _selection("dir", parts)
    selection.project = place.id
    selection.names.add(tombstones.project_name(place.id))
    return selection


def _forgotten(ctx: Context, request: PurgeRequest) -> PurgeSelection:
    """Choose the tombstones. Their words are not known any more, so no file can be searched for them; every store is
    written anew."""
    parts = []
    for shelf in ctx.every_shelf():
        stones = shelf.journal.iter_memories(Scope(), statuses=(Status.FORGOTTEN,))
        # A forgotten topic would be found again, were its stone not there.
        parts.append(StorePart(shelf, [stone for stone in stones if stone.kind not in DERIVED]))
    return _selection("forgotten", parts)


def _store_parts(ctx: Context, scope: Scope) -> list[StorePart]:
    parts = [
        StorePart(shelf, list(shelf.journal.iter_memories(scope, statuses=EVERY_STATUS)))
        for shelf in ctx.all_shelves()
    ]
    return [part for part in parts if part.memories]


def _selection(form: str, parts: list[StorePart], pieces: Sequence[str] = ()) -> PurgeSelection:
    memories = [memory for part in parts for memory in part.memories]
    # Of what is forgotten nothing is known but names.
    known_memories = [] if form == "forgotten" else memories
    return PurgeSelection(
        form,
        parts,
        {memory.source.session for memory in known_memories if memory.source.session},
        list(pieces)
        or pieces_of([memory.text for memory in known_memories if not _is_count(memory)]),
        tombstones.names_of(memories),
    )


def _is_count(memory: Memory) -> bool:
    """Whether a memory is a record of what observers count: its words are ours, and stand elsewhere too."""
    return memory.collection in QUIET and memory.origin is Origin.JOB


def _add_derived(part: StorePart, sessions: set[str]) -> None:
    """Add the topics and summaries of these sessions and what was learned from them, unless they go anyway
    or were forgotten."""
    if not sessions:
        return
    removed_ids = {memory.id for memory in part.memories}
    projects = tuple({memory.project for memory in part.memories})
    scope = Scope(sessions=tuple(sessions), kinds=DERIVED)
    derived = chain(
        part.shelf.journal.iter_memories(scope, statuses=LIVING),
        learned_records.records_of(part.shelf, sessions, projects),
    )
    part.derived = _each_once([memory for memory in derived if memory.id not in removed_ids])


def _each_once(memories: Sequence[Memory]) -> list[Memory]:
    return list({memory.id: memory for memory in memories}.values())
