"""Export as Markdown: by project, then by kind, the oldest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from vector_memory.index.notes import markdown_export
from vector_memory.model import GLOBAL_PROJECT, LIVING, Scope, Status
from vector_memory.service.base import messages, privacy
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.transfer import json_lines
from vector_memory.service.transfer.json_lines import ExportRequest, export_line

GLOBAL_NAME = "Global"


def export(ctx: Context, request: ExportRequest) -> Iterator[tuple[str, int]]:
    """Yield (text, number of memories in it) of a project, of the global scope or of every store.

    Groups are read one after the other, so that no store is held in memory.
    """
    asker = messages.asker_of(ctx, request)
    scope = asker.scope.listed
    yield markdown_export.PREFACE, 0
    for shelf in asker.shelves:
        yield from _of_shelf(shelf, scope)


def by_project(
    shelf: Shelf, scope: Scope, statuses: Sequence[Status] = (Status.ACTIVE,)
) -> Iterator[tuple[str, str, Scope]]:
    """Yield of each project that has memories in a scope its name, its folder ("" for none), and the scope within it."""
    by_id = {project.id: project for project in shelf.journal.projects()}
    for project in sorted(shelf.journal.count_by("project", scope, statuses)):
        place = by_id.get(project)
        name = GLOBAL_NAME if project == GLOBAL_PROJECT else project
        yield (
            place.name if place and project != GLOBAL_PROJECT else name,
            place.root if place else "",
            replace(scope, projects=(project,)),
        )


def _of_shelf(shelf: Shelf, scope: Scope) -> Iterator[tuple[str, int]]:
    for name, root, within in by_project(shelf, scope, LIVING):
        yield markdown_export.heading(2, privacy.word_or(name, privacy.DROPPED)), 0
        for kind in sorted(shelf.journal.count_by("kind", within, LIVING)):
            title = markdown_export.heading(3, kind or "note") + "\n"
            for memory, links in json_lines.exported(shelf, replace(within, kinds=(kind,))):
                # Field by field: as one text, what is noted in a comment would be read as secrets.
                line = privacy.shown(messages.to_json(export_line(memory, root, links)))
                yield title + markdown_export.render(line), 1
                title = ""
