"""Export as Markdown: by project, then by kind, the oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vector_memory.index.notes import markdown_export
from vector_memory.model import GLOBAL_PROJECT, Scope
from vector_memory.service.base import messages, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.transfer import round_trip
from vector_memory.service.transfer.json_lines import ExportRequest, export_line

GLOBAL_NAME = "Global"


def export(ctx: Context, request: ExportRequest) -> Iterator[tuple[str, int]]:
    """Yield (text, number of memories in it) of a project, of the global scope or of every store.

    Groups are read one after the other, so that no store is held in memory.
    """
    asker = messages.asker_of(ctx, request)
    scope = request_fields.listed(asker.scope)
    yield markdown_export.PREFACE, 0
    for shelf in asker.shelves:
        yield from _of_shelf(shelf, scope, request)


def _of_shelf(shelf: Shelf, scope: Scope, request: ExportRequest) -> Iterator[tuple[str, int]]:
    known = {one.id: one for one in shelf.journal.projects()}
    for project in sorted(shelf.journal.count_by("project", scope, round_trip.STATUSES)):
        within = replace(scope, projects=(project,))
        place = known.get(project)
        name = GLOBAL_NAME if project == GLOBAL_PROJECT else project
        yield markdown_export.heading(2, place.name if place else name), 0
        for kind in sorted(shelf.journal.count_by("kind", within, round_trip.STATUSES)):
            yield markdown_export.heading(3, kind or "note") + "\n", 0
            found = shelf.journal.iter_memories(
                replace(within, kinds=(kind,)), statuses=round_trip.STATUSES
            )
            for memory, links in round_trip.with_links(shelf, found):
                line = export_line(memory, place.root if place else "", links)
                yield markdown_export.render(messages.to_json(line)), 1
