"""What is to be told of memories that are known by another name than this project's. A project is known by its remote, else
by its path: renamed or moved without one it begins anew, while its memories lie under the path that is gone, and so it
does when its remote is added, changed or removed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from vector_memory import projects
from vector_memory.journal.journal import Journal
from vector_memory.model import Project, Scope
from vector_memory.projects import Place
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf
from vector_memory.text import tables

LOOKED_AT = 50
LEAST_FILES = 3
"""How many of the files that the newest memories name must be there, and half of them, where the folder has another
name."""


def likely(ctx: Context, place: Place) -> dict[str, str]:
    """Return what is to be said of projects whose folder is gone and that look like one of which nothing is remembered
    yet, by their folders; and of those that its own folder was, as long as it is the same repository or has nothing of
    its own."""
    scope = Scope(projects=(place.id,))
    is_new = not any(shelf.journal.recent(scope, 1) for shelf in ctx.shelves_of(place))
    notices = _other_name_notices(ctx, place, is_new)
    if not is_new:
        return notices
    journal = ctx.global_shelf().journal
    for project in journal.projects():
        if not project.root or os.path.lexists(project.root) or project.id == place.id:
            continue
        count = journal.count(Scope(projects=(project.id,)))
        if count and _is_alike(journal, project, place):
            notices[project.root] = (
                f"What looks like this project's memory ({count:,}) is of a folder that is gone. If you know that it was"
                f" moved here, `vector-memory adopt {shlex.quote(project.root)}` takes it along."
            )
    return notices


def before(ctx: Context, place: Place) -> dict[Shelf, list[str]]:
    """Return the ids of other projects that a project's own folder was, by the stores that hold memories of them."""
    if not os.path.isdir(place.root) or projects.locate(place.root).id != place.id:
        # A repository below a folder that has a store for all that lies in it.
        return {}
    ids_by_store: dict[Shelf, list[str]] = {}
    for shelf in ctx.shelves_of(place):
        rows = [row for row in shelf.journal.projects() if row.root == place.root]
        ids = [row.id for row in rows if row.id != place.id]
        if any(shelf.journal.count(Scope(projects=(id,))) for id in ids):
            ids_by_store[shelf] = ids
    return ids_by_store


def _other_name_notices(ctx: Context, place: Place, is_new: bool) -> dict[str, str]:
    scopes = {shelf: Scope(projects=tuple(ids)) for shelf, ids in before(ctx, place).items()}
    newest = [
        memory for shelf, scope in scopes.items() for memory in shelf.journal.recent(scope, 1)
    ]
    created_at = projects.made_at(place.root)
    is_same = created_at is not None and any(
        memory.created_at.timestamp() > created_at for memory in newest
    )
    if not newest or not (is_new or is_same):
        return {}
    count = sum(shelf.journal.count(scope) for shelf, scope in scopes.items())
    why = (
        "its git remote was another"
        if is_same
        else "its git remote, or the repository, was another"
    )
    return {
        place.root: f"What was remembered in this folder ({count:,}) goes by another name: {why}."
        f" `vector-memory adopt {shlex.quote(place.root)}` takes it along, from other clones too."
    }


def _is_alike(journal: Journal, project: Project, place: Place) -> bool:
    """Whether a project's folder had the same name, or what its memories name lies here."""
    if os.path.basename(project.root) == os.path.basename(place.root):
        return True
    files = set(_files(journal, project))
    existing = sum(os.path.exists(os.path.join(place.root, file)) for file in files)
    return existing >= LEAST_FILES and 2 * existing >= len(files)


def _files(journal: Journal, project: Project) -> Iterator[str]:
    """Yield the files that a project's newest memories name, below its folder, but for those of every project."""
    common = tables.words("common_files")
    for memory in journal.recent(Scope(projects=(project.id,)), LOOKED_AT):
        for file in memory.files:
            inside = os.path.relpath(os.path.join(project.root, file), project.root)
            is_common = os.path.basename(inside).split(".")[0].lower() in common
            if not is_common and not inside.startswith(os.pardir):
                yield inside
