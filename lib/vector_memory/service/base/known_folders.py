"""What is remembered of folders: which project each was. A project is known by its remote `origin`, else by its path, so
that to add, change or remove a remote makes it another one: the folder tells that it is the same. A folder that is gone
is still of the repository whose worktree it was.

A folder is the same while it is the same repository, or, before it had one, the same folder: one that is made anew in
its place takes nothing along. What several folders had in common stays with them (a starter that two products were
cloned from): who leaves takes along what was its own alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from vector_memory import projects
from vector_memory.journal.scopes import parts
from vector_memory.model import Project, Scope, Status, unique
from vector_memory.projects import Place
from vector_memory.system.json_in import Record

if TYPE_CHECKING:
    from vector_memory.journal.state import State
    from vector_memory.service.base.shelf import Shelf

SORT = "folders"
"""The small records of this: by a folder's path, the ids of the projects that it was, the latest first, and what tells
it from another folder in its place (`projects.marks`); or the root that it is a working tree of."""
CAME = "came"
"""How many memories a folder took along which no session was told of yet."""


class KnownFolders:
    """Folders whose memories are stored here, with the projects that they were."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._read: dict[str, Record] | None = None

    @property
    def _known(self) -> dict[str, Record]:
        if self._read is None:
            self._read = self._state.records(SORT)
        return self._read

    def note(self, place: Place, before: Iterable[Project] = ()) -> None:
        """Remember which project a folder is.

        Args:
            before: what was known of projects: where another folder has this one's id, it is remembered as well.
        """
        for one in before:
            if one.id == place.id and one.root not in ("", place.root, *self._known):
                self._put(one.root, {"ids": [one.id], "marks": []})
        if not os.path.isdir(place.root):
            return
        known = self._known.get(place.root, Record())
        ids = self._ids(place.root) if self._is_same(place.root) else []
        kept = {"ids": list(unique((place.id, *ids))), "marks": projects.marks(place.root)}
        self._put(place.root, {**known, **kept, "name": place.name})
        if place.tree != place.root:
            self._put(place.tree, {"root": place.root})

    def was_at(self, place: Place, folder: str) -> None:
        """Remember that a folder which is gone is where a project was before it moved."""
        self._put(folder, {"root": place.root})

    def of_gone(self, folder: str) -> Place | None:
        """Return the project of a folder that is gone, None where it is there or nothing is known of it."""
        here = os.path.realpath(folder)
        while not os.path.lexists(here):
            if (known := self._known.get(here)) is not None:
                root = known.text("root")
                if root and os.path.isdir(root):
                    return projects.locate(root)
                known, ids = self._known.get(root, known), self._ids(root or here)
                return Place(ids[0], known.text("name"), root or here, "") if ids else None
            here = os.path.dirname(here)
        return None

    def earlier(self, place: Place, rows: Iterable[Project]) -> list[str]:
        """Return the ids of other projects that a folder was, or one in its place.

        Args:
            rows: the projects that are known.
        """
        of_path = (one.id for one in rows if one.root == place.root)
        return [id for id in unique((*self._ids(place.root), *of_path)) if id != place.id]

    def its_own(self, place: Place, rows: Iterable[Project]) -> list[str]:
        """Return those of the earlier ids that were this folder's alone, if it is the same folder as then."""
        rows, is_known = list(rows), place.root in self._known
        if is_known and not self._is_same(place.root):
            return []
        # What was stored before folders were remembered is taken at its word.
        ids = self._ids(place.root) if is_known else self.earlier(place, rows)
        return [id for id in ids if id != place.id and not any(self._others(place, id, rows))]

    def came(self, place: Place, count: int) -> None:
        """Remember for the next session that memories came along; 0 once it was told."""
        known = self._known.get(place.root, Record())
        told = known.number(CAME)
        if count or told:
            self._put(place.root, {**known, CAME: told + count if count else 0})

    def untold(self, place: Place) -> int:
        """Return how many memories came along which no session was told of yet."""
        return self._known.get(place.root, Record()).number(CAME)

    def _ids(self, root: str) -> list[str]:
        return self._known.get(root, Record()).words("ids")

    def _is_same(self, root: str) -> bool:
        """Whether a folder is the one that is remembered, as far as anything is."""
        known = self._known.get(root, Record()).get("marks")
        if not isinstance(known, list) or len(known) != 2:
            return True
        folder, repository = projects.marks(root)
        return bool(repository == known[1] if known[1] else folder == known[0])

    def _others(self, place: Place, id: str, rows: Iterable[Project]) -> Iterator[str]:
        """Yield the folders that had a project's id, too, and did not come along. One that is gone may be at another
        place, with what is remembered of it."""
        named = [root for root, known in self._known.items() if id in known.words("ids")]
        for root in unique((*named, *(one.root for one in rows if one.id == id and one.root))):
            if root == place.root or self._is_moved(root, place.root):
                continue
            if not os.path.isdir(root) or projects.locate(root).id != place.id:
                yield root

    def _is_moved(self, root: str, to: str) -> bool:
        """Whether a folder that is gone was the repository that is at another place now."""
        known = self._known.get(root, Record()).get("marks")
        repository = projects.marks(to)[1]
        there = os.path.lexists(root)
        return bool(
            isinstance(known, list) and repository and repository in known[1:] and not there
        )

    def _put(self, folder: str, body: dict[str, object]) -> None:
        body = json.loads(json.dumps(body))
        if self._known.get(folder) != body:
            self._state.put_record(SORT, folder, body, is_durable=False)
            self._known[folder] = Record(body)


def take_over(shelf: Shelf, place: Place, others: Iterable[str]) -> int:
    """Have what a store holds of other projects belong to one.

    Returns:
        How many active memories that concerns.
    """
    ids = tuple(others)
    if not ids or not shelf.journal.writable:
        return 0
    held = shelf.journal.iter_memories(Scope(projects=ids), statuses=tuple(Status))
    moved = [replace(memory, project=place.id) for memory in held]
    for some in parts(moved):
        shelf.journal.write([], some, [])
    return sum(memory.status is Status.ACTIVE for memory in moved)
