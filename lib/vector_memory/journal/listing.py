"""Reading a scope's memories in an order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from vector_memory.journal.reads import ACTIVE, HELD, MARKED, PROPOSED, SingleReads
from vector_memory.journal.rows import DAY_US, microseconds
from vector_memory.journal.scopes import condition, marks, parts, projects_in
from vector_memory.model import PASSAGE, Memory, Scope, Status

MOST_HOPPED = 1_000
"""So many of the newest are found project by project, by their index; for more the whole is sorted."""
# By number where times are equal, so that two readings give the same order.
NEWEST = "m.created_at DESC, m.seq DESC"
_ORDERS = {
    "newest": NEWEST,
    "oldest": "m.created_at, m.seq",
    "priority": f"instr('CORE HIGH NORMAL LOW', m.priority), {NEWEST}",
    "uses": f"ifnull((SELECT u.uses FROM usage u WHERE u.seq = m.seq), 0) DESC, {NEWEST}",
}
_AT_HAND = "m.tier != 'cold'"
_HOLDS = "({0}.valid_until IS NULL OR {0}.valid_until > ?) AND ({0}.expires_at IS NULL OR {0}.expires_at > ?)"
# What replaced an answer answers, too: merging two memories that say the same leaves links as they are.
_ANSWER = (
    "SELECT 1 FROM links JOIN memories a ON a.id = links.from_id"
    " WHERE links.to_id = m.id AND links.relation = 'answers' AND (a.superseded_by != ''"
    f" OR a.status = 'active' AND NOT instr(a.extra, '\"verdict\":\"refuted\"') AND {_HOLDS.format('a')})"
)
# A periodic item is done once at a time, and stays open.
_ANSWERED = f"(m.temporal != 'periodic' AND EXISTS ({_ANSWER}))"
# The column says whether an item is settled, by its words or by hand. That its time is over is written in no row, and
# is asked here.
_BY_OPENNESS = f"m.open = 1 AND NOT {_ANSWERED} AND {_HOLDS.format('m')}"
# A date that was set anew is one to come.
_TO_COME = (
    "(m.temporal = 'periodic' OR NOT EXISTS"
    f" ({_ANSWER} AND links.created_at >= ifnull(m.updated_at, m.created_at)))"
)
_BY_IMPORTANCE = f"{ACTIVE} AND m.priority IN ('CORE', 'HIGH')"


class Listing(SingleReads):
    """What lists a store's memories: a part of `Journal`."""

    now: Callable[[], datetime]

    def iter_memories(
        self,
        scope: Scope,
        *,
        newest_first: bool = False,
        limit: int | None = None,
        statuses: Sequence[Status] = (Status.ACTIVE,),
    ) -> Iterator[Memory]:
        """Yield memories, read in pieces. What is taken out of the scope while this runs may be left out.

        Yields:
            The memories of a scope, by `created_at`, the oldest first unless `newest_first`; those of
            equal times in the order in which they were stored.
        """
        is_few = limit is not None and limit <= MOST_HOPPED
        if newest_first and is_few and tuple(statuses) == (Status.ACTIVE,):
            return iter(self._by_hops(scope, limit or 0, ACTIVE))
        order = _ORDERS["newest" if newest_first else "oldest"]
        return self._in_pieces(scope, order, -1 if limit is None else limit, statuses)

    def in_order(self, scope: Scope, by: str, limit: int) -> Iterator[Memory]:
        """Yield active memories of a scope, `limit` at most, by one of `newest`, `oldest`, `priority` and
        `uses`."""
        if by == "newest":
            return self.iter_memories(scope, newest_first=True, limit=limit)
        return self._in_pieces(scope, _ORDERS[by], limit, (Status.ACTIVE,))

    def _in_pieces(
        self, scope: Scope, order: str, limit: int, statuses: Sequence[Status]
    ) -> Iterator[Memory]:
        where = f"m.status IN ({marks(statuses)})"
        rows = self._select("m.id", scope, where, statuses, f"ORDER BY {order} LIMIT {limit:d}")
        # Between two pieces nobody is kept from writing, however slowly they are taken: what is written anew then has
        # another number and the same id.
        for part in parts([row[0] for row in rows]):
            by_id = self.by_ids(part)
            yield from (by_id[id] for id in part if id in by_id and by_id[id].status in statuses)

    def seqs(self, scope: Scope) -> list[int]:
        """Return the active memories' sequence numbers in a scope, ascending."""
        return sorted(row[0] for row in self._select("m.seq", scope, ACTIVE))

    def with_dates(self, scope: Scope) -> list[Memory]:
        """Return the active memories of a scope that come back by the calendar, or have a deadline of which no other
        has said since it was set that it is done, the nearest deadline first."""
        where = f"{ACTIVE} AND m.temporal IN ('deadline', 'periodic') AND NOT {HELD} AND {_TO_COME}"
        now = microseconds(self.now())
        order = "m.valid_until IS NULL, m.valid_until, m.seq"
        return self._of_scope(scope, where, order, (now, now))

    def expired(self, now: datetime, k: int, without: Sequence[str] = ()) -> list[Memory]:
        """Return at most k memories that have expired and are no tombstones, the first expired first.

        Args:
            without: collections that are left out.
        """
        where = "m.expires_at IS NOT NULL AND m.expires_at <= ? AND m.status != 'forgotten'"
        scope = Scope(without=tuple(without))
        return self._of_scope(scope, where, "m.expires_at, m.seq", (microseconds(now),), k)

    def outdated(self, now: datetime, k: int) -> list[Memory]:
        """Return at most k active memories that hold no longer, by `seq`."""
        where = f"{ACTIVE} AND m.valid_until <= ?"
        return self._of_scope(Scope(), where, "m.seq", (microseconds(now),), k)

    def page(self, after_seq: int, k: int, scope: Scope | None = None) -> list[Memory]:
        """Return the next k active memories of a scope after a sequence number, ascending by `seq`: asking on after
        the last of them reaches all."""
        where = f"{ACTIVE} AND m.seq > ?"
        return self._of_scope(scope or Scope(), where, "m.seq", (after_seq,), k)

    def withheld(self, scope: Scope) -> list[Memory]:
        """Return the active memories of a scope that hooks hold back, or that are proposed to be more than
        they are, newest first."""
        return self._of_scope(scope, f"{ACTIVE} AND ({MARKED} OR {PROPOSED})", NEWEST)

    def recent(
        self, scope: Scope, k: int, kinds: Sequence[str] = (), cold: bool = False
    ) -> list[Memory]:
        """Return the k newest active memories (of these kinds), newest first.

        Args:
            cold: cold ones among all others.
        """
        if kinds:
            wanted_kinds = set(kinds) & set(scope.kinds) if scope.kinds else set(kinds)
            if not wanted_kinds:
                return []
            scope = replace(scope, kinds=tuple(wanted_kinds))
        return self._newest(scope, k, ACTIVE, cold=cold)

    def important(self, scope: Scope, k: int) -> list[Memory]:
        """Return at most k active memories of priority CORE, then HIGH, each newest first."""
        memories: list[Memory] = []
        # One after the other: the index has each priority in the order of time, not both together.
        for priority in ("CORE", "HIGH"):
            if len(memories) < k:
                where = f"{_BY_IMPORTANCE} AND m.priority = '{priority}'"
                memories += self._newest(scope, k - len(memories), where)
        return memories

    def open_items(self, scope: Scope, k: int) -> list[Memory]:
        """Return the k newest questions, todos and problems that hold now, whose `extra["done"]` is not set, and that
        no valid memory answers: one that holds itself and was not found to be wrong. Newest first."""
        now = microseconds(self.now())
        return self._newest(scope, k, _BY_OPENNESS, (now,) * 4)

    def answered(self, scope: Scope, k: int) -> list[Memory]:
        """Return the k newest active memories of a scope that others answer, newest first."""
        now = microseconds(self.now())
        return self._newest(scope, k, f"{ACTIVE} AND {_ANSWERED}", (now, now))

    def latest_sessions(self, scope: Scope, count: int, but: str) -> list[tuple[float, float]]:
        """Return when the last sessions of a scope's projects began and ended, by the talk that is stored of them: what
        the index's columns answer faster, as soon as they are there.

        Args:
            scope: its projects count, nothing else of it.
            but: a session that is left out.

        Returns:
            At most `count` pairs of begin and end, in days since 1970, the session that ended last first.
        """
        talk = f"{ACTIVE} AND m.kind = '{PASSAGE}' AND"
        # From the newest passage on: only the passages of the sessions in `passed` are skipped, no others are read.
        newest = (
            "SELECT m.created_at, s.session FROM memories m CROSS JOIN sources s ON s.id = m.source"
            f" WHERE {talk} m.project = ? AND s.session NOT IN (%s) ORDER BY m.created_at DESC LIMIT 1"
        )
        oldest = f"SELECT min(m.created_at) FROM memories m JOIN sources s ON s.id = m.source WHERE {talk} s.session = ?"
        spans: list[tuple[float, float]] = []
        passed = ["", but]
        with self.connections.reading() as connection:
            projects = projects_in(connection, scope)
            while len(spans) < count:
                sql = newest % marks(passed)
                ends = [
                    row
                    for project in projects
                    for row in connection.execute(sql, (project, *passed))
                ]
                if not ends:
                    break
                end, session = max(ends)
                passed.append(session)
                (start,) = connection.execute(oldest, (session,)).fetchone()
                spans.append((start / DAY_US, end / DAY_US))
        return spans

    def _newest(
        self, scope: Scope, k: int, where: str, bound: Sequence[int] = (), cold: bool = False
    ) -> list[Memory]:
        """Return the k newest. What is held back takes no place among them, nor what is cold unless that is wanted."""
        at_hand = "" if cold else f" AND {_AT_HAND}"
        return self._by_hops(scope, k, f"{where} AND NOT {HELD}{at_hand}", bound)

    def _by_hops(self, scope: Scope, k: int, where: str, bound: Sequence[int] = ()) -> list[Memory]:
        """Return the k newest, found by the index of each project and merged: no project is
        sorted whole.

        Args:
            where: what holds for them, as SQL, with its values (`bound`).
        """
        limits, values = condition(replace(scope, projects=None, kinds=()))
        newest: list[tuple[int, int, str]] = []
        with self.connections.reading() as connection:
            # One kind of one project at a time: each is in the order of time in an index, several together are not.
            for project in projects_in(connection, scope):
                for kind in dict.fromkeys(scope.kinds) or (None,):
                    newest += connection.execute(
                        f"SELECT m.created_at, m.seq, m.id FROM memories m WHERE {where} AND m.project = ?"
                        f" AND {'1' if kind is None else 'm.kind = ?'} AND {limits} ORDER BY {NEWEST} LIMIT ?",
                        (*bound, project, *(() if kind is None else (kind,)), *values, k),
                    ).fetchall()
        best = [id for _, _, id in sorted(newest, reverse=True)[:k]]
        by_id = self.by_ids(best)
        return [by_id[id] for id in best if id in by_id and by_id[id].status is Status.ACTIVE]
