"""The journal's methods for what stands around memories: links and projects."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from vector_memory.journal.reads import MemoryReads
from vector_memory.journal.rows import microseconds, moment
from vector_memory.journal.scopes import as_array
from vector_memory.model import Link, Project, Relation


class Surroundings(MemoryReads):
    """A store's links and projects: a part of `Journal`."""

    def link(self, link: Link) -> None:
        """Store a link between memories that are in this store; one that is there already gets the new weight."""
        self.link_all([link])

    def link_all(self, several: Iterable[Link]) -> None:
        """Store links, in one transaction.

        Raises:
            BadInputError: one of their ends is not in this store.
        """
        with self.connections.writing() as connection:
            put_links(connection, several)

    def unlink(self, from_id: str, to_id: str, relation: Relation | None = None) -> int:
        """Remove the links from one memory to another, of one relation or all; return how many there were."""
        with self.connections.writing() as connection:
            return connection.execute(
                "DELETE FROM links WHERE from_id = ? AND to_id = ? AND relation = ifnull(?, relation)",
                (from_id, to_id, relation),
            ).rowcount

    def links_of(self, ids: Sequence[str]) -> list[Link]:
        """Return all links from and to these memories, each once, by from, to and relation."""
        # Two searches by index; UNION gives a link between two of these memories once.
        rows = self.connections.rows(
            """WITH wanted AS (SELECT value FROM json_each(?))
               SELECT * FROM links WHERE from_id IN wanted
               UNION SELECT * FROM links WHERE to_id IN wanted
               ORDER BY 1, 2, 3""",
            (as_array(ids),),
        )
        return [
            Link(from_id, to_id, Relation(relation), weight, None if at is None else moment(at))
            for from_id, to_id, relation, weight, at in rows
        ]

    def put_project(self, project: Project) -> None:
        """Store a project, replacing what was known of it; nothing is written where that is the same."""
        row = (project.id, project.name, project.root, project.store)
        if self.connections.rows("SELECT * FROM projects WHERE id = ?", (project.id,)) != [row]:
            self.connections.write("INSERT OR REPLACE INTO projects VALUES (?, ?, ?, ?)", [row])

    def projects(self) -> list[Project]:
        """Return all known projects, by name, then id."""
        rows = self.connections.rows("SELECT * FROM projects ORDER BY name, id")
        return [Project(*row) for row in rows]


def put_links(connection: sqlite3.Connection, links: Iterable[Link]) -> None:
    """Store links; one that is there already gets the new weight."""
    connection.executemany(
        "INSERT INTO links VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (from_id, to_id, relation) DO UPDATE SET weight = excluded.weight",
        (
            (
                link.from_id,
                link.to_id,
                str(link.relation),
                float(link.weight),
                microseconds(link.created_at) if link.created_at else None,
            )
            for link in links
        ),
    )


def remove_links_of(connection: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Remove all links from and to these memories."""
    connection.executemany(
        "DELETE FROM links WHERE from_id = ? OR to_id = ?", ((id, id) for id in ids)
    )
