"""Tools that keep memory in order: merge, prune, organise, import, migrate. Each shows first."""

from __future__ import annotations

from vector_memory.mcp.caller import Caller
from vector_memory.mcp.change_tools import delete
from vector_memory.mcp.model_answers import Json, say, short_id
from vector_memory.mcp.search_tools import answer_with, connected
from vector_memory.mcp.store_tools import HINTS
from vector_memory.mcp.tool import MOST_LISTED, ON_A_PAGE, does, page, paged, reach, scope_of

MOST_STEPS = 30
CYCLE, CYCLES = "hippocampal-consolidation", 20
"""The job that consolidates, and how many entries of its history a page has."""
PHASES = {
    "replay": ("new",),
    "extraction": ("sessions_due", "sessions_made"),
    "integration": ("compared", "looked_at", "found", "proposed"),
    "pruning": ("orphans",),
    "reorganization": ("looked_at", "moved"),
}
"""The phases of a cycle, with what each counts."""
WEEKLY = ("hierarchical-abstraction", "memory-organize", "active-pruning")
"""The weekly jobs that keep memories in order."""
NEAR_ALONE = (
    "Groups that are not `same` are only near, and are never merged: where two of one do say the same, memory_link with "
    "relation supersedes lets one give way."
)
LISTED, SUGGESTED = (ON_A_PAGE, 500), (ON_A_PAGE, 200)
"""Of groups and what could go, and of suggestions: how many a page has where no limit is given, and the most that the
daemon gives."""


@does("memory_consolidate")
def consolidate(caller: Caller, arguments: Json) -> Json:
    """Find memories that say the same or are near, or merge those that say the same."""
    is_dry = arguments.get("dry_run", True)
    request = {**scope_of(arguments), "ids": arguments.get("ids"), "dry_run": is_dry}
    request["closeness"] = arguments.get("closeness")
    if is_dry:
        request["k"] = reach(arguments, *LISTED)
    answer = caller.ask("consolidate", request)
    groups, following = answer["groups"], None
    if is_dry:
        groups, following = page(groups, arguments, ON_A_PAGE)
    return {
        "groups": [
            {"same": group["same"], "memories": caller.answers.memories(group["memories"], 120)}
            for group in groups
        ],
        "merged": answer["merged"],
        "dry_run": answer["dry_run"],
        "hint": None if all(group["same"] for group in groups) else NEAR_ALONE,
        "next_cursor": following,
    }


@does("memory_prune")
def prune(caller: Caller, arguments: Json) -> Json:
    """List what could go, or let it go."""
    if arguments.get("ids") and arguments.get("to") == "gone":
        return delete(caller, arguments["ids"])
    if arguments.get("ids"):
        chosen = caller.shown.chosen(arguments["ids"])
        for id in chosen:
            caller.ask("promote", {"id": id, "to": "cold"})
        return {"cooled": [short_id(id) for id in chosen], "memories": []}
    unused_days = arguments.get("unused_days")
    answer, memories, following = paged(
        caller, "prune", arguments, "memories", LISTED, unused_days=unused_days
    )
    listed = answer_with(caller, memories, total=answer["total"], next_cursor=following)
    hint = "Nothing was changed. With ids these become cold; with to=gone they are forgotten."
    return {**listed, "hint": hint}


@does("memory_organize")
def organize(caller: Caller, arguments: Json) -> Json:
    """Suggest, traverse, cluster, or run the weekly upkeep."""
    action = arguments.get("action") or "suggest"
    if action == "run":
        return {"memories": [], "jobs": [_upkeep(caller, name, arguments) for name in WEEKLY]}
    if action == "traverse":
        return connected(caller, arguments, arguments.get("ids") or [""])
    if action == "cluster":
        return _clusters(caller, arguments)
    request = {"ids": arguments.get("ids"), "apply": arguments.get("apply")}
    answer, memories, following = paged(
        caller, "organize", arguments, "memories", SUGGESTED, **request
    )
    counts = {name: answer[name] for name in ("applied", "proposed")}
    hint = HINTS["proposed"] if answer["proposed"] else None
    return answer_with(caller, memories, **counts, hint=hint, next_cursor=following)


def _upkeep(caller: Caller, name: str, arguments: Json) -> Json:
    """Run one of the weekly jobs, or only see what it would do."""
    request = {"name": name, "dry_run": arguments.get("dry_run", True)}
    row = caller.ask("run_job", request)
    outcome = {} if request["dry_run"] else {"outcome": say(row["outcome"])}
    return {**request, **outcome, "counts": _counts(row)}


def _clusters(caller: Caller, arguments: Json) -> Json:
    _, clusters, following = paged(caller, "connections", arguments, "clusters", SUGGESTED)
    views = [
        {
            "about": [say(word, True) for word in cluster["about"]],
            "size": cluster["size"],
            "memories": caller.answers.memories(cluster["memories"], 80),
        }
        for cluster in clusters
    ]
    return {"memories": [], "clusters": views, "next_cursor": following}


@does("hippocampal_consolidation")
def cycle(caller: Caller, arguments: Json) -> Json:
    """Run the nightly consolidation, or tell of it."""
    if arguments["action"] == "history":
        request = {"action": "consolidate", "k": reach(arguments, CYCLES, MOST_LISTED)}
        entries, following = page(caller.ask("audit", request)["entries"], arguments, CYCLES)
        cycles = [{"at": entry["at"], "phases": _phases(entry["detail"])} for entry in entries]
        return {"job": CYCLE, "cycles": cycles, "next_cursor": following}
    if arguments["action"] == "status":
        return _cycle(caller.ask("jobs", {"action": "show", "name": CYCLE}))
    request = {"name": CYCLE, "dry_run": arguments.get("dry_run", True)}
    row = caller.ask("run_job", request, phases=arguments.get("phases"))
    hint = "Tell the user what was proposed: `vector-memory review`."
    is_proposed = not request["dry_run"] and (row.get("report") or {}).get("proposed")
    return {**_cycle(row), "dry_run": request["dry_run"], "hint": hint if is_proposed else None}


def _cycle(row: Json) -> Json:
    """Return a job's row in figures: words of memories are the user's to read in a review."""
    facts = {name: row.get(name) or None for name in ("outcome", "next_due")}
    return {"job": CYCLE, **facts, "phases": _phases(row.get("report") or {})}


def _phases(report: Json) -> Json:
    """Return by phases what a cycle has counted."""
    counted = {
        phase: {name: report[name] for name in names if name in report}
        for phase, names in PHASES.items()
    }
    return {phase: counts for phase, counts in counted.items() if counts}


def _counts(row: Json) -> Json:
    return {name: n for name, n in (row.get("report") or {}).items() if type(n) is int}


@does("import_markdown_memories")
def import_notes(caller: Caller, arguments: Json) -> Json:
    """Import notes from files."""
    request = {
        "paths": arguments["paths"],
        "project": arguments.get("project"),
        "global": arguments.get("global"),
        "dry_run": arguments.get("dry_run", True),
        # The model chose these files: what stands in them is nobody's word but theirs.
        "foreign": True,
        "wait": False,
    }
    steps: list[Json] = []
    answer = caller.ask("import_notes", request, steps)
    return {
        "dry_run": request["dry_run"],
        "counts": {
            name: value for name, value in answer.items() if isinstance(value, int) and value
        },
        "steps": [
            {"action": step.get("action", ""), "text": say(str(step.get("text", ""))[:200], True)}
            for step in steps[:MOST_STEPS]
        ],
        "errors": [say(f"{error['file']}: {error['error']}") for error in answer["errors"][:10]],
    }


@does("migrate_embeddings")
def migrate(caller: Caller, arguments: Json) -> Json:
    """Embed anew, or tell how much is left."""
    if arguments.get("dry_run", True):
        stats = caller.ask("stats", {"all_projects": True})
        pending = sum(store["pending_vectors"] for store in stats["stores"])
        return {"dry_run": True, "model": say(stats["embedding"]["model"]), "pending": pending}
    answer = caller.ask("migrate", {"all_projects": True})
    return {"dry_run": False, "model": say(answer["model"]), "embedded": answer["embedded"]}
