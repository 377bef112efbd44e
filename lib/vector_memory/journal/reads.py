"""Reading memories: rows to memories with their checksums verified, and the queries behind the
journal's reading methods."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from vector_memory.errors import NotFoundError, StoreDamagedError
from vector_memory.journal.rows import (
    AT_HASH,
    AT_LEXICAL,
    AT_MODEL,
    SELECT,
    SELECT_MEMORY,
    Row,
    is_sound,
    to_memory,
)
from vector_memory.journal.scopes import as_array, beyond_projects, condition, marks, projects_in
from vector_memory.model import PASSAGE, Memory, Scope, Source, Status

# SQLite takes a limited number of parameters, 999 in older versions.
CHUNK = 500
MAX_STEPS = 16
"""Steps of a chain of successors that are followed at most."""
Change = tuple[Memory, str, bytes]


class Reader:
    """Turns rows into memories. `models` maps the models' numbers to their names; `damaged` holds
    the sequence numbers whose checksum was wrong when they were read: they are not served."""

    def __init__(self) -> None:
        self.models: dict[int, str] = {0: ""}
        self.damaged: set[int] = set()

    def load_models(self, connection: sqlite3.Connection) -> None:
        """Read the names of the models."""
        self.models.update(connection.execute("SELECT id, name FROM models").fetchall())

    def memories(
        self, connection: sqlite3.Connection, tail: str, values: Sequence[Any]
    ) -> list[Memory]:
        """Return the sound memories of `SELECT … tail`, in its order."""
        return list(self._decode(connection, connection.execute(f"{SELECT_MEMORY} {tail}", values)))

    def changes(
        self, connection: sqlite3.Connection, tail: str, values: Sequence[Any]
    ) -> list[Change]:
        """Return (memory, analysed text, hash) of the sound rows of `SELECT … tail`, in its order."""
        rows = connection.execute(f"{SELECT} {tail}", values).fetchall()
        details = {row[0]: (row[AT_LEXICAL], row[AT_HASH]) for row in rows}
        return [(memory, *details[memory.seq]) for memory in self._decode(connection, rows)]

    def _decode(self, connection: sqlite3.Connection, rows: Iterable[Row]) -> Iterator[Memory]:
        for row in rows:
            if not is_sound(row):
                # It is left out rather than raised: one damaged row must not keep all others from
                # being found.
                self.damaged.add(row[0])
                continue
            if row[AT_MODEL] not in self.models:
                # Another connection has met a model since.
                self.load_models(connection)
            yield to_memory(row, self.models)


class Facts(NamedTuple):
    """The few fields of an active memory by which candidates are weighed, read in a sixth of the
    time that the whole takes. Times are microseconds since 1970 (UTC)."""

    seq: int
    id: str
    project: str
    kind: str
    priority: str
    confidence: float
    created_at_us: int
    turn: int
    session: str
    hash: bytes
    uses: int
    last_used_at_us: int


_FACTS = (
    "SELECT m.seq, m.id, m.project, m.kind, m.priority, m.confidence, m.created_at, m.turn,"
    " s.session, m.hash, ifnull(u.uses, 0), ifnull(u.last_used_at, 0)"
    " FROM memories m JOIN sources s ON s.id = m.source LEFT JOIN usage u ON u.seq = m.seq"
)


def facts(connection: sqlite3.Connection, seqs: Sequence[int]) -> dict[int, Facts]:
    """Return the facts of the active ones among these sequence numbers, by sequence number."""
    found: dict[int, Facts] = {}
    for start in range(0, len(seqs), CHUNK):
        part = [int(seq) for seq in seqs[start : start + CHUNK]]
        where = f"WHERE m.seq IN ({marks(part)}) AND m.status = 'active'"
        for row in connection.execute(f"{_FACTS} {where}", part):
            found[row[0]] = Facts._make(row)
    return found


def get(reader: Reader, connection: sqlite3.Connection, id: str) -> Memory:
    """Return one memory, whatever its status.

    Raises:
        NotFoundError: there is none of that id.
        StoreDamagedError: its row is damaged.
    """
    found = reader.memories(connection, "WHERE m.id = ?", (id,))
    if found:
        return found[0]
    if connection.execute("SELECT 1 FROM memories WHERE id = ?", (id,)).fetchone():
        raise StoreDamagedError(
            f"Memory {id} is damaged: its checksum is wrong.",
            "Run `vector-memory check --read-data`, then restore a backup.",
        )
    raise NotFoundError(f"There is no memory {id!r}.", "List them with `vector-memory list`.")


def by_seqs(
    reader: Reader, connection: sqlite3.Connection, seqs: Sequence[int], statuses: Sequence[Status]
) -> dict[int, Memory]:
    """Return the memories of these sequence numbers that have one of the statuses, by sequence number."""
    found: dict[int, Memory] = {}
    words = [str(status) for status in statuses]
    for start in range(0, len(seqs), CHUNK):
        part = [int(seq) for seq in seqs[start : start + CHUNK]]
        tail = f"WHERE m.seq IN ({marks(part)}) AND m.status IN ({marks(words)})"
        for memory in reader.memories(connection, tail, (*part, *words)):
            found[memory.seq] = memory
    return found


def by_ids(reader: Reader, connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Memory]:
    """Return the memories of these ids, whatever their status, by id; unknown ones are absent."""
    found: dict[str, Memory] = {}
    for start in range(0, len(ids), CHUNK):
        part = ids[start : start + CHUNK]
        for memory in reader.memories(connection, f"WHERE m.id IN ({marks(part)})", part):
            found[memory.id] = memory
    return found


def below(reader: Reader, connection: sqlite3.Connection, name: str) -> list[Memory]:
    """Return the memories whose external id is `name`, a colon, and something without one."""
    tail = (
        "WHERE m.external_id != '' AND m.external_id >= ? AND m.external_id < ?"
        # The range holds what is further below, too: one colon more.
        " AND instr(substr(m.external_id, ?), ':') = 0"
    )
    start = f"{name}:"
    return reader.memories(connection, tail, (start, f"{name};", len(start) + 1))


def successors(
    reader: Reader, connection: sqlite3.Connection, memories: Sequence[Memory]
) -> dict[str, Memory]:
    """Return what stands in the place of superseded memories.

    Returns:
        The id of each superseded memory → the active one at the end of its chain, where that has
        one within `MAX_STEPS`.
    """
    following = {one.id: one.superseded_by for one in memories if one.superseded_by}
    found: dict[str, Memory] = {}
    # Step by step for all chains at once: a query for each step, not for each memory.
    for _ in range(MAX_STEPS):
        if not following:
            break
        known = by_ids(reader, connection, list(set(following.values())))
        ended = {
            id: known[to]
            for id, to in following.items()
            if to in known and known[to].status is Status.ACTIVE
        }
        found.update(ended)
        following = {
            id: known[to].superseded_by
            for id, to in following.items()
            if id not in ended and to in known and known[to].superseded_by
        }
    return found


def seqs(connection: sqlite3.Connection, scope: Scope) -> list[int]:
    """Return the active memories' sequence numbers in a scope, ascending."""
    limits, values = condition(scope)
    rows = connection.execute(
        f"SELECT m.seq FROM memories m WHERE m.status = 'active' AND {limits}", values
    )
    return sorted(row[0] for row in rows)


def ordered_seqs(
    connection: sqlite3.Connection,
    scope: Scope,
    statuses: Sequence[Status],
    newest_first: bool,
    limit: int | None,
    offset: int,
) -> list[int]:
    """Return the sequence numbers in a scope in the order of `created_at`, of equal times in that of
    `seq`; at most `limit` after the first `offset`."""
    limits, values = condition(scope)
    words = [str(status) for status in statuses]
    direction = "DESC" if newest_first else "ASC"
    rows = connection.execute(
        f"SELECT m.seq FROM memories m WHERE m.status IN ({marks(words)}) AND {limits}"
        # By number where times are equal, so that two readings give the same order.
        f" ORDER BY m.created_at {direction}, m.seq {direction} LIMIT ? OFFSET ?",
        (*words, *values, -1 if limit is None else limit, offset),
    )
    return [row[0] for row in rows]


def count(connection: sqlite3.Connection, scope: Scope | None, status: Status) -> int:
    """Return how many memories of a status there are in a scope; everywhere for None."""
    limits, values = condition(scope or Scope())
    # The status stands in the text, so that the partial indexes are used.
    sql = f"SELECT count(*) FROM memories m WHERE m.status = '{status}' AND {limits}"
    return int(connection.execute(sql, values).fetchone()[0])


def count_by(connection: sqlite3.Connection, column: str, scope: Scope) -> dict[str, int]:
    """Return how many active memories of a scope have each value of a column of `memories`, the
    commonest first."""
    limits, values = condition(scope)
    rows = connection.execute(
        f"SELECT m.{column}, count(*) FROM memories m WHERE m.status = 'active' AND {limits}"
        f" GROUP BY m.{column} ORDER BY 2 DESC, 1",
        values,
    )
    return dict(rows.fetchall())


def count_entities(connection: sqlite3.Connection, scope: Scope, k: int) -> dict[str, int]:
    """Return how many active memories of a scope name each entity (`kind:name`), the k commonest
    first."""
    limits, values = condition(scope)
    rows = connection.execute(
        "SELECT e.value, count(*) FROM memories m, json_each(m.extra, '$.entities') e"
        # Most memories name none: their JSON need not be parsed.
        f" WHERE m.status = 'active' AND m.extra LIKE '%\"entities\"%' AND {limits}"
        " GROUP BY e.value ORDER BY 2 DESC, 1 LIMIT ?",
        (*values, k),
    )
    return dict(rows.fetchall())


def without_model(
    connection: sqlite3.Connection, model_id: int, after_seq: int, limit: int
) -> list[int]:
    """Return the sequence numbers of the first active memories after `after_seq` that another model
    embedded, or none, ascending."""
    found: list[int] = []
    others = connection.execute("SELECT id FROM models WHERE id != ?", (model_id,)).fetchall()
    # Model by model, since the index finds equal numbers, not other ones.
    for (other,) in others:
        rows = connection.execute(
            "SELECT seq FROM memories WHERE status = 'active' AND model = ? AND seq > ?"
            " ORDER BY seq LIMIT ?",
            (other, after_seq, limit),
        )
        found.extend(row[0] for row in rows)
    return sorted(found)[:limit]


def neighbour(
    reader: Reader, connection: sqlite3.Connection, memory: Memory, after: bool
) -> Memory | None:
    """Return the active memory of the same session and project that comes right after, or before."""
    sign, direction = (">", "ASC") if after else ("<", "DESC")
    found = reader.memories(
        connection,
        "WHERE m.source IN (SELECT id FROM sources WHERE session = ? AND session != '')"
        f" AND (m.turn, m.seq) {sign} (?, ?) AND m.status = 'active'"
        " AND m.project = ? AND (m.kind = ? OR (SELECT path FROM sources WHERE id = m.source) = '')"
        f" ORDER BY m.turn {direction}, m.seq {direction} LIMIT 1",
        (memory.source.session, memory.source.turn, memory.seq, memory.project, PASSAGE),
    )
    return found[0] if found else None


def of_turn(
    reader: Reader,
    connection: sqlite3.Connection,
    source: Source,
    project: str,
    statuses: Sequence[Status],
) -> list[Memory]:
    """Return a project's memories of one turn of a session's transcript, by `seq`."""
    words = [str(status) for status in statuses]
    return reader.memories(
        connection,
        "WHERE m.source IN (SELECT id FROM sources WHERE session = ? AND path = ?)"
        f" AND m.turn = ? AND m.project = ? AND m.status IN ({marks(words)}) ORDER BY m.seq",
        (source.session, source.path, source.turn, project, *words),
    )


def replaced_by(reader: Reader, connection: sqlite3.Connection, ids: Sequence[str]) -> list[Memory]:
    """Return the memories that gave way to these, by `seq`."""
    return reader.memories(
        connection,
        "WHERE m.status = 'superseded' AND m.superseded_by IN (SELECT value FROM json_each(?))"
        " ORDER BY m.seq",
        (as_array(ids),),
    )


def holding(connection: sqlite3.Connection, words: Sequence[str]) -> list[str]:
    """Return the ids of the rows, damaged ones too, of which any part that people wrote or read holds
    any of these words, whatever their case and the white space between them."""
    needles = {form for one in words for form in _spellings(one)}
    # Every row is read: no index knows words by their parts, and nothing may be missed.
    rows = connection.execute(
        "SELECT id, text, title, tags, files, extra, speaker, external_id, kind FROM memories"
    )
    found = []
    for id, *parts in rows:
        # A damaged row may hold anything.
        whole = "\x1f".join(str(part) for part in parts).casefold()
        if any(one in whole for one in needles) or any(
            one in " ".join(whole.split()) for one in needles if " " in one
        ):
            found.append(str(id))
    return found


def _spellings(words: str) -> set[str]:
    """Return words as a row may hold them: as they are, and inside JSON."""
    plain = words.casefold()
    flat = " ".join(plain.split())
    return {plain, flat, json.dumps(plain, ensure_ascii=False)[1:-1]}


# Within a string of JSON no quote stands without a backslash: only the mark itself reads so.
_HELD = "instr(m.extra, '\"held\":true')"
_PROPOSED = "instr(m.extra, '\"proposed\":{')"
WAITING = f"({_HELD} AND {_PROPOSED})"
_BY_TIME = "m.status = 'active'"
_BY_OPENNESS = (
    "m.open = 1 AND NOT EXISTS"
    " (SELECT 1 FROM links WHERE links.to_id = m.id AND links.relation = 'answers')"
)
_BY_IMPORTANCE = "m.status = 'active' AND m.priority IN ('CORE', 'HIGH')"


def recent(
    reader: Reader, connection: sqlite3.Connection, scope: Scope, k: int, kinds: Sequence[str]
) -> list[Memory]:
    """Return the k newest active memories, newest first."""
    if kinds:
        wanted = set(kinds) & set(scope.kinds) if scope.kinds else set(kinds)
        if not wanted:
            return []
        scope = replace(scope, kinds=tuple(wanted))
    return _newest(reader, connection, scope, k, _BY_TIME)


def open_items(
    reader: Reader, connection: sqlite3.Connection, scope: Scope, k: int
) -> list[Memory]:
    """Return the k newest questions, todos and problems that are not done and that nothing answers, newest
    first."""
    return _newest(reader, connection, scope, k, _BY_OPENNESS)


def important(reader: Reader, connection: sqlite3.Connection, scope: Scope, k: int) -> list[Memory]:
    """Return at most k memories of priority CORE, then HIGH, each newest first."""
    found: list[Memory] = []
    # One after the other: the index has each priority in the order of time, not both together.
    for priority in ("CORE", "HIGH"):
        if len(found) < k:
            where = f"{_BY_IMPORTANCE} AND m.priority = '{priority}'"
            found += _newest(reader, connection, scope, k - len(found), where)
    return found


def held(reader: Reader, connection: sqlite3.Connection, scope: Scope) -> list[Memory]:
    """Return the active memories of a scope that no hook brings, or that are proposed to be more, newest
    first."""
    limits, values = condition(scope)
    tail = (
        f"WHERE m.status = 'active' AND ({_HELD} OR {_PROPOSED}) AND {limits}"
        " ORDER BY m.created_at DESC, m.seq DESC"
    )
    return reader.memories(connection, tail, values)


def _newest(
    reader: Reader, connection: sqlite3.Connection, scope: Scope, k: int, where: str
) -> list[Memory]:
    """Return the k newest of each project by its index, merged: no project is sorted whole. What is held
    back takes no place among them."""
    limits, values = beyond_projects(scope)
    seqs: list[tuple[int, int]] = []
    for project in projects_in(connection, scope):
        seqs += connection.execute(
            f"SELECT m.created_at, m.seq FROM memories m WHERE {where} AND NOT {_HELD} AND m.project = ?"
            f" AND {limits} ORDER BY m.created_at DESC, m.seq DESC LIMIT ?",
            (project, *values, k),
        ).fetchall()
    best = [seq for _, seq in sorted(seqs, reverse=True)[:k]]
    found = by_seqs(reader, connection, best, (Status.ACTIVE,))
    return [found[seq] for seq in best if seq in found]
