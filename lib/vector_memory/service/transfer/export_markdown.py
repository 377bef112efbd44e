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
    scope = asker.scope.without_records
    yield markdown_export.PREFACE, 0
    for shelf in asker.shelves:
        yield from _shelf_parts(shelf, scope)


def by_project(
    shelf: Shelf, scope: Scope, statuses: Sequence[Status] = (Status.ACTIVE,)
) -> Iterator[tuple[str, str, Scope]]:
    """Yield of each project that has memories in a scope its name, its folder ("" for none), and the scope within it."""
    by_id = {project_id.id: project_id for project_id in shelf.journal.projects()}
    for project_id in sorted(shelf.journal.count_by("project", scope, statuses)):
        stored_project = by_id.get(project_id)
        name = GLOBAL_NAME if project_id == GLOBAL_PROJECT else project_id
        yield (
            stored_project.name if stored_project and project_id != GLOBAL_PROJECT else name,
            stored_project.root if stored_project else "",
            replace(scope, projects=(project_id,)),
        )


def _shelf_parts(shelf: Shelf, scope: Scope) -> Iterator[tuple[str, int]]:
    for name, root, project_scope in by_project(shelf, scope, LIVING):
        yield markdown_export.heading(2, privacy.word_or(name, privacy.DROPPED)), 0
        for kind in sorted(shelf.journal.count_by("kind", project_scope, LIVING)):
            title = markdown_export.heading(3, kind or "note") + "\n"
            for memory, links in json_lines.memories_with_links(
                shelf, replace(project_scope, kinds=(kind,))
            ):
                # Field by field: as one text, what is noted in a comment would be read as secrets.
                line = privacy.redacted_again(messages.to_json(export_line(memory, root, links)))
                yield title + markdown_export.render(line), 1
                title = ""
