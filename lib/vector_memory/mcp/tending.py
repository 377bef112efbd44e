"""Tools that keep memory in order: merge, prune, organise, import, migrate. Each shows first."""

from __future__ import annotations

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.changing import delete
from vector_memory.mcp.finding import ON_A_PAGE, connected, found
from vector_memory.mcp.telling import Json, Telling, say, short
from vector_memory.mcp.tool import does, page, reach, scope_of

MOST_STEPS = 30
CYCLE, CYCLES = "hippocampal-consolidation", 20
"""The job that consolidates, and of how many of its cycles its history tells."""
WEEKLY = ("hierarchical-abstraction", "memory-organize", "active-pruning")
"""The weekly jobs that keep memories in order."""
MOST_GROUPS, MOST_SUGGESTED = 500, 200
"""The most that the daemon gives of groups and what could go, and of suggestions."""


@does("memory_consolidate")
def consolidate(asker: Asker, arguments: Json) -> Json:
    """Find or merge memories that say the same."""
    is_dry = arguments.get("dry_run", True)
    asked = {**scope_of(arguments), "ids": arguments.get("ids"), "dry_run": is_dry}
    asked["closeness"] = arguments.get("closeness")
    if is_dry:
        asked["k"] = reach(arguments, ON_A_PAGE, MOST_GROUPS)
    answer, _ = asker.ask_long("consolidate", asked)
    groups, following = answer["groups"], None
    if is_dry:
        groups, following = page(groups, arguments, ON_A_PAGE)
    telling = Telling(asker.shown)
    return {
        "groups": [
            {"same": group["same"], "memories": telling.memories(group["memories"], 120)}
            for group in groups
        ],
        "merged": answer["merged"],
        "dry_run": answer["dry_run"],
        **({"next_cursor": following} if following else {}),
        **telling.held(),
    }


@does("memory_prune")
def prune(asker: Asker, arguments: Json) -> Json:
    """List what could go, or let it go."""
    if arguments.get("ids") and arguments.get("to") == "gone":
        return delete(asker, arguments["ids"])
    if arguments.get("ids"):
        chosen = asker.shown.chosen(arguments["ids"])
        for id in chosen:
            asker.ask("promote", {"id": id, "to": "cold"})
        return {"cooled": [short(id) for id in chosen], "memories": []}
    asked = {**scope_of(arguments), "unused_days": arguments.get("unused_days")}
    asked["k"] = reach(arguments, ON_A_PAGE, MOST_GROUPS)
    answer, _ = asker.ask_long("prune", asked)
    memories, following = page(answer["memories"], arguments, ON_A_PAGE)
    shown = found(asker, memories, total=answer["total"], next_cursor=following)
    hint = "Nothing was changed. With ids these become cold; with to=gone they are forgotten."
    return {**shown, "hint": hint}


@does("memory_organize")
def organize(asker: Asker, arguments: Json) -> Json:
    """Suggest, traverse, cluster, or run the weekly upkeep."""
    action = arguments.get("action") or "suggest"
    if action == "run":
        return {"memories": [], "jobs": [_upkeep(asker, name, arguments) for name in WEEKLY]}
    if action == "traverse":
        return connected(asker, arguments, arguments.get("ids") or [""])
    if action == "cluster":
        return _clusters(asker, arguments)
    asked = {**scope_of(arguments), "ids": arguments.get("ids"), "apply": arguments.get("apply")}
    asked["k"] = reach(arguments, ON_A_PAGE, MOST_SUGGESTED)
    answer = asker.ask("organize", asked)
    memories, following = page(answer["memories"], arguments, ON_A_PAGE)
    return found(asker, memories, applied=answer["applied"], next_cursor=following)


def _upkeep(asker: Asker, name: str, arguments: Json) -> Json:
    """Run one of the weekly jobs, or only see what it would do."""
    asked = {"name": name, "dry_run": arguments.get("dry_run", True)}
    row, _ = asker.ask_long("run_job", asked)
    told = {} if asked["dry_run"] else {"outcome": say(row["outcome"])}
    return {**asked, **told, "counts": _counts(row)}


def _clusters(asker: Asker, arguments: Json) -> Json:
    k = reach(arguments, ON_A_PAGE, MOST_SUGGESTED)
    answer = asker.ask("connections", {**scope_of(arguments), "k": k})
    clusters, following = page(answer["clusters"], arguments, ON_A_PAGE)
    telling = Telling(asker.shown)
    told = [
        {
            "about": [say(word, True) for word in one["about"]],
            "size": one["size"],
            "memories": telling.memories(one["memories"], 80),
        }
        for one in clusters
    ]
    more = {"next_cursor": following} if following else {}
    return {"memories": [], "clusters": told, **more, **telling.held()}


@does("hippocampal_consolidation")
def cycle(asker: Asker, arguments: Json) -> Json:
    """Run the nightly consolidation, or tell of it."""
    if arguments["action"] == "history":
        found = asker.ask("audit", {"action": "consolidate", "k": arguments.get("limit") or CYCLES})
        entries = [entry for entry in found["entries"] if entry["actor"] == "job"]
        cycles = [{"at": entry["at"], "counts": entry["detail"]} for entry in entries]
        return {"job": CYCLE, "cycles": cycles}
    if arguments["action"] == "status":
        return _cycle(asker.ask("jobs", {"action": "show", "name": CYCLE}))
    is_dry = arguments.get("dry_run", True)
    row, _ = asker.ask_long("run_job", {"name": CYCLE, "dry_run": is_dry})
    hint = "Tell the user what was proposed: `vector-memory review`."
    proposed = not is_dry and (row.get("report") or {}).get("proposed")
    return {**_cycle(row), "dry_run": is_dry, **({"hint": hint} if proposed else {})}


def _cycle(row: Json) -> Json:
    """Return a job's row in figures: words of memories are the user's to read in a review."""
    told = {"outcome": row.get("outcome"), "next_due": row.get("next_due")}
    return {
        "job": CYCLE,
        **{name: str(value) for name, value in told.items() if value},
        "counts": _counts(row),
    }


def _counts(row: Json) -> Json:
    return {name: n for name, n in (row.get("report") or {}).items() if type(n) is int}


@does("import_markdown_memories")
def import_notes(asker: Asker, arguments: Json) -> Json:
    """Import notes from files."""
    asked = {
        "paths": arguments["paths"],
        "project": arguments.get("project"),
        "global": arguments.get("global"),
        "dry_run": arguments.get("dry_run", True),
        # The model chose these files: what stands in them is nobody's word but theirs.
        "foreign": True,
        "wait": False,
    }
    answer, steps = asker.ask_long("import_notes", asked)
    telling = Telling(asker.shown)
    return {
        "dry_run": asked["dry_run"],
        "counts": {
            name: value for name, value in answer.items() if isinstance(value, int) and value
        },
        "steps": [
            {"action": step.get("action", ""), "text": say(str(step.get("text", ""))[:200], True)}
            for step in steps[:MOST_STEPS]
        ],
        "errors": [say(f"{error['file']}: {error['error']}") for error in answer["errors"][:10]],
        **telling.held(),
    }


@does("migrate_embeddings")
def migrate(asker: Asker, arguments: Json) -> Json:
    """Embed anew, or tell how much is left."""
    if arguments.get("dry_run", True):
        stats = asker.ask("stats", {"all_projects": True})
        pending = sum(store["pending_vectors"] for store in stats["stores"])
        return {"dry_run": True, "model": say(stats["embedding"]["model"]), "pending": pending}
    done, _ = asker.ask_long("migrate", {"all_projects": True})
    return {"dry_run": False, "model": say(done["model"]), "embedded": done["embedded"]}
