"""Import of the MCP memory server's knowledge graph: observations and relations as memories."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime, timezone

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.notes import knowledge_graph
from vector_memory.index.notes.knowledge_graph import Fact
from vector_memory.lifecycle.dedup import text_key
from vector_memory.model import (
    IS_FOREIGN,
    CleanText,
    Link,
    Memory,
    Origin,
    Progress,
    Relation,
    Source,
    Status,
)
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context, new_id
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.memory import trust_marks
from vector_memory.service.transfer.json_lines import (
    BATCH,
    ImportAnswer,
    ImportRequest,
    lines_of,
    regular_file,
)
from vector_memory.system import json_in
from vector_memory.system.files import open_found

KIND = "context"
MAX_WHOLE_BYTES = 16 * 1024 * 1024
MAX_LINKS = 8
"""Memories of one entity that a relation is linked to at most."""


def is_graph(path: str) -> bool:
    """Whether a file holds a knowledge graph: told by its first line, or by all of it where it is
    one object over several lines."""
    first = next((line for _, _, line in lines_of(path)), b"")
    if knowledge_graph.is_graph(first):
        return True
    spread = first.lstrip().startswith(b"{") and not _is_json(first)
    return spread and knowledge_graph.parse_whole(_whole(path)) is not None


def import_graph(ctx: Context, request: ImportRequest, progress: Progress) -> ImportAnswer:
    """Store what a knowledge graph says; what is known already is left as it is.

    Relations are linked to the memories of the two entities that they join.

    Raises:
        BadInputError: an agent would have it count for all projects, or it is no file to read.
        NotFoundError: there is no such file.

    Returns:
        Counts of what was stored, merged and left out.
    """
    path = regular_file(request.path)
    if request.is_global:
        request.require_user("imports for all projects")
    started = time.monotonic()
    work = _GraphImport(ctx, request, path)
    whole = knowledge_graph.parse_whole(_whole(path), work.done.clean)
    facts = _facts(path, work.done) if whole is None else ((0, fact) for fact in whole)
    batch: list[tuple[int, Fact]] = []
    for fact_at in facts:
        batch.append(fact_at)
        if len(batch) >= BATCH:
            work.store(batch)
            progress(work.done.read, 0, "storing")
            batch = []
    work.store(batch)
    work.link()
    return work.done.finish(ctx, request.actor, started)


class _GraphImport:
    """One graph on its way into one project."""

    def __init__(self, ctx: Context, request: ImportRequest, path: str) -> None:
        self.done = ImportAnswer()
        self._ctx = ctx
        self._path = path
        self._foreign = request.foreign or request.is_agent
        place = messages.place_of(ctx, request)
        self._project = place.id if place else ""
        self._shelf: Shelf = ctx.shelf_of(place)
        if place:
            ctx.know_project(self._shelf, place)
        modified = os.path.getmtime(path)
        self._created_at = datetime.fromtimestamp(modified, timezone.utc)
        self._of_entity: dict[str, list[str]] = {}
        self._relations: dict[str, tuple[str, ...]] = {}

    def store(self, batch: list[tuple[int, Fact]]) -> None:
        """Store the facts of a batch that are new, in one transaction."""
        fresh: dict[bytes, Memory] = {}
        for line, fact in batch:
            self.done.read += 1
            try:
                memory = self._memory(fact)
            except UnsafeTextError as error:
                self.done.failed(line, str(error))
                continue
            key = text_key(memory.text)
            twin = fresh.get(key) or self._stored(memory)
            if twin is None:
                fresh[key] = memory
            else:
                self.done.merged += 1
            self._note(fact, twin or memory)
        self.done.stored += len(self._shelf.journal.add(list(fresh.values())))

    def link(self) -> None:
        """Link each relation with the memories of its two entities."""
        self._shelf.journal.link_all(
            Link(id, other, Relation.RELATES_TO, created_at=self._ctx.now())
            for id, names in self._relations.items()
            for name in names
            for other in self._of_entity.get(name, ())[:MAX_LINKS]
            if other != id
        )

    def _memory(self, fact: Fact) -> Memory:
        made = Memory(
            id=new_id(),
            text=self.done.clean(fact.text),
            created_at=self._created_at,
            kind=KIND,
            project=self._project,
            origin=Origin.IMPORT,
            tags=tuple(_clean(tag) for tag in fact.tags),
            source=Source(path=_clean(self._path)),
            external_id=fact.key,
            extra={
                "entities": [_clean(name) for name in fact.entities],
                **({IS_FOREIGN: True} if self._foreign else {}),
            },
        )
        return trust_marks.settled(made, fact.text)

    def _stored(self, memory: Memory) -> Memory | None:
        journal = self._shelf.journal
        stored = journal.find_imported(memory.external_id, self._project)
        if stored:
            # Whatever became of it (edited, superseded, forgotten) stays so.
            return stored[-1]
        return journal.find_by_hash(text_key(memory.text), self._project)

    def _note(self, fact: Fact, memory: Memory) -> None:
        if memory.status is Status.FORGOTTEN:
            return
        if fact.is_relation:
            self._relations[memory.id] = fact.entities
        else:
            self._of_entity.setdefault(fact.entities[0], []).append(memory.id)


def _facts(path: str, done: ImportAnswer) -> Iterator[tuple[int, Fact]]:
    for number, _, line in lines_of(path):
        try:
            data = json_in.load(line)
        except ValueError as error:
            done.failed(number, f"No JSON: {error}.")
            continue
        facts = list(knowledge_graph.facts(data, done.clean)) if isinstance(data, dict) else []
        if not facts:
            done.failed(number, "Neither an entity nor a relation.")
        yield from ((number, fact) for fact in facts)


def _clean(word: str) -> CleanText:
    return redact.clean(word).text


def _is_json(line: bytes) -> bool:
    try:
        json_in.load(line)
    except ValueError:
        return False
    return True


def _whole(path: str) -> bytes:
    with open_found(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_WHOLE_BYTES:
            return b""
        return file.read(MAX_WHOLE_BYTES)
