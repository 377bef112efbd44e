"""The verbs that a client can ask, each with the use case that answers it."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from vector_memory import wire
from vector_memory.daemon.server import Reply, Sent, Written
from vector_memory.model import Progress
from vector_memory.service.base import messages, privacy, privacy_rules, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.capture import backfill
from vector_memory.service.edit import (
    agent_edit,
    classify,
    contradictions,
    edit_forget,
    episodes,
    labels,
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
from vector_memory.service.upkeep import audit_log, check_rebuild, project_store, stats, tiers

Simple = Callable[[Context, Sent], Written]
Kind = TypeVar("Kind", bound=messages.Request)
Long = Callable[[Context, Sent, Reply], Written]


def _import(ctx: Context, sent: Sent, reply: Reply) -> Written:
    request = messages.read(json_lines.ImportRequest, sent)
    is_graph = knowledge_graph.is_graph(json_lines.regular_file(request.path))
    take = knowledge_graph.import_graph if is_graph else json_lines.import_file
    done = take(ctx, request, reply.progress)
    _settle(ctx, request.wait, reply)
    return _written(done)


def _import_notes(ctx: Context, sent: Sent, reply: Reply) -> Written:
    def show(step: import_plan.StepView) -> None:
        reply.json(wire.ITEM, _written(step))

    request = messages.read(import_notes.NotesRequest, sent)
    done = import_notes.import_notes(ctx, request, show, reply.progress)
    if not request.dry_run:
        _settle(ctx, request.wait, reply)
    return _written(done)


def _backfill(ctx: Context, sent: Sent, reply: Reply) -> Written:
    started = time.monotonic()
    request = messages.read(backfill.BackfillRequest, sent)
    done = backfill.backfill(ctx, request, reply.progress)
    _settle(ctx, request.wait, reply)
    return _written(replace(done, seconds=round(time.monotonic() - started, 3)))


def _settle(ctx: Context, wait: bool, reply: Reply) -> None:
    """Wait until all is searchable by meaning, unless asked not to."""
    ctx.notify()
    if wait and ctx.embedding.wait(60.0):
        check_rebuild.wait_level(ctx, check_rebuild.SETTLE_S, reply.progress)


def _export(ctx: Context, sent: Sent, reply: Reply) -> Written:
    request = messages.read(json_lines.ExportRequest, sent)
    count = 0
    if request.format == "markdown":
        for text, memories in reply.paced(export_markdown.export(ctx, request)):
            reply.json(wire.ITEM, privacy.shown({"markdown": text}))
            count += memories
    else:
        lines = json_lines.export(ctx, request)
        for line in reply.paced(_shown_politely(ctx, line) for line in lines):
            reply.json(wire.ITEM, line)
            count += 1
    ctx.state.audit("export", request.actor, [], {"exported": count})
    return _written(json_lines.ExportAnswer(count))


def _shown_politely(ctx: Context, line: json_lines.ExportLine) -> Written:
    ctx.hooks.give_way()
    return shown(_written(line))


def _purge(ctx: Context, sent: Sent, reply: Reply) -> Written:
    # It is done once in a long while: its parts are imported then.
    from vector_memory.service.purge import purge, selection

    def tell(done: int, total: int, doing: str) -> None:
        # Who asked may go away: what was begun is finished.
        with contextlib.suppress(OSError):
            reply.progress(done, total, doing)

    return _written(purge.purge(ctx, messages.read(selection.PurgeRequest, sent), tell))


def _lazy(module: str, request: str, act: str) -> Simple:
    """Return a use case of a module below `service`, imported when it is first asked for."""

    def ask(ctx: Context, sent: Sent) -> Written:
        found = importlib.import_module(f"vector_memory.service.{module}")
        return _typed(getattr(found, request), getattr(found, act))(ctx, sent)

    return ask


def _lazy_long(module: str, request: str, act: str, is_shown: bool = True) -> Long:
    """Return such a use case that tells how far it is.

    Args:
        is_shown: its answer holds what was stored, which is redacted once more.
    """

    def ask(ctx: Context, sent: Sent, reply: Reply) -> Written:
        found = importlib.import_module(f"vector_memory.service.{module}")
        answer = _typed_long(getattr(found, request), getattr(found, act))(ctx, sent, reply)
        return shown(answer) if is_shown else answer

    return ask


def shown(answer: Written) -> Written:
    """Return an answer with what was stored redacted once more."""
    redacted: Written = privacy.shown(answer)
    return redacted


def _typed(kind: type[Kind], act: Callable[[Context, Kind], object]) -> Simple:
    """Return a use case with its request read, and its answer written, as JSON."""

    return lambda ctx, sent: _written(act(ctx, messages.read(kind, sent)))


def _typed_long(kind: type[Kind], act: Callable[[Context, Kind, Progress], object]) -> Long:
    """Return a use case that tells how far it is, with its request read, and its answer written, as JSON."""
    return lambda ctx, sent, reply: _written(act(ctx, messages.read(kind, sent), reply.progress))


def _written(answer: object) -> Written:
    written: Written = messages.to_json(answer)
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
    "mark_flag": _typed(flags.MarkRequest, flags.mark),
    "init": _typed(project_store.InitRequest, project_store.init),
    "trust": _typed(project_store.TrustRequest, project_store.trust),
    "important": _typed(overview.ImportantRequest, overview.important),
    "overview": _typed(overview.OverviewRequest, overview.overview),
    "scratch": _typed(scratch.ScratchRequest, scratch.scratch),
    "verify": _typed(confidence.VerifyRequest, confidence.verify),
    "boost": _typed(confidence.BoostRequest, confidence.boost),
    "promote": _typed(confidence.PromoteRequest, confidence.promote),
    "rewrite": _rewrite,
    "alias": _lazy("edit.aliases", "AliasRequest", "alias"),
    "episode": _typed(episodes.EpisodeRequest, episodes.go_on),
    "summarize": _typed(summarize.SummaryRequest, summarize.summarize),
    "organize": _typed(classify.OrganizeRequest, classify.organize),
    "impact": _typed(impact.ImpactRequest, impact.impact),
    "contradictions": _typed(contradictions.ContradictionsRequest, contradictions.check),
    "provenance": _typed(recall.IdRequest, provenance.provenance),
    "trace": _typed(provenance.TraceRequest, provenance.trace),
    "session_recalled": _typed(provenance.SessionRecalledRequest, provenance.session_recalled),
    "audit": _typed(audit_log.AuditRequest, audit_log.audit),
    "jobs": _lazy("jobs.listing", "JobsRequest", "jobs"),
    "feed": _lazy("capture.feed", "FeedRequest", "feed"),
    "context": _lazy("inject.asked_context", "ContextRequest", "context"),
    "token": _lazy("upkeep.http_tokens", "TokenRequest", "token"),
    "causal_debug": _lazy("think.causes", "CauseRequest", "explain"),
    "flow_debug": _lazy("think.flow", "FlowRequest", "flow"),
    "time_travel": _lazy("think.past", "PastRequest", "travel"),
    "semantic_diff": _lazy("think.differences", "DiffRequest", "difference"),
    "predictive_preload": _lazy("think.like_tasks", "PreloadRequest", "preload"),
    "context_budget": _lazy("think.context_share", "BudgetRequest", "budget"),
    "constitutional_monitor": _lazy("think.monitor", "MonitorRequest", "monitor"),
    "self_assess": _lazy("think.like_tasks", "AssessmentRequest", "assess"),
    "stigmergy": _lazy("think.pheromones", "TrailRequest", "stigmergy"),
    "world_model": _lazy("think.world_model", "WorldRequest", "world_model"),
    "workflow_author": _lazy("think.workflow", "WorkflowRequest", "author"),
    "workflow_optimizer": _lazy("think.bottlenecks", "OptimizerRequest", "optimize"),
    "skill_discovery": _lazy("think.skills", "DiscoveryRequest", "discover"),
    "micro_swarm": _lazy("think.swarm", "SwarmRequest", "swarm"),
    "temporal_planner": _lazy("think.plan", "PlanRequest", "planner"),
    "agent_dev_env": _lazy("governance.dev_environment", "DevRequest", "environment"),
    "task_specialization": _lazy("think.performers", "SpecializationRequest", "specialization"),
    "meta_agent": _lazy("think.performers", "MetaRequest", "underperformers"),
    "multimodal_input": _lazy("think.multimodal_input", "InputRequest", "take_in"),
    "wrapup": _lazy("think.wrapup", "WrapupRequest", "wrapup"),
    "contract": _lazy("governance.contract", "ContractRequest", "contract"),
    "governance_report": _lazy("governance.controls", "GovernanceRequest", "report"),
    "governance_gaps": _lazy("governance.controls", "GovernanceRequest", "gaps"),
    "delegation": _lazy("governance.delegations", "DelegationRequest", "delegation"),
    "actors": _lazy("governance.actors", "ActorsRequest", "actors"),
    "lease": _lazy("governance.leases", "LeaseRequest", "lease"),
    "card": _lazy("governance.cards", "CardRequest", "card"),
    "vote": _lazy("governance.votes", "VoteRequest", "vote"),
    "pack": _lazy("governance.packs", "PackRequest", "pack"),
    "explain": _lazy("inject.explained", "ExplainRequest", "explain"),
    "connections": _lazy("find.connections", "ConnectionsRequest", "connections"),
    "evolution": _lazy("find.evolution", "EvolutionRequest", "evolution"),
    "growth": _lazy("upkeep.growth", "GrowthRequest", "growth"),
    "facets": _lazy("upkeep.growth", "FacetsRequest", "facets"),
    "label": _typed(labels.LabelRequest, labels.label),
    "sovereignty": _lazy("edit.sovereignty", "SovereigntyRequest", "sovereignty"),
    "identity": _lazy("upkeep.identity", "IdentityRequest", "identity"),
    "prove": _lazy("upkeep.proofs", "ProveRequest", "prove"),
    "check_proof": _lazy("upkeep.proofs", "CheckProofRequest", "check"),
    "share_init": _lazy("sharing.share", "ShareInitRequest", "init"),
    "share_invite": _lazy("sharing.share", "InviteRequest", "invite"),
    "share_status": _lazy("sharing.share", "ShareRequest", "status"),
    "share_revoke": _lazy("sharing.share", "RevokeRequest", "revoke"),
    "share_reject": _lazy("sharing.share", "RejectRequest", "reject"),
}
SHOWN = frozenset({
    "recall", "list", "get", "history", "topics", "resume", "lessons", "flags", "links", "entities", "edit",
    "scratch", "verify", "boost", "promote", "rewrite", "episode", "summarize", "organize", "impact",
    "contradictions", "provenance", "trace", "session_recalled", "important", "overview", "remember",
    "review", "jobs", "task_specialization", "meta_agent", "multimodal_input", "wrapup",
    "contract", "lease", "vote", "pack", "explain", "evolution", "growth", "facets", "alias", "connections",
    "agent_dev_env",
    "causal_debug", "flow_debug", "time_travel", "semantic_diff", "predictive_preload", "context_budget",
    "constitutional_monitor", "self_assess", "stigmergy", "world_model", "workflow_author",
    "workflow_optimizer", "skill_discovery", "micro_swarm", "temporal_planner",
})  # fmt: skip
"""Verbs whose answers hold what was stored."""
LONG: dict[str, Long] = {
    "import": _import,
    "import_notes": _import_notes,
    "backfill": _backfill,
    "export": _export,
    "export_vault": _lazy_long("transfer.vault_export", "ToVaultRequest", "export", False),
    "backup": _lazy_long("upkeep.backups", "BackupRequest", "backup", False),
    "check": _typed_long(check_rebuild.CheckRequest, check_rebuild.check),
    "rebuild": _typed_long(messages.Request, check_rebuild.rebuild),
    "migrate": _typed_long(messages.Request, check_rebuild.migrate),
    "purge": _purge,
    "tiers": _typed_long(tiers.TiersRequest, tiers.transfer_all),
    "wait": _typed_long(check_rebuild.WaitRequest, check_rebuild.wait),
    "consolidate": _lazy_long("edit.consolidate", "ConsolidateRequest", "consolidate"),
    "prune": _lazy_long("edit.prune_candidates", "PruneRequest", "prune"),
    "rag": _lazy_long("transfer.vault", "VaultRequest", "search"),
    "run_job": _lazy_long("jobs.listing", "RunRequest", "run"),
    "benchmark": _lazy_long("think.measuring", "BenchmarkRequest", "benchmark"),
    "benchmark_suite": _lazy_long("think.measuring", "BenchmarkRequest", "suite"),
    "cost_router": _lazy_long("think.costs", "CostRequest", "costs"),
    "formal_verify": _lazy_long("think.formal_verify", "InvariantsRequest", "verify", False),
    "digital_twin": _lazy_long("think.digital_twin", "TwinRequest", "try_out"),
    "red_team": _lazy_long("think.red_team", "RedTeamRequest", "red_team", False),
    "share_publish": _lazy_long("sharing.publish", "PublishRequest", "publish"),
    "share_pull": _lazy_long("sharing.publish", "ShareRequest", "pulled", False),
}
