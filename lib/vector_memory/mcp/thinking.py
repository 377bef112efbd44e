"""Tools that help to think: what is kept of work, asked about the task at hand. Their answers are figures and
words of the daemon's; each says on how many cases it stands."""

from __future__ import annotations

from typing import Any

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.fields import NUMBER, TEXT, WORDS, YES, Field
from vector_memory.mcp.telling import Json, say
from vector_memory.mcp.tool import tool

DRY = "Only show it (default true)."
OWN = {
    "dry": Field("dry_run", YES, DRY),
    "k": Field("k", NUMBER, low=1, high=300),
    "task_kind": Field("kind", TEXT, "Such as fix, feature, test, docs, release.", high=40),
    "monitor": Field("action", TEXT, choices=("status", "trend", "flags")),
    "trail": Field("action", TEXT, choices=("trails", "guide", "deposit", "decay")),
    "kind_or_task": Field("kind", TEXT, "A kind of task, or for guide its words.", high=300),
    "lines": Field("steps", WORDS, "`edit` or command lines, in order.", high=8, split="\n"),
    "ok": Field("ok", YES, "Whether it led there (default true)."),
    "evidence": Field("evidence", TEXT, "How its end is known.", high=500),
    "world": Field("action", TEXT, choices=("predict", "observe", "list")),
    "thing": Field("thing", TEXT, "A command line, port:5432 or version:node.", high=300),
    "state": Field("state", TEXT, "ok, fails, up, down or a version.", high=60),
    "description": Field("text", TEXT, "The steps in words; without, the session's.", high=8_000),
    "called": Field("name", TEXT, high=100),
    "format": Field("format", TEXT, choices=("procedure", "command", "skill")),
    "first": Field("first", WORDS, "One way, as command lines.", high=10, split="\n"),
    "second": Field("second", WORDS, "The other.", high=10, split="\n"),
    "least": Field("least", NUMBER, "3 by default.", low=2, high=100),
    "question": Field("question", TEXT, high=2_000),
    "answers": Field("answers", WORDS, "What each said.", high=50, split="\n"),
    "weights": Field("weights", WORDS, "A number for each answer.", high=50),
    "planning": Field("action", TEXT, choices=("add", "list", "critical_path", "done", "remove")),
    "plan": Field("plan", TEXT, "Its name, where there are several.", high=100),
    "planned": Field("task", TEXT, high=200),
    "after": Field("after", WORDS, "Tasks that come before it.", high=50),
    "estimate": Field("estimate", NUMBER, "Minutes; else by like tasks.", low=1, high=100_000),
    "measured": Field("what", TEXT, choices=("recall", "store", "hooks", "daemon")),
    "dimensions": Field(
        "dimensions",
        WORDS,
        choices=(
            "recall_ms",
            "store_ms",
            "hooks_ms",
            "quality",
            "duplicates",
            "size_mb",
            "open_ms",
        ),
    ),
    "n": Field("n", NUMBER, "How often (20).", low=5, high=200),
    "baseline": Field("baseline", YES, "Keep it to compare with (default true)."),
    "costing": Field("action", TEXT, choices=("report", "route", "prices")),
    "by": Field("by", TEXT, choices=("model", "day", "session", "project")),
    "cap": Field("cap", NUMBER, "Dollars a day; days above it are told.", low=1, high=1_000_000),
    "budgeting": Field("action", TEXT, choices=("show", "set")),
    "compartment": Field("compartment", TEXT, choices=("start", "prompt", "search", "session")),
    "tokens": Field("tokens", NUMBER, low=0, high=100_000),
    "error": Field("error", TEXT, "The line that says what failed.", high=4_000),
    "step": Field("step", TEXT, "A command line: how did it go with and without?", high=300),
    "turn": Field("turn", NUMBER, "Of one prompt alone.", low=1, high=10_000),
    "travel": Field(
        "action", TEXT, choices=("list", "record", "show", "compare", "memory", "replay")
    ),
    "other": Field("other", TEXT, "Another session's id.", high=200),
    "from_step": Field("step", NUMBER, "From this step on.", low=1, high=1_000_000),
    "at": Field("at", TEXT, "A moment, such as 2026-05-03.", high=60),
    "without": Field("without", WORDS, "Ids to leave out.", high=50),
    "settings": Field("settings", WORDS, "Such as scoring=sum.", high=5),
    "difference": Field("what", TEXT, choices=("behaviour", "memory")),
    "when": Field("at", TEXT, "Where the second begins: a date or a session.", high=200),
    "developing": Field("action", TEXT, choices=("status", "start", "reset", "stop")),
    "checkout": Field("path", TEXT, "A checkout of this code.", high=4_096),
    "prompt": Field("prompt", TEXT, "What is about to be done.", high=4_000),
}
"""Arguments that only these tools have."""


def told(asker: Asker, verb: str, arguments: Json, **more: Any) -> Json:
    """Return the daemon's answer to a verb of the same name, with words that can do nothing but be read."""
    return _whole(asker.ask(verb, arguments, **more))


def told_long(asker: Asker, verb: str, arguments: Json, **more: Any) -> Json:
    """Return the same of a verb that takes its time."""
    answer, _ = asker.ask_long(verb, arguments, **more)
    return _whole(answer)


def _whole(answer: Json) -> Json:
    return {name: _said(one) for name, one in answer.items() if one is not None}


def _said(value: Any) -> Any:
    """Return an answer without what is empty; nothing in it looks like a tag or is a link."""
    if isinstance(value, str):
        return say(value, foreign=True)
    if isinstance(value, dict):
        return {
            name: _said(one)
            for name, one in value.items()
            if one is not None and one not in ("", [])
        }
    return [_said(one) for one in value] if isinstance(value, list) else value


@tool(
    "constitutional_monitor",
    "monitor session since k all_projects project",
    "told! session asked unasked:count counts:object flags:array weeks:array",
    "reads",
    own=OWN,
)
def monitor(asker: Asker, arguments: Json) -> Json:
    """What the observer flagged: calls that destroy something or lead away from what was asked, of a session, or
    by weeks. Use before a risky step, or when the user asks what went off course."""
    return told(asker, "constitutional_monitor", arguments)


@tool(
    "self_assess",
    "task! task_kind all_projects project",
    "kind verdict! compared:count done:object minutes:object trail trouble:array like:array",
    "reads",
    own=OWN,
)
def assess(asker: Asker, arguments: Json) -> Json:
    """How tasks like this one went here: how often done, how long, what went wrong, which steps worked. Use before
    you plan a task or promise a time."""
    return told(asker, "self_assess", arguments)


@tool(
    "stigmergy",
    "trail kind_or_task lines ok evidence dry project",
    "told! trails:array dry_run:yes",
    "repeats",
    own=OWN,
)
def stigmergy(asker: Asker, arguments: Json) -> Json:
    """Steps that worked for a kind of task, how strong they are and when they fade; deposit reports steps that you
    took. Use guide before a task that comes again."""
    return told(asker, "stigmergy", arguments, session=asker.session)


@tool(
    "world_model",
    "world thing state k dry project",
    "told! good:object expected seconds:number surprise:yes things:array dry_run:yes",
    "repeats",
    own=OWN,
)
def world_model(asker: Asker, arguments: Json) -> Json:
    """What to expect of a command, port or version, by how often it went well before. Use predict before you run
    something slow; observe notes what came of it."""
    return told(asker, "world_model", arguments)


@tool(
    "workflow_author",
    "description session called format dry global project",
    "told! name steps:array path text id dry_run:yes",
    "repeats",
    own=OWN,
)
def author(asker: Asker, arguments: Json) -> Json:
    """Steps out of a description, or of what a session did, as a procedure, a command or a skill, shown for review.
    With dry_run false a procedure is proposed to the user; files are never written."""
    return told(asker, "workflow_author", arguments)


@tool(
    "workflow_optimizer",
    "task_kind since first second k all_projects project",
    "told! tasks:count retries:count steps:array compared:object",
    "reads",
    own=OWN,
)
def optimizer(asker: Asker, arguments: Json) -> Json:
    """Which step of the work fails, is repeated or takes longest; and of two ways (first, second), which went better,
    by an exact test."""
    return told(asker, "workflow_optimizer", arguments)


@tool(
    "skill_discovery", "since least k all_projects project", "told! skills:array", "reads", own=OWN
)
def discovery(asker: Asker, arguments: Json) -> Json:
    """Steps that were done well again and again in several sessions, each as a SKILL.md to look at. Nothing is
    written."""
    return told(asker, "skill_discovery", arguments)


@tool(
    "micro_swarm",
    "question! answers! weights",
    "told! agreed:yes! tolerates:count opinions:array conflicts:array",
    "reads",
    own=OWN,
)
def swarm(asker: Asker, arguments: Json) -> Json:
    """What several answers to one question agree on, and who contradicts whom. You bring the answers (of subagents, or
    of several tries); it starts none."""
    return told(asker, "micro_swarm", arguments)


@tool(
    "temporal_planner",
    "planning plan planned after estimate due dry project",
    "told! tasks:array critical_path:array minutes:number deadlines:array dry_run:yes",
    "repeats",
    own=OWN,
)
def planner(asker: Asker, arguments: Json) -> Json:
    """A plan: what comes before what, how long it takes by like tasks, the critical path, and what cannot be ready by
    its deadline. Add tasks with dry_run false."""
    return told(asker, "temporal_planner", arguments)


@tool(
    "benchmark",
    "measured! n",
    "told! memories:count dimensions:array missing:array",
    "reads",
    own=OWN,
)
def benchmark(asker: Asker, arguments: Json) -> Json:
    """How fast memory answers here, on what is stored: recall, store, hooks or the daemon's start. Nothing is
    kept."""
    return told_long(asker, "benchmark", arguments)


@tool(
    "benchmark_suite",
    "dimensions n baseline",
    "told! memories:count dimensions:array missing:array",
    "repeats",
    own=OWN,
)
def suite(asker: Asker, arguments: Json) -> Json:
    """Seven figures of speed, quality and size, each compared with the last five runs. Use when memory seems slower
    or worse than it was."""
    return told_long(asker, "benchmark_suite", arguments)


@tool(
    "context_budget",
    "budgeting compartment tokens session since dry",
    "told! session used:count cap:count sessions:count compartments:array dry_run:yes",
    "repeats",
    own=OWN,
)
def budget(asker: Asker, arguments: Json) -> Json:
    """What memory puts before you unasked: tokens by compartment, limits, and how much of it was used. Only the user
    sets a limit."""
    return told(asker, "context_budget", arguments)


@tool(
    "cost_router",
    "costing by task since cap k all_projects project",
    "told! rows:array over:array unpriced:array own:object models:array prices:array",
    "repeats",
    own=OWN,
)
def cost_router(asker: Asker, arguments: Json) -> Json:
    """What sessions took of their models, in tokens and dollars; and, for a task (route), which model did its like
    well for least. Advice alone."""
    return told_long(asker, "cost_router", arguments)


@tool(
    "causal_debug",
    "error session step dry all_projects project",
    "told! tasks:count of:count cases:array mended_by:object before:object with_step:object id dry_run:yes",
    "repeats",
    own=OWN,
)
def causes(asker: Asker, arguments: Json) -> Json:
    """What came before a failure, what mended it, and how tasks ended with and without a step. Use when an error comes
    back; dry_run false keeps the analysis."""
    return told(asker, "causal_debug", arguments)


@tool("flow_debug", "session! turn k", "told! mermaid! nodes:array! edges:array!", "reads", own=OWN)
def flow(asker: Asker, arguments: Json) -> Json:
    """A session's steps as a graph (Mermaid, and nodes and edges): what followed what, what failed, what mended it."""
    return told(asker, "flow_debug", arguments)


@tool(
    "time_travel",
    "travel session other from_step at query without settings k dry all_projects project",
    "told! sessions:array steps:array counts:object memories:array changed:array dry_run:yes",
    "repeats",
    own=OWN,
)
def travel(asker: Asker, arguments: Json) -> Json:
    """A session step by step; two sessions compared; memory as it was at a moment; a recall again without some
    memories, as of then, or with other settings."""
    return told(asker, "time_travel", arguments)


@tool(
    "semantic_diff",
    "difference when! since until task_kind k all_projects project",
    "told! first:object second:object done:object new:array gone:array kinds:object",
    "reads",
    own=OWN,
)
def difference(asker: Asker, arguments: Json) -> Json:
    """How work went before and after a moment, or what became of memory since. Use after a change of tools, rules or
    version."""
    return told(asker, "semantic_diff", arguments)


@tool(
    "predictive_preload",
    "prompt! k project",
    "told! memories:array sessions:count hits:object",
    "reads",
    own=OWN,
)
def preload(asker: Asker, arguments: Json) -> Json:
    """Memories that sessions like this one used, and how often that was foretold right. Use before a long task."""
    return told(asker, "predictive_preload", arguments)


@tool(
    "agent_dev_env",
    "developing checkout",
    "told! home! code running:yes! reloads:count use",
    "repeats",
    own=OWN,
)
def developing(asker: Asker, arguments: Json) -> Json:
    """A data home of its own to try changes of this memory's code on; its daemon is started anew when a file changes.
    Only the user starts, empties and stops it."""
    return told(asker, "agent_dev_env", arguments)


TOOLS = (
    monitor,
    assess,
    stigmergy,
    world_model,
    author,
    optimizer,
    discovery,
    swarm,
    planner,
    benchmark,
    suite,
    budget,
    cost_router,
    causes,
    flow,
    travel,
    difference,
    preload,
    developing,
)
