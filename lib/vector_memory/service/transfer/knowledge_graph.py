"""Import of the MCP memory server's knowledge graph: observations and relations as memories."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from itertools import islice

from vector_memory.errors import UnsafeTextError
from vector_memory.index.notes import knowledge_graph
from vector_memory.index.notes.knowledge_graph import Fact
from vector_memory.model import IS_FOREIGN, Link, Memory, Origin, Progress, Relation, Source, Status
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.context import Context
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.exchange_versions import memory_id
from vector_memory.service.transfer import json_lines
from vector_memory.service.transfer.json_lines import ImportAnswer, ImportRequest
from vector_memory.service.transfer.round_trip import ImportRestoration
from vector_memory.system import json_in
from vector_memory.system.files import open_found

KIND = "context"
MAX_WHOLE_BYTES = 16 * 1024 * 1024
MAX_LINKS = 8
"""Memories of one entity that a relation is linked to at most."""


def is_graph(path: str) -> bool:
    """Whether a file holds a knowledge graph: told by its first line, or by all of it where it is
    one object over several lines."""
    first_line = next((line for _, _, line in json_lines.lines_of(path)), b"")
    if knowledge_graph.is_graph(first_line):
        return True
    spans_lines = first_line.lstrip().startswith(b"{") and not first_line.rstrip().endswith(b"}")
    return spans_lines and knowledge_graph.parse_whole(_read_whole(path)) is not None


def import_graph(ctx: Context, request: ImportRequest, progress: Progress) -> ImportAnswer:
    """Store what a knowledge graph says; what is known already is left as it is.

    Relations are linked to the memories of the two entities that they join.

    Raises:
        BadInputError: an agent would have it count for all projects, or it is no file to read.
        NotFoundError: there is no such file.

    Returns:
        Counts of what was stored, merged and left out.
    """
    path = json_lines.regular_file(request.path)
    if request.is_global:
        request.require_user("imports for all projects")
    started = time.monotonic()
    place, answer = messages.place_of(ctx, request), ImportAnswer()
    shelf, project = ctx.shelf_of(place), place.id if place else ""
    if place:
        ctx.know_project(shelf, place)
    all_facts = knowledge_graph.parse_whole(_read_whole(path), answer.clean)
    facts = _facts(path, answer) if all_facts is None else ((0, fact) for fact in all_facts)
    memories, restoration = _memories(request, path, project, answer, facts), ImportRestoration()
    ids_by_entity: defaultdict[str, list[str]] = defaultdict(list)
    relations: dict[str, tuple[str, ...]] = {}
    while batch := list(islice(memories, json_lines.BATCH)):
        json_lines.store([(shelf, memory) for memory, _ in batch], answer, False, restoration)
        ids = [restoration.existing_ids.get(memory.id, memory.id) for memory, _ in batch]
        stored = shelf.journal.by_ids(ids)
        for id, (_, fact) in zip(ids, batch, strict=True):
            if stored[id].status is Status.FORGOTTEN:
                continue
            if fact.is_relation:
                relations[id] = fact.entities
            else:
                ids_by_entity[fact.entities[0]].append(id)
        progress(answer.read, 0, "storing")
    shelf.journal.link_all(
        Link(id, other, Relation.RELATES_TO, created_at=ctx.now())
        for id, names in relations.items()
        for name in names
        for other in ids_by_entity[name][:MAX_LINKS]
        if other != id
    )
    return answer.finish(ctx, request.actor, started)


def _memories(
    request: ImportRequest,
    path: str,
    project: str,
    answer: ImportAnswer,
    facts: Iterable[tuple[int, Fact]],
) -> Iterator[tuple[Memory, Fact]]:
    """Yield facts as memories, each with the fact; the same one has the same id whenever it is read."""
    foreign_mark = {IS_FOREIGN: True} if request.foreign or request.is_agent else {}
    modified_at = datetime.fromtimestamp(os.path.getmtime(path), timezone.utc)
    for line, fact in facts:
        answer.read += 1
        try:
            memory = Memory(
                id=memory_id(fact.key, project),
                text=answer.clean(fact.text),
                created_at=modified_at,
                kind=KIND,
                project=project,
                origin=Origin.IMPORT,
                tags=tuple(privacy.word(tag) for tag in fact.tags),
                source=Source(path=privacy.word(path)),
                external_id=fact.key,
                extra={"entities": [privacy.word(name) for name in fact.entities], **foreign_mark},
            )
        except UnsafeTextError as error:
            answer.failed(line, str(error))
        else:
            yield trust_marks.with_trust_marks(memory, fact.text), fact


def _facts(path: str, answer: ImportAnswer) -> Iterator[tuple[int, Fact]]:
    for number, _, line in json_lines.lines_of(path):
        try:
            data = json_in.load(line)
        except ValueError as error:
            answer.failed(number, f"No JSON: {error}.")
            continue
        facts = list(knowledge_graph.facts(data, answer.clean)) if isinstance(data, dict) else []
        if not facts:
            answer.failed(number, "Neither an entity nor a relation.")
        yield from ((number, fact) for fact in facts)


def _read_whole(path: str) -> bytes:
    with open_found(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_WHOLE_BYTES:
            return b""
        return file.read(MAX_WHOLE_BYTES)
