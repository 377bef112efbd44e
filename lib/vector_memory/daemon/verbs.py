"""The verbs that a client can ask, each with the use case that answers it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from vector_memory import wire
from vector_memory.daemon.server import Reply
from vector_memory.model import Progress
from vector_memory.service.base import messages, privacy, privacy_rules, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.capture import backfill
from vector_memory.service.edit import (
    agent_edit,
    classify,
    contradictions,
    edit_forget,
    quarantine,
    remember,
    review,
    scratch,
)
from vector_memory.service.find import (
    impact,
    overview,
    provenance,
    recall,
    resume,
    summarize,
    topic_outline,
)
from vector_memory.service.learning import lessons
from vector_memory.service.memory import confidence, links
from vector_memory.service.tools import flags
from vector_memory.service.transfer import (
    export_markdown,
    import_notes,
    import_plan,
    json_lines,
    knowledge_graph,
)
from vector_memory.service.upkeep import audit_log, check_rebuild, project_store, stats

Request = dict[str, Any]
Simple = Callable[[Context, Request], dict[str, Any]]
Kind = TypeVar("Kind", bound=messages.Request)
Long = Callable[[Context, Request, Reply], dict[str, Any]]


def _import(ctx: Context, request: Request, reply: Reply) -> dict[str, Any]:
    asked = messages.read(json_lines.ImportRequest, request)
    is_graph = knowledge_graph.is_graph(json_lines.regular_file(asked.path))
    take = knowledge_graph.import_graph if is_graph else json_lines.import_file
    done = take(ctx, asked, reply.progress)
    _settle(ctx, asked.wait, reply)
    return _written(done)


def _import_notes(ctx: Context, request: Request, reply: Reply) -> dict[str, Any]:
    def show(step: import_plan.StepView) -> None:
        reply.json(wire.ITEM, _written(step))

    asked = messages.read(import_notes.NotesRequest, request)
    done = import_notes.import_notes(ctx, asked, show, reply.progress)
    if not asked.dry_run:
        _settle(ctx, asked.wait, reply)
    return _written(done)


def _backfill(ctx: Context, request: Request, reply: Reply) -> dict[str, Any]:
    started = time.monotonic()
    asked = messages.read(backfill.BackfillRequest, request)
    done = backfill.backfill(ctx, asked, reply.progress)
    _settle(ctx, asked.wait, reply)
    return _written(replace(done, seconds=round(time.monotonic() - started, 3)))


def _backup(ctx: Context, request: Request, reply: Reply) -> dict[str, Any]:
    # It brings the compression with it.
    from vector_memory.service.upkeep import backups

    return _typed_long(backups.BackupRequest, backups.backup)(ctx, request, reply)


def _settle(ctx: Context, wait: bool, reply: Reply) -> None:
    """Wait until all is searchable by meaning, unless asked not to."""
    ctx.notify()
    if wait and ctx.embedding.wait(60.0):
        check_rebuild.wait_level(ctx, check_rebuild.SETTLE_S, reply.progress)


def _export(ctx: Context, request: Request, reply: Reply) -> dict[str, Any]:
    asked = messages.read(json_lines.ExportRequest, request)
    count = 0
    if asked.format == "markdown":
        for text, memories in reply.paced(export_markdown.export(ctx, asked)):
            reply.json(wire.ITEM, privacy.shown({"markdown": text}))
            count += memories
    else:
        lines = json_lines.export(ctx, asked)
        for line in reply.paced(_shown_politely(ctx, line) for line in lines):
            reply.json(wire.ITEM, line)
            count += 1
    ctx.state.audit("export", asked.actor, [], {"exported": count})
    return _written(json_lines.ExportAnswer(count))


def _shown_politely(ctx: Context, line: json_lines.ExportLine) -> dict[str, Any]:
    ctx.hooks.give_way()
    return _shown(_written(line))


def _purge(ctx: Context, request: Request, reply: Reply) -> dict[str, Any]:
    # It is done once in a long while: its parts are imported then.
    from vector_memory.service.purge import purge, selection

    def tell(done: int, total: int, doing: str) -> None:
        # Who asked may go away: what was begun is finished.
        with contextlib.suppress(OSError):
            reply.progress(done, total, doing)

    return _written(purge.purge(ctx, messages.read(selection.PurgeRequest, request), tell))


def _consolidate(ctx: Context, request: Request, reply: Reply) -> dict[str, Any]:
    from vector_memory.service.edit import consolidate

    answer = _typed_long(consolidate.ConsolidateRequest, consolidate.consolidate)
    return _shown(answer(ctx, request, reply))


def _prune(ctx: Context, request: Request, reply: Reply) -> dict[str, Any]:
    from vector_memory.service.edit import prune_candidates

    answer = _typed_long(prune_candidates.PruneRequest, prune_candidates.prune)
    return _shown(answer(ctx, request, reply))


def _rag(ctx: Context, request: Request, reply: Reply) -> dict[str, Any]:
    from vector_memory.service.transfer import vault

    return _shown(_typed_long(vault.VaultRequest, vault.search)(ctx, request, reply))


def _shown(answer: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = privacy.shown(answer)
    return told


def _jobs(ctx: Context, request: Request) -> dict[str, Any]:
    return {"jobs": []}


def _typed(kind: type[Kind], act: Callable[[Context, Kind], object]) -> Simple:
    """Return a use case with its request read, and its answer written, as JSON."""

    return lambda ctx, sent: _written(act(ctx, messages.read(kind, sent)))


def _typed_long(kind: type[Kind], act: Callable[[Context, Kind, Progress], object]) -> Long:
    """Return a use case that tells how far it is, with its request read, and its answer written, as JSON."""
    return lambda ctx, sent, reply: _written(act(ctx, messages.read(kind, sent), reply.progress))


def _written(answer: object) -> dict[str, Any]:
    written: dict[str, Any] = messages.to_json(answer)
    return written


_edit = _typed(edit_forget.EditRequest, edit_forget.edit)
_rewrite = _typed(agent_edit.RewriteRequest, agent_edit.rewrite)

SIMPLE: dict[str, Simple] = {
    "remember": _typed(remember.RememberRequest, remember.remember),
    "recall": _typed(recall.RecallRequest, recall.recall),
    "list": _typed(recall.ListRequest, recall.list_memories),
    "topics": _typed(topic_outline.OutlineRequest, topic_outline.outline),
    "resume": _typed(resume.ResumeRequest, resume.resume),
    "lessons": _typed(messages.Request, lessons.show),
    "get": _typed(recall.IdRequest, recall.get),
    "history": _typed(recall.IdRequest, recall.history),
    "entities": _typed(recall.EntitiesRequest, recall.entities),
    "link": _typed(links.LinkRequest, links.link),
    "links": _typed(links.LinksRequest, links.links),
    "edit": lambda ctx, sent: (_rewrite if request_fields.is_agent(sent) else _edit)(ctx, sent),
    "forget": _typed(
        edit_forget.ForgetRequest,
        lambda ctx, request: ctx.reserve.spare(lambda: edit_forget.forget(ctx, request)),
    ),
    "quarantine": _typed(quarantine.QuarantineRequest, quarantine.held),
    "release": _typed(quarantine.ReleaseRequest, quarantine.release),
    "privacy": _typed(privacy_rules.PrivacyRequest, privacy_rules.show),
    "review": _typed(review.ReviewRequest, review.review),
    "stats": _typed(messages.Request, stats.stats),
    "flags": _typed(flags.FlagsRequest, flags.flags),
    "init": _typed(project_store.InitRequest, project_store.init),
    "trust": _typed(project_store.TrustRequest, project_store.trust),
    "important": _typed(overview.ImportantRequest, overview.important),
    "overview": _typed(overview.OverviewRequest, overview.overview),
    "scratch": _typed(scratch.ScratchRequest, scratch.scratch),
    "verify": _typed(confidence.VerifyRequest, confidence.verify),
    "boost": _typed(confidence.BoostRequest, confidence.boost),
    "promote": _typed(confidence.PromoteRequest, confidence.promote),
    "rewrite": _rewrite,
    "summarize": _typed(summarize.SummaryRequest, summarize.summarize),
    "organize": _typed(classify.OrganizeRequest, classify.organize),
    "impact": _typed(impact.ImpactRequest, impact.impact),
    "contradictions": _typed(contradictions.ContradictionsRequest, contradictions.check),
    "provenance": _typed(recall.IdRequest, provenance.provenance),
    "trace": _typed(provenance.TraceRequest, provenance.trace),
    "session_recalled": _typed(provenance.SessionRecalledRequest, provenance.session_recalled),
    "audit": _typed(audit_log.AuditRequest, audit_log.audit),
    "jobs": _jobs,
}
SHOWN = frozenset({
    "recall", "list", "get", "history", "topics", "resume", "lessons", "flags", "links", "entities", "edit",
    "scratch", "verify", "boost", "promote", "rewrite", "summarize", "organize", "impact",
    "contradictions", "provenance", "trace", "session_recalled", "important", "overview", "remember",
    "review",
})  # fmt: skip
"""Verbs whose answers hold what was stored."""
LONG: dict[str, Long] = {
    "import": _import,
    "import_notes": _import_notes,
    "backfill": _backfill,
    "export": _export,
    "backup": _backup,
    "check": _typed_long(check_rebuild.CheckRequest, check_rebuild.check),
    "rebuild": _typed_long(messages.Request, check_rebuild.rebuild),
    "migrate": _typed_long(messages.Request, check_rebuild.migrate),
    "purge": _purge,
    "wait": _typed_long(check_rebuild.WaitRequest, check_rebuild.wait),
    "consolidate": _consolidate,
    "prune": _prune,
    "rag": _rag,
}
