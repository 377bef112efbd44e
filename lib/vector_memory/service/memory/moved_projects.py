"""A project whose folder was renamed or moved: without a remote it is known by its path, and begins anew at another one,
while its memories lie under the path that is gone."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vector_memory.model import Project, Scope
from vector_memory.projects import Place
from vector_memory.service.base.context import Context
from vector_memory.text import tables

if TYPE_CHECKING:
    from vector_memory.journal.journal import Journal

LOOKED_AT = 50
LEAST_FILES = 3
"""How many of the files that the newest memories name must be there, and half of them, where the folder has another
name."""


def likely(ctx: Context, place: Place) -> dict[str, str]:
    """Return what is to be said of projects whose folder is gone and that look like one of which nothing is remembered
    yet, by their folders."""
    own = Scope(projects=(place.id,))
    if any(shelf.journal.recent(own, 1) for shelf in ctx.shelves_of(place)):
        return {}
    journal = ctx.global_shelf().journal
    found = {}
    for project in journal.projects():
        if not project.root or os.path.lexists(project.root) or project.id == place.id:
            continue
        count = journal.count(Scope(projects=(project.id,)))
        if count and _is_alike(journal, project, place):
            found[project.root] = (
                f"What looks like this project's memory ({count:,}) is of a folder that is gone. If you know that it was"
                f" moved here, `vector-memory adopt {shlex.quote(project.root)}` takes it along."
            )
    return found


def _is_alike(journal: Journal, project: Project, place: Place) -> bool:
    """Whether a project's folder had the same name, or what its memories name lies here."""
    if os.path.basename(project.root) == os.path.basename(place.root):
        return True
    files = set(_files(journal, project))
    there = sum(os.path.exists(os.path.join(place.root, file)) for file in files)
    return there >= LEAST_FILES and 2 * there >= len(files)


def _files(journal: Journal, project: Project) -> Iterator[str]:
    """Yield the files that a project's newest memories name, below its folder, but for those of every project."""
    common = tables.words("common_files")
    for memory in journal.recent(Scope(projects=(project.id,)), LOOKED_AT):
        for file in memory.files:
            inside = os.path.relpath(os.path.join(project.root, file), project.root)
            is_common = os.path.basename(inside).split(".")[0].lower() in common
            if not is_common and not inside.startswith(os.pardir):
                yield inside
