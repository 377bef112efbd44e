"""A `Scope` as SQL: the one place where the journal's filters are built."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from vector_memory.journal.rows import microseconds
from vector_memory.model import Scope
from vector_memory.text.analysis import analyse

Condition = tuple[str, list[Any]]
T = TypeVar("T")
CHUNK = 500
"""Parameters of one statement at most: older versions of SQLite take 999."""
AMONG = "IN (SELECT value FROM json_each(?))"
"""Limits a column to the values of `as_array`."""


_HOLDS = "EXISTS (SELECT 1 FROM json_each(%s) WHERE value IN (%%s))"
_AMONG = (
    ("projects", "m.project IN (%s)"),
    ("kinds", "m.kind IN (%s)"),
    ("collections", "m.collection IN (%s)"),
    ("levels", "m.sensitivity IN (%s)"),
    ("tiers", "m.tier IN (%s)"),
    ("priorities", "m.priority IN (%s)"),
    ("origins", "m.origin IN (%s)"),
    ("laws", "m.jurisdiction IN (%s)"),
    ("without", "m.collection NOT IN (%s)"),
    ("without_kinds", "m.kind NOT IN (%s)"),
    ("sessions", "m.source IN (SELECT id FROM sources WHERE session IN (%s))"),
    # What is empty is stored as "", which json_each would refuse.
    ("tags", _HOLDS % "CASE m.tags WHEN '' THEN '[]' ELSE m.tags END"),
    ("entities", _HOLDS % "CASE m.extra WHEN '' THEN '{}' ELSE m.extra END, '$.entities'"),
)
"""What limits a memory to some words: the scope's field, and the SQL around the marks of its values."""
# Inside a string of JSON each quote has a backslash before it: so these match the marks alone.
_TRUSTED = (
    "NOT (m.origin = 'tool' OR (m.origin = 'import' AND instr(m.extra, '\"foreign\":true'))"
    ' OR (instr(m.extra, \'"suspicion":{"\') AND NOT instr(m.extra, \'"released":true\')))'
)
"""What `Memory.trust` says, as SQL."""
_TIMES = (
    ("since", "m.created_at >= ?"),
    ("until", "m.created_at < ?"),
    # By the index of what expires: else every row of a scope is read to count it.
    ("unexpired_at", "m.seq NOT IN (SELECT seq FROM memories WHERE expires_at <= ?)"),
)


def condition(scope: Scope) -> Condition:
    """Return a scope as SQL over `memories m`.

    Values are parameters, always: no text of a user becomes SQL.

    Returns:
        The condition, `1` where the scope limits nothing, and its parameters in their order.
    """
    parts: list[str] = []
    values: list[Any] = []
    limits = vars(scope)
    for name, sql in _AMONG:
        words = limits[name]
        # No projects at all find nothing; of all else nothing named limits nothing.
        if words or (name == "projects" and words is not None):
            parts.append(sql % marks(words))
            values.extend(words)
    if scope.trusted:
        parts.append(_TRUSTED)
    if scope.words:
        has_word = "instr(' ' || m.lexical || ' ', ?) > 0"
        parts.append(f"({' OR '.join([has_word] * len(scope.words))})")
        values.extend(f" {(analyse(word) or [word])[0]} " for word in scope.words)
    for name, sql in _TIMES:
        if (at := limits[name]) is not None:
            parts.append(sql)
            values.append(microseconds(at))
    return " AND ".join(parts) or "1", values


def marks(values: Sequence[Any]) -> str:
    """Return as many parameter marks as there are values, between commas; "" for none."""
    return ",".join("?" * len(values))


def parts(values: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """Yield a sequence in pieces of at most `size`, in its order."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def as_array(values: Iterable[Any]) -> str:
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
