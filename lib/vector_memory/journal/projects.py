"""The projects that a store knows."""

from __future__ import annotations

import sqlite3

from vector_memory.model import Project


def put(connection: sqlite3.Connection, project: Project) -> None:
    """Store a project, replacing what was known of it."""
    connection.execute(
        "INSERT OR REPLACE INTO projects VALUES (?, ?, ?, ?)",
        (project.id, project.name, project.root, project.store),
    )


def find(connection: sqlite3.Connection, id: str) -> Project | None:
    """Return a project, or None if the store does not know it."""
    row = connection.execute("SELECT * FROM projects WHERE id = ?", (id,)).fetchone()
    return Project(*row) if row else None


def every(connection: sqlite3.Connection) -> list[Project]:
    """Return all projects, by name, then id."""
    rows = connection.execute("SELECT * FROM projects ORDER BY name, id")
    return [Project(*row) for row in rows]
