"""What a question reads of a journal beside its index: cold memories, and the order of what was said around them.
Their words and vectors alone; nothing is loaded that is not asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vector_memory.journal.reads import MemoryReads
from vector_memory.journal.rows import DAY_US
from vector_memory.journal.scopes import as_array
from vector_memory.model import PASSAGE, Scope

_STANDS = "m.seq, m.project, s.session, s.path, m.turn, m.external_id, m.created_at, m.speaker, m.kind, m.tier = 'cold'"


class Standpoint(NamedTuple):
    """Where a memory stands that is not forgotten: `session` is "" for what stands beside the talk, `at_us` is in
    microseconds since 1970."""

    seq: int
    project: str
    session: str
    at_us: int
    speaker: str
    kind: str
    is_cold: bool


class ColdReads(MemoryReads):
    """Cold memories and what stands around them: a part of `Journal`."""

    def places(self, seqs: Sequence[int]) -> list[Standpoint]:
        """Return where these memories stand, and all that was said in their sessions, each session in its order."""
        rows = self.connections.rows(
            f"""WITH wanted AS (SELECT value FROM json_each(?)),
                    said AS (SELECT DISTINCT s.session FROM memories m JOIN sources s ON s.id = m.source
                             WHERE m.seq IN wanted AND s.session != '' AND s.path != '')
               SELECT {_STANDS} FROM sources s JOIN memories m ON m.source = s.id
               WHERE s.session IN said AND m.status != 'forgotten' AND (m.kind = ? OR s.path = '')
               UNION
               SELECT {_STANDS} FROM memories m JOIN sources s ON s.id = m.source
               WHERE m.seq IN wanted AND m.status != 'forgotten'""",
            (as_array(list(map(int, seqs))), PASSAGE),
        )
        rows.sort(key=lambda row: (row[4], _number(row[5]), row[0]))
        return [
            Standpoint(
                seq, project, "" if path and kind != PASSAGE else session, at_us, speaker, kind, bool(is_cold)
            )
            for seq, project, session, path, _, _, at_us, speaker, kind, is_cold in rows
        ]  # fmt: skip

    def cold_between(self, scope: Scope, start: float, end: float, k: int) -> list[int]:
        """Return the sequence numbers of a scope's newest cold memories from `start` until before `end`, in
        days since 1970, newest first."""
        where = "m.status = 'active' AND m.tier = 'cold' AND m.created_at >= ? AND m.created_at < ?"
        # As floats: an open end lies beyond what an integer holds.
        span, tail = (start * DAY_US, end * DAY_US), f"ORDER BY m.created_at DESC LIMIT {k:d}"
        rows = self._select("m.seq", Scope(projects=scope.projects), where, span, tail)
        return [seq for (seq,) in rows]


def _number(external_id: str) -> int:
    """Return a passage's place in its exchange, as its name ends with it."""
    digits = external_id.rpartition(":")[2]
    return int(digits) if digits.isdecimal() else 0
