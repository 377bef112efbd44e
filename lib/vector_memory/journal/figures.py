"""What pages of figures ask a journal: how it grew, what is used, and what gave way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta

from vector_memory.journal.reads import ACTIVE, MemoryReads
from vector_memory.journal.scopes import condition
from vector_memory.model import Memory, Scope

_A_DAY = 86_400_000_000
_BEGAN = date(1970, 1, 1)


class FigureReads(MemoryReads):
    """What pages of figures ask: a part of `Journal`."""

    def count_by_day(self, scope: Scope) -> dict[date, int]:
        """Return how many active memories of a scope are of each day (UTC) that has any, the oldest first."""
        limits, values = condition(scope)
        rows = self.connections.rows(
            f"SELECT m.created_at / {_A_DAY}, count(*) FROM memories m"
            f" WHERE {ACTIVE} AND {limits} GROUP BY 1 ORDER BY 1",
            values,
        )
        return {_BEGAN + timedelta(days=day): n for day, n in rows}

    def count_by_words(self, columns: Sequence[str], scope: Scope) -> Counter[tuple[str, ...]]:
        """Return how many active memories of a scope have the same words in these columns."""
        limits, values = condition(scope)
        names = ", ".join(f"m.{column}" for column in columns)
        rows = self.connections.rows(
            f"SELECT {names}, count(*) FROM memories m WHERE {ACTIVE} AND {limits} GROUP BY {names}",
            values,
        )
        return Counter({tuple(words): n for *words, n in rows})

    def most_used(self, scope: Scope, k: int) -> list[Memory]:
        """Return the k active memories of a scope that were used most, the most used first."""
        where = f"{ACTIVE} AND u.uses > 0"
        return self._of_scope(scope, where, "u.uses DESC, m.seq DESC", k=k)

    def count_unused(self, scope: Scope) -> int:
        """Return how many active memories of a scope were never used."""
        limits, values = condition(scope)
        return self.connections.number(
            f"SELECT count(*) FROM memories m WHERE {ACTIVE} AND {limits}"
            " AND NOT EXISTS (SELECT 1 FROM usage u WHERE u.seq = m.seq AND u.uses > 0)",
            values,
        )

    def gave_way(self, scope: Scope, k: int) -> list[Memory]:
        """Return the k memories of a scope that gave way to another one last, the last first."""
        order = "m.valid_until DESC, m.seq DESC"
        return self._of_scope(scope, "m.status = 'superseded'", order, k=k)
