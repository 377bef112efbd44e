"""Reading memories one by one: rows to memories with their checksums verified, and the journal's methods that
read so."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal

from vector_memory.errors import NotFoundError, StoreDamagedError
from vector_memory.journal.connection import Connections
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
from vector_memory.journal.scopes import AMONG, as_array, condition, marks
from vector_memory.model import PASSAGE, Memory, Scope, Source, Status
from vector_memory.system import json_in
from vector_memory.system.json_in import session_id

MAX_STEPS = 16
"""Steps of a chain of successors that are followed at most."""
Change = tuple[Memory, str, bytes]
CountedBy = Literal["kind", "project", "collection", "tier"]

# Inside a string of JSON each quote has a backslash before it: so this matches the mark alone.
MARKED = "instr(m.extra, '\"held\":true')"
HELD = f"({MARKED} OR m.sensitivity = 'restricted')"
PROPOSED = "instr(m.extra, '\"proposed\":{')"
ACTIVE = "m.status = 'active'"
_LAST = "\U0010ffff"
"""The highest character there is: whatever begins with a text lies below the text with it."""


class Reader:
    """Turns rows into memories, but for those whose checksum is wrong. `models` maps the models' numbers to their
    names."""

    def __init__(self) -> None:
        self.models: dict[int, str] = {0: ""}

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

    def get(self, connection: sqlite3.Connection, id: str) -> Memory:
        """Return one memory, whatever its status.

        Raises:
            NotFoundError: there is none of that id.
            StoreDamagedError: its row is damaged.
        """
        memories = self.memories(connection, "WHERE m.id = ?", (id,))
        if memories:
            return memories[0]
        if connection.execute("SELECT 1 FROM memories WHERE id = ?", (id,)).fetchone():
            raise StoreDamagedError(
                f"Memory {id} is damaged: its checksum is wrong.",
                "Run `vector-memory check --read-data`, then restore a backup.",
            )
        raise NotFoundError(f"There is no memory {id!r}.", "List them with `vector-memory list`.")

    def _decode(self, connection: sqlite3.Connection, rows: Iterable[Row]) -> Iterator[Memory]:
        for row in rows:
            # It is left out rather than raised: one damaged row must not keep all others from being found.
            if not is_sound(row):
                continue
            if row[AT_MODEL] not in self.models:
                # Another connection has met a model since.
                self.load_models(connection)
            try:
                memory = to_memory(row, self.models)
            except OverflowError:
                # A time that no clock has.
                continue
            yield memory


class MemoryReads:
    """What reads memories of a store."""

    connections: Connections
    reader: Reader

    def _memories(self, tail: str, values: Sequence[Any]) -> list[Memory]:
        with self.connections.reading() as connection:
            return self.reader.memories(connection, tail, values)

    def _of_scope(
        self, scope: Scope, where: str, order: str, values: Sequence[Any] = (), k: int = -1
    ) -> list[Memory]:
        """Return memories of a scope.

        Args:
            where: what else holds for them, as SQL over `memories m`, with its `values`.
            k: how many at most, all for -1.
        """
        limits, limited_to = condition(scope)
        tail = f"WHERE {where} AND {limits} ORDER BY {order} LIMIT ?"
        return self._memories(tail, (*values, *limited_to, k))

    def _select(
        self, columns: str, scope: Scope, where: str, values: Sequence[Any] = (), tail: str = ""
    ) -> list[tuple[Any, ...]]:
        """Return what these columns say of a scope's memories.

        Args:
            where: what else holds for them, as SQL over `memories m`, with its `values`.
            tail: how the rows are grouped, ordered and limited.
        """
        limits, limited_to = condition(scope)
        sql = f"SELECT {columns} FROM memories m WHERE {where} AND {limits} {tail}"
        return self.connections.rows(sql, (*values, *limited_to))


class SingleReads(MemoryReads):
    """What can be asked of a store's memories one by one, and how many there are: a part of `Journal`."""

    _tags_read: tuple[int, frozenset[str]] = (0, frozenset())
    """Up to which sequence number the tags of memories were read, and which there are or were."""

    def get(self, memory_id: str) -> Memory:
        """Return one memory, whatever its status.

        Raises:
            NotFoundError: there is none of that id.
            StoreDamagedError: its checksum is wrong.
        """
        with self.connections.reading() as connection:
            return self.reader.get(connection, memory_id)

    def find(self, prefix: str) -> list[Memory]:
        """Return at most 5 memories, not forgotten, whose ids start so, by id; [] for an empty beginning."""
        if not prefix:
            return []
        # A range, which the index answers; LIKE would read every row.
        tail = "WHERE m.id >= ? AND m.id < ? AND m.status != 'forgotten' ORDER BY m.id LIMIT 5"
        return self._memories(tail, (prefix, prefix + _LAST))

    def by_seqs(
        self, seqs: Sequence[int], statuses: Sequence[Status] = (Status.ACTIVE,)
    ) -> dict[int, Memory]:
        """Return the memories of these sequence numbers that have one of these statuses.

        Returns:
            Sequence number → memory. Numbers that are outdated, unknown or of damaged rows are absent.
        """
        tail = f"WHERE m.seq {AMONG} AND m.status IN ({marks(statuses)})"
        memories = self._memories(tail, (as_array(map(int, seqs)), *statuses))
        return {memory.seq: memory for memory in memories}

    def with_terms(self, seqs: Sequence[int]) -> list[Change]:
        """Return what `changes` gives of the memories of these sequence numbers that are not forgotten, ascending."""
        tail = f"WHERE m.seq {AMONG} AND m.status != 'forgotten' ORDER BY m.seq"
        with self.connections.reading() as connection:
            return self.reader.changes(connection, tail, (as_array(map(int, seqs)),))

    def by_ids(self, ids: Sequence[str], after_seq: int = 0) -> dict[str, Memory]:
        """Return memories by their ids, whatever their status, as far as they changed after a sequence number; unknown
        and damaged ones are absent."""
        # The plus has ids looked up, and not all numbers above one.
        memories = self._memories(f"WHERE m.id {AMONG} AND +m.seq > ?", (as_array(ids), after_seq))
        return {memory.id: memory for memory in memories}

    def successors(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """Return what stands in the place of superseded memories.

        Returns:
            The id of a superseded memory → the active one at the end of its chain, where that has one
            within `MAX_STEPS`. A chain that ends in a forgotten memory or in itself has none.
        """
        following = {memory.id: memory.superseded_by for memory in memories if memory.superseded_by}
        heirs: dict[str, Memory] = {}
        # Step by step for all chains at once: a query for each step, not for each memory.
        for _ in range(MAX_STEPS):
            if not following:
                break
            by_id = self.by_ids(list(set(following.values())))
            reached = {id: by_id[to] for id, to in following.items() if to in by_id}
            ended = {id: memory for id, memory in reached.items() if memory.status is Status.ACTIVE}
            heirs.update(ended)
            following = {
                id: memory.superseded_by
                for id, memory in reached.items()
                if id not in ended and memory.superseded_by
            }
        return heirs

    def last_seq(self) -> int:
        """Return the highest sequence number of any row, 0 without one."""
        return self.connections.number("SELECT max(seq) FROM memories")

    def given_seq(self) -> int:
        """Return the highest sequence number ever given. An index that has reached more follows
        another history of this store (a backup was restored) and must be rebuilt."""
        return self.connections.number("SELECT value FROM meta WHERE key = 'last_seq'")

    def changes(self, after_seq: int, limit: int) -> list[Change]:
        """Return what an index has to follow.

        Args:
            after_seq: the sequence number that it has reached.
            limit: how many at most.

        Returns:
            (memory, analysed text, hash of the text), of every status, ascending by `seq`. A
            tombstone's hash is empty.
        """
        with self.connections.reading() as connection:
            tail = "WHERE m.seq > ? ORDER BY m.seq LIMIT ?"
            return self.reader.changes(connection, tail, (after_seq, limit))

    def count(self, scope: Scope | None = None, status: Status = Status.ACTIVE) -> int:
        """Return how many memories of a status there are in a scope; everywhere for None."""
        # The status stands in the text, so that the partial indexes are used.
        return int(self._select("count(*)", scope or Scope(), f"m.status = '{status}'")[0][0])

    def count_entities(self, scope: Scope, k: int) -> dict[str, int]:
        """Count the active memories of a scope by the entities that they name.

        Returns:
            `kind:name` → how many memories, the k commonest first.
        """
        limits, values = condition(scope)
        rows = self.connections.rows(
            "SELECT e.value, count(*) FROM memories m, json_each(m.extra, '$.entities') e"
            # Most memories name none: their JSON need not be parsed.
            f" WHERE {ACTIVE} AND m.extra LIKE '%\"entities\"%' AND {limits}"
            " GROUP BY e.value ORDER BY 2 DESC, 1 LIMIT ?",
            (*values, k),
        )
        return dict(rows)

    def entities_named(self, names: Sequence[str]) -> list[str]:
        """Return the entities (`kind:name`) that active memories name as these, in whatever case."""
        rows = self.connections.rows(
            "SELECT DISTINCT e.value FROM memories m, json_each(m.extra, '$.entities') e"
            f" WHERE {ACTIVE} AND m.extra LIKE '%\"entities\"%'"
            f" AND e.value COLLATE NOCASE IN ({marks(names)})",
            names,
        )
        return [name for (name,) in rows]

    def tags_named(self, words: Sequence[str]) -> list[str]:
        """Return the tags that memories have, or had, which are these words, in whatever case."""
        wanted = {word.casefold() for word in words}
        read_to_seq, tags = self._tags_read
        newest_seq = self.given_seq()
        if newest_seq != read_to_seq:
            # What is changed gets a new number; lower ones follow another history.
            after_seq, tags = (read_to_seq, tags) if newest_seq > read_to_seq else (0, frozenset())
            rows = self.connections.rows(
                "SELECT DISTINCT t.value FROM memories m, json_each(CASE m.tags WHEN '' THEN '[]' ELSE m.tags END) t"
                " WHERE m.seq > ?",
                (after_seq,),
            )
            tags = tags.union(tag for (tag,) in rows)
            self._tags_read = newest_seq, tags
        return sorted(tag for tag in tags if tag.casefold() in wanted)

    def sessions_named(self, name: str) -> list[str]:
        """Return the sessions that a name means: those whose id begins so, and what a program handed over by it
        (`feed`), which is kept as `client:name`."""
        session_ids = session_id(name), session_id(f"feed:{name}")
        rows = self.connections.rows(
            "SELECT DISTINCT session FROM sources WHERE session IN (?2, ?3) OR substr(session, 1, length(?1)) = ?1"
            " OR substr(session, instr(session, ':') + 1) = ?1",
            (name, *session_ids),
        )
        return [session for (session,) in rows]

    def count_after(self, seq: int) -> int:
        """Return how many rows, of every status, changed after a sequence number."""
        return self.connections.number("SELECT count(*) FROM memories WHERE seq > ?", (seq,))

    def count_by(
        self,
        column: CountedBy,
        scope: Scope,
        statuses: Sequence[Status] = (Status.ACTIVE,),
    ) -> dict[str, int]:
        """Count the memories of a scope, the active ones unless told otherwise, by one of their words.

        Returns:
            Word → how many memories, the commonest first. The words' counts add up to `count`.
        """
        counts = self.count_by_words((column,), scope, statuses)
        return {word: n for (word,), n in counts.items()}

    def count_by_words(
        self, columns: Sequence[str], scope: Scope, statuses: Sequence[Status] = (Status.ACTIVE,)
    ) -> dict[tuple[str, ...], int]:
        """Return how many memories of a scope have the same words in these columns, as `count_by` counts them."""
        names = ", ".join(f"m.{column}" for column in columns)
        # The words stand in the text, so that indexes of some statuses alone are used.
        where = f"m.status IN ({', '.join(map(repr, map(str, statuses)))})"
        tail = f"GROUP BY {names} ORDER BY count(*) DESC, {names}"
        rows = self._select(f"{names}, count(*)", scope, where, tail=tail)
        return {tuple(words): n for *words, n in rows}

    def authors(self, scope: Scope) -> dict[str, str]:
        """Return the keys of those who shared a scope's active memories, by the memories' ids; of rows that cannot be read,
        too."""
        key = "CASE WHEN json_valid(m.extra) THEN json_extract(m.extra, '$.author.key') END"
        rows = self._select(f"m.id, {key}", scope, "m.status = 'active'")
        return {id: str(key or "") for id, key in rows}

    def living_seqs(self) -> list[int]:
        """Return the sequence numbers of all memories that the index holds, ascending: those that are neither
        forgotten nor cold."""
        sql = "SELECT seq FROM memories WHERE status != 'forgotten' AND tier != 'cold' ORDER BY seq"
        return [row[0] for row in self.connections.rows(sql)]

    def neighbours(self, seq: int) -> tuple[Memory | None, Memory | None]:
        """Return the active memories right before and after in the same session, by turn.

        Returns:
            (before, after); None for what is not there.
        """
        memory = self.by_seqs([seq], tuple(Status)).get(seq)
        if memory is None:
            return None, None
        return self._neighbour(memory, "<", "DESC"), self._neighbour(memory, ">", "ASC")

    def after(self, seq: int, limit: int) -> list[Memory]:
        """Return the next rows after a sequence number that are neither forgotten nor cold, ascending."""
        tail = "WHERE m.seq > ? AND m.status != 'forgotten' AND m.tier != 'cold' ORDER BY m.seq LIMIT ?"
        return self._memories(tail, (seq, limit))

    def of_turn(
        self, source: Source, project: str, statuses: Sequence[Status] = (Status.ACTIVE,)
    ) -> list[Memory]:
        """Return a project's memories of one turn of a session's transcript, by `seq`."""
        return self._memories(
            "WHERE m.source IN (SELECT id FROM sources WHERE session = ? AND path = ?)"
            f" AND m.turn = ? AND m.project = ? AND m.status IN ({marks(statuses)}) ORDER BY m.seq",
            (source.session, source.path, source.turn, project, *statuses),
        )

    def with_extra(self, name: str, after_seq: int) -> list[tuple[str, int, object]]:
        """Return the id, the number and what `extra` has under a name, of active memories that have something there, as far
        as they changed after a sequence number. A damaged one is left out."""
        sql = "SELECT m.id, m.seq, m.extra FROM memories m WHERE m.seq > ? AND instr(m.extra, ?)"
        rows = self.connections.rows(f"{sql} AND {ACTIVE}", (after_seq, f'"{name}":'))
        entries: list[tuple[str, int, object]] = []
        for id, seq, extra in rows:
            with suppress(ValueError):
                extra_fields = json_in.load(extra.encode())
                entries.append(
                    (id, seq, extra_fields.get(name) if isinstance(extra_fields, dict) else None)
                )
        return entries

    def replaced_by(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories that gave way to these, by `seq`."""
        tail = f"WHERE m.status = 'superseded' AND m.superseded_by {AMONG} ORDER BY m.seq"
        return self._memories(tail, (as_array(ids),))

    def holding(self, words: Sequence[str]) -> list[str]:
        """Find words in rows, whatever their case and the white space between them.

        Returns:
            The ids of all rows, of every status and damaged ones too, that hold any of these words in
            text, title, tags, files, `extra`, speaker, kind or external id, or have them one behind the other as the
            full-text index has their words.
        """
        needles = {form for word in words for form in _spellings(word)}
        # Every row is read: no index knows words by their parts, and nothing may be missed.
        columns = "text, title, tags, files, extra, speaker, external_id, kind, lexical"
        sql = f"SELECT id, {columns} FROM memories"
        ids = []
        with self.connections.reading() as connection:
            for id, *values in connection.execute(sql):
                # A damaged row may hold anything.
                row_text = "\x1f".join(str(value) for value in values).casefold()
                if any(needle in row_text for needle in needles) or any(
                    needle in " ".join(row_text.split()) for needle in needles if " " in needle
                ):
                    ids.append(str(id))
        return ids

    def find_by_hash(self, hash: bytes, project: str, *, past: bool = False) -> Memory | None:
        """Return the newest active memory of a project whose text has this hash, or None; with `past`, one whose time is
        over, too."""
        living = f"({ACTIVE} OR m.status = 'superseded' AND m.superseded_by = '')"
        return self._newest_where("m.hash = ?", hash, project, living if past else ACTIVE)

    def find_by_external_id(self, external_id: str, project: str) -> Memory | None:
        """Return the newest active memory of a project that was imported under this id, or None."""
        return self._newest_where("m.external_id = ? AND m.external_id != ''", external_id, project)

    def find_imported(self, beginning: str, project: str) -> list[Memory]:
        """Return a project's memories of every status whose external id begins so, ascending by `seq`."""
        tail = (
            "WHERE m.external_id != '' AND m.external_id >= ? AND m.external_id < ?"
            " AND m.project = ? ORDER BY m.seq"
        )
        return self._memories(tail, (beginning, beginning + _LAST, project))

    def by_external_id(self, names: Sequence[str]) -> list[Memory]:
        """Return the memories of every status and project whose external id is one of these names, a
        colon, and something without one: the passages of exchanges. They come in the order of `names`."""
        tail = (
            "WHERE m.external_id != '' AND m.external_id >= ? AND m.external_id < ?"
            # The range holds what is further below, too: one colon more.
            " AND instr(substr(m.external_id, ?), ':') = 0"
        )
        return [
            memory
            for name in names
            for memory in self._memories(tail, (f"{name}:", f"{name};", len(name) + 2))
        ]

    def _neighbour(self, memory: Memory, sign: str, direction: str) -> Memory | None:
        """Return the active memory of the same session and project that comes next in a direction."""
        nearest = self._memories(
            "WHERE m.source IN (SELECT id FROM sources WHERE session = ? AND session != '')"
            f" AND (m.turn, m.seq) {sign} (?, ?) AND {ACTIVE}"
            " AND m.project = ? AND (m.kind = ? OR (SELECT path FROM sources WHERE id = m.source) = '')"
            f" ORDER BY m.turn {direction}, m.seq {direction} LIMIT 1",
            (memory.source.session, memory.source.turn, memory.seq, memory.project, PASSAGE),
        )
        return nearest[0] if nearest else None

    def _newest_where(
        self, where: str, value: bytes | str, project: str, standing: str = ACTIVE
    ) -> Memory | None:
        # What waits for the user is nobody's memory yet: others are not merged into it.
        tail = (
            f"WHERE {where} AND m.project = ? AND {standing} AND NOT ({MARKED} AND {PROPOSED})"
            " ORDER BY m.seq DESC LIMIT 1"
        )
        newest = self._memories(tail, (value, project))
        return newest[0] if newest else None


def _spellings(words: str) -> set[str]:
    """Return words as a row may hold them: as they are, and inside JSON."""
    plain = words.casefold()
    flat = " ".join(plain.split())
    return {plain, flat, json.dumps(plain, ensure_ascii=False)[1:-1]}
