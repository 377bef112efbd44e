"""The journal's methods for what stands around memories: links and projects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vector_memory.errors import NotFoundError
from vector_memory.journal import links, projects
from vector_memory.journal.connection import Connections
from vector_memory.model import Link, Project, Relation


class Surroundings:
    """A store's links and projects: a part of `Journal`."""

    connections: Connections

    def link(self, link: Link) -> None:
        """Store a link; one that is there already gets the new weight.

        Raises:
            NotFoundError: one of its ends is not in this store.
        """
        with self.connections.writing() as connection:
            for end in (link.from_id, link.to_id):
                if not connection.execute("SELECT 1 FROM memories WHERE id = ?", (end,)).fetchone():
                    raise NotFoundError(
                        f"There is no memory {end!r}.", "Link memories of one store."
                    )
            links.put(connection, [link])

    def link_all(self, several: Iterable[Link]) -> None:
        """Store links between memories that are in this store, in one transaction."""
        with self.connections.writing() as connection:
            links.put(connection, several)

    def unlink(self, from_id: str, to_id: str, relation: Relation | None = None) -> int:
        """Remove the links from one memory to another, of one relation or all; return how many there were."""
        with self.connections.writing() as connection:
            return links.remove(connection, from_id, to_id, relation)

    def links_of(self, ids: Sequence[str]) -> list[Link]:
        """Return all links from and to these memories, each once, by from, to and relation."""
        with self.connections.reading() as connection:
            return links.links_of(connection, ids)

    def put_project(self, project: Project) -> None:
        """Store a project, replacing what was known of it."""
        with self.connections.writing() as connection:
            projects.put(connection, project)

    def project(self, id: str) -> Project | None:
        """Return a project, or None if this store does not know it."""
        with self.connections.reading() as connection:
            return projects.find(connection, id)

    def projects(self) -> list[Project]:
        """Return all known projects, by name, then id."""
        with self.connections.reading() as connection:
            return projects.every(connection)
