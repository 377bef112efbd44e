"""What is to be told of memories that are known by another name than this project's. Without a remote it is known by its
path: renamed or moved it begins anew, while its memories lie under the path that is gone. What its folder was under
another remote comes along, but for what other folders have, too, and what was of another repository in its place
(`service/base/known_folders.py`)."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vector_memory.model import Project, Scope
from vector_memory.projects import Place
from vector_memory.service.base import delivery
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
    yet, by their folders; and of those that its own folder was."""
    own = Scope(projects=(place.id,))
    if any(shelf.journal.recent(own, 1) for shelf in ctx.shelves_of(place)):
        return {}
    journal = ctx.global_shelf().journal
    found, rows = {}, journal.projects()
    before = ctx.folders.earlier(place, rows)
    if before and (count := journal.count(Scope(projects=tuple(before)))):
        found[place.root] = (
            f"What was remembered in this folder ({count:,}) is of another remote, which other folders have too, or of"
            f" another repository. If it is this project's, `vector-memory adopt {shlex.quote(place.root)}` takes it"
            " along."
        )
    for project in rows:
        if not project.root or os.path.lexists(project.root) or project.id == place.id:
            continue
        count = journal.count(Scope(projects=(project.id,)))
        if count and _is_alike(journal, project, place):
            found[project.root] = (
                f"What looks like this project's memory ({count:,}) is of a folder that is gone. If you know that it was"
                f" moved here, `vector-memory adopt {shlex.quote(project.root)}` takes it along."
            )
    return found


def came_along(ctx: Context, place: Place) -> str:
    """Return the sentence that tells once of memories that came along with a folder whose remote changed, "" for
    none."""
    count = ctx.folders.untold(place)
    if not count:
        return ""
    ctx.folders.came(place, 0)
    delivery.unless_read(lambda: ctx.folders.came(place, count))
    return f"This project's git remote is another than before; its memories ({count:,}) came along."


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
