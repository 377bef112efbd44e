"""`audit`: what was done with memories, by whom, and whether the log of that is whole."""

from __future__ import annotations

from datetime import datetime

from vector_memory.journal.audit import AuditEntry
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context


class AuditRequest(messages.Request):
    """The last `k` entries of the audit log.

    Attributes:
        since: none that is older.
        action: those of one action alone, such as `forget`; `but` all others.
        verify: look at the whole log for changes, its older files too.
    """

    k: int = messages.number(50, 1, 100_000)
    since: datetime | None = messages.moment()
    action: str = messages.word()
    but: str = messages.word()
    verify: bool = messages.flag()


class AuditAnswer(messages.Answer):
    """Entries, the newest first, and what is wrong with the log, "" for nothing."""

    entries: list[AuditEntry]
    intact: bool
    problem: str


def audit(ctx: Context, request: AuditRequest) -> AuditAnswer:
    """Return the last entries of the audit log."""
    entries = ctx.state.audit_entries(request.k, request.since, request.action, request.but)
    problem = ctx.state.audit_break(whole=request.verify)
    return AuditAnswer(entries, not problem, problem)
