"""What reviews and pages of figures ask a journal: what was captured and not looked at yet, what speaks against or
repeats something else, what was said often; how it grew, what is used, and what gave way."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from vector_memory.journal.listing import NEWEST
from vector_memory.journal.reads import ACTIVE, MemoryReads
from vector_memory.journal.rows import DAY_US, microseconds
from vector_memory.journal.scopes import marks
from vector_memory.model import DEFAULT_COLLECTION, PASSAGE, SUBAGENT_TAG, Memory, Relation, Scope

_BEGAN = date(1970, 1, 1)
_REVIEWED = "instr(m.extra, '\"reviewed\":{')"
_SEEN_BY_NOBODY = (
    f"m.status = 'active' AND NOT {_REVIEWED} AND NOT instr(m.extra, '\"held\":true')"
    f" AND m.collection IN ('{DEFAULT_COLLECTION}', 'learnings')"
    f" AND NOT instr(m.tags, '\"{SUBAGENT_TAG}\"') AND (m.kind != 'todo' OR m.open = 1)"
    " AND m.stored_at > ?"
    # What the user stored on purpose, of no session, is the most of some stores: the index `by_review` leaves it out.
    " AND m.kind != 'passage' AND (m.source != 0 OR m.origin = 'assistant')"
    # Of a session what the user said, and what was decided; of the rest what an agent stored on purpose. What
    # the user stored on purpose he has seen.
    " AND CASE WHEN EXISTS (SELECT 1 FROM sources s WHERE s.id = m.source AND s.path != '' AND s.session != '')"
    " THEN m.origin = 'user' OR m.kind IN ('decision', 'preference') ELSE m.origin = 'assistant' END"
)


class ReviewReads(MemoryReads):
    """What reviews and figures ask: a part of `Journal`."""

    def captured(
        self, scope: Scope, kinds: Sequence[str], stored_after: datetime, most: int
    ) -> list[Memory]:
        """Return memories of some kinds that were made of sessions or stored by an agent, that hold, and that
        no review has settled; newest first."""
        where = f"{_SEEN_BY_NOBODY} AND m.kind IN ({marks(kinds)})"
        values = (microseconds(stored_after), *kinds)
        return self._of_scope(scope, where, NEWEST, values, most)

    def count_captured(
        self, scope: Scope, kinds: Sequence[str], stored_after: datetime, most: int
    ) -> int:
        """Return how many `captured` would return."""
        where = f"{_SEEN_BY_NOBODY} AND m.kind IN ({marks(kinds)})"
        values = (microseconds(stored_after), *kinds)
        return len(self._select("1", scope, where, values, f"LIMIT {most:d}"))

    def linked_pairs(
        self, relations: Sequence[Relation], least: float, most: int
    ) -> list[tuple[str, str, float]]:
        """Return pairs of active memories that are linked in one of these ways, and at least so closely, as their ids
        and the weight; the closest and newest first, `most` of them. A link by hand has the whole weight: it says nothing
        of how alike both are, and comes last, but for a contradiction."""
        return self.connections.rows(
            "SELECT l.from_id, l.to_id, l.weight FROM links l JOIN memories a ON a.id = l.from_id"
            " JOIN memories b ON b.id = l.to_id"
            f" WHERE l.relation IN ({marks(relations)}) AND l.weight >= ?"
            " AND a.status = 'active' AND b.status = 'active'"
            " ORDER BY l.weight >= 1 AND l.relation != 'contradicts', l.weight DESC, a.created_at DESC LIMIT ?",
            (*relations, least, most),
        )

    def said_often(self, least: int, most: int) -> list[tuple[Memory, int]]:
        """Return the prompts of at least so many sessions that begin alike and that no review has settled, the
        commonest first."""
        rows = self.connections.rows(
            "SELECT max(m.seq), count(DISTINCT m.source) FROM memories m"
            " WHERE m.status = 'active' AND m.kind = ? AND m.title != '' AND m.source != 0"
            f" AND NOT instr(m.tags, '\"{SUBAGENT_TAG}\"')"
            " GROUP BY m.project, m.title"
            f" HAVING count(DISTINCT m.source) >= ? AND max({_REVIEWED}) = 0"
            " ORDER BY 2 DESC, 1 DESC LIMIT ?",
            (PASSAGE, least, most),
        )
        passages = self._memories(f"WHERE m.seq IN ({marks(rows)})", [seq for seq, _ in rows])
        by_seq = {memory.seq: memory for memory in passages}
        return [(by_seq[seq], count) for seq, count in rows if seq in by_seq]

    def count_by_day(self, scope: Scope) -> dict[date, int]:
        """Return how many active memories of a scope are of each day (UTC) that has any, the oldest first."""
        days = f"m.created_at / {DAY_US}"
        rows = self._select(f"{days}, count(*)", scope, ACTIVE, tail="GROUP BY 1 ORDER BY 1")
        return {_BEGAN + timedelta(days=day): n for day, n in rows}

    def most_used(self, scope: Scope, k: int) -> list[Memory]:
        """Return the k active memories of a scope that were used most, the most used first."""
        where = f"{ACTIVE} AND u.uses > 0"
        return self._of_scope(scope, where, "u.uses DESC, m.seq DESC", k=k)

    def count_unused(self, scope: Scope) -> int:
        """Return how many active memories of a scope were never used."""
        is_used = "EXISTS (SELECT 1 FROM usage u WHERE u.seq = m.seq AND u.uses > 0)"
        return int(self._select("count(*)", scope, f"{ACTIVE} AND NOT {is_used}")[0][0])

    def last_replaced(self, scope: Scope, k: int) -> list[Memory]:
        """Return the k memories of a scope that gave way to another one last, the last first."""
        order = "m.valid_until DESC, m.seq DESC"
        return self._of_scope(scope, "m.status = 'superseded'", order, k=k)
