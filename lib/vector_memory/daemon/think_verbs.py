"""The verbs of the tools that help to think: each is imported when it is asked for."""

from __future__ import annotations

import importlib

from vector_memory.daemon.server import Reply, Sent, Written
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context

_HERE = "vector_memory.service.think."
VERBS = {
    "causal_debug": "causes:CauseRequest:explain",
    "flow_debug": "flow:FlowRequest:flow",
    "time_travel": "past:PastRequest:travel",
    "semantic_diff": "differences:DiffRequest:difference",
    "predictive_preload": "preload:PreloadRequest:preload",
    "context_budget": "context_share:BudgetRequest:budget",
    "constitutional_monitor": "monitor:MonitorRequest:monitor",
    "self_assess": "assessment:AssessmentRequest:assess",
    "stigmergy": "pheromones:TrailRequest:stigmergy",
    "world_model": "world_model:WorldRequest:world_model",
    "workflow_author": "workflow:WorkflowRequest:author",
    "workflow_optimizer": "bottlenecks:OptimizerRequest:optimize",
    "skill_discovery": "skills:DiscoveryRequest:discover",
    "micro_swarm": "swarm:SwarmRequest:swarm",
    "agent_dev_env": "dev_environment:DevRequest:environment",
    "temporal_planner": "plan:PlanRequest:planner",
}
"""Each verb's module below `service/think`, its request there and the function that answers it."""
LONG_VERBS = {
    "benchmark": "measuring:BenchmarkRequest:benchmark",
    "benchmark_suite": "measuring:BenchmarkRequest:suite",
    "cost_router": "costs:CostRequest:costs",
}
"""The same of those that take their time and tell how far they are."""


def simple(verb: str, ctx: Context, sent: Sent) -> Written:
    """Return the answer to one of `VERBS`, as JSON."""
    request, act = _parts(VERBS[verb])
    written: Written = messages.to_json(act(ctx, messages.read(request, sent)))
    return written


def long(verb: str, ctx: Context, sent: Sent, reply: Reply) -> Written:
    """Return the answer to one of `LONG_VERBS`, as JSON, redacted once more."""
    from vector_memory.service.base import privacy

    request, act = _parts(LONG_VERBS[verb])
    answer = act(ctx, messages.read(request, sent), reply.progress)
    written: Written = privacy.shown(messages.to_json(answer))
    return written


def _parts(place: str):  # type: ignore[no-untyped-def]  # what a table names has no type
    module, request, act = place.split(":")
    loaded = importlib.import_module(_HERE + module)
    return getattr(loaded, request), getattr(loaded, act)
