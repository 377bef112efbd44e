"""A `Scope` as SQL: the one place where the journal's filters are built."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from vector_memory.journal.rows import microseconds
from vector_memory.model import Scope
from vector_memory.text.analysis import analyse

Condition = tuple[str, list[Any]]
T = TypeVar("T")
CHUNK = 500
"""Parameters of one statement at most: older versions of SQLite take 999."""


def condition(scope: Scope) -> Condition:
    """Return a scope as SQL over `memories m`.

    Values are parameters, always: no text of a user becomes SQL.

    Returns:
        The condition, `1` where the scope limits nothing, and its parameters in their order.
    """
    parts: list[str] = []
    values: list[Any] = []
    # No projects at all find nothing; no kinds and no collections limit nothing.
    for column, words in (
        ("project", scope.projects),
        ("kind", scope.kinds or None),
        ("collection", scope.collections or None),
        ("sensitivity", scope.levels or None),
        ("tier", scope.tiers or None),
        ("priority", scope.priorities or None),
        ("origin", scope.origins or None),
        ("jurisdiction", scope.laws or None),
    ):
        if words is not None:
            parts.append(f"m.{column} IN ({marks(words)})")
            values.extend(words)
    for column, words in (("collection", scope.without), ("kind", scope.without_kinds)):
        if words:
            parts.append(f"m.{column} NOT IN ({marks(words)})")
            values.extend(words)
    if scope.sessions:
        parts.append(
            f"m.source IN (SELECT id FROM sources WHERE session IN ({marks(scope.sessions)}))"
        )
        values.extend(scope.sessions)
    # What is empty is stored as "", which json_each would refuse.
    for array, words in (
        ("CASE m.tags WHEN '' THEN '[]' ELSE m.tags END", scope.tags),
        ("CASE m.extra WHEN '' THEN '{}' ELSE m.extra END, '$.entities'", scope.entities),
    ):
        if words:
            each = f"SELECT 1 FROM json_each({array})"
            parts.append(f"EXISTS ({each} WHERE value IN ({marks(words)}))")
            values.extend(words)
    if scope.words:
        each = "instr(' ' || m.lexical || ' ', ?) > 0"
        parts.append(f"({' OR '.join([each] * len(scope.words))})")
        values.extend(f" {(analyse(word) or [word])[0]} " for word in scope.words)
    for sign, at in ((">=", scope.since), ("<", scope.until)):
        if at is not None:
            parts.append(f"m.created_at {sign} ?")
            values.append(microseconds(at))
    if scope.unexpired_at is not None:
        parts.append("ifnull(m.expires_at > ?, 1)")
        values.append(microseconds(scope.unexpired_at))
    return " AND ".join(parts) or "1", values


def marks(values: Sequence[Any]) -> str:
    """Return as many parameter marks as there are values, between commas; "" for none."""
    return ",".join("?" * len(values))


def parts(values: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """Yield a sequence in pieces of at most `size`, in its order."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def as_array(values: Sequence[Any]) -> str:
    """Return numbers or strings as the JSON array that `json_each` reads: one parameter for any
    count."""
    return json.dumps(list(values))


def projects_in(connection: sqlite3.Connection, scope: Scope) -> list[str]:
    """Return the ids of the scope's projects, each once; of all that have active memories where it names
    none, by hops over the index."""
    if scope.projects is not None:
        return list(dict.fromkeys(scope.projects))
    # A hop for each project; DISTINCT would read an index entry for each memory.
    hops = connection.execute(
        """WITH RECURSIVE hop(project) AS (
               SELECT min(project) FROM memories WHERE status = 'active'
               UNION ALL
               SELECT (SELECT min(project) FROM memories
                       WHERE status = 'active' AND project > hop.project)
               FROM hop WHERE hop.project IS NOT NULL)
           SELECT project FROM hop WHERE project IS NOT NULL"""
    )
    return [row[0] for row in hops]
