"""Tools that keep memory in order: merge, prune, organise, import, migrate. Each shows first."""

from __future__ import annotations

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.changing import DELETED, delete
from vector_memory.mcp.finding import FOUND, found
from vector_memory.mcp.telling import Json, Telling, say
from vector_memory.mcp.tool import page, reach, scope_of, tool

MOST_STEPS = 30
CYCLE, CYCLES = "hippocampal-consolidation", 20
"""The job that consolidates, and of how many of its cycles its history tells."""
ON_A_PAGE = 20
MOST_GROUPS, MOST_SUGGESTED = 500, 200
"""The most that the daemon gives of groups and what could go, and of suggestions."""


@tool(
    "memory_consolidate",
    "dry_run ids limit cursor all_projects project",
    "groups:array! merged:count! dry_run:yes! next_cursor:count",
    "repeats",
    also="deduplicate_memories",
)
def consolidate(asker: Asker, arguments: Json) -> Json:
    """Find groups of memories that say the same; with dry_run false merge those. Use when recalls bring the same
    thing twice."""
    is_dry = arguments.get("dry_run", True)
    asked = {**scope_of(arguments), "ids": arguments.get("ids"), "dry_run": is_dry}
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


@tool(
    "memory_prune",
    "shown_ids unused_days limit cursor all_projects project",
    DELETED,
    "destroys repeats",
)
def prune(asker: Asker, arguments: Json) -> Json:
    """List what could go: expired, outdated, doubted, never used, duplicates. Use when the user wants to tidy
    up; then forget by ids."""
    if arguments.get("ids"):
        return delete(asker, arguments["ids"])
    asked = {**scope_of(arguments), "unused_days": arguments.get("unused_days")}
    asked["k"] = reach(arguments, ON_A_PAGE, MOST_GROUPS)
    answer, _ = asker.ask_long("prune", asked)
    memories, following = page(answer["memories"], arguments, ON_A_PAGE)
    shown = found(asker, memories, total=answer["total"], next_cursor=following)
    return {**shown, "hint": "Nothing was deleted. Call again with ids to forget these."}


@tool(
    "memory_organize",
    "ids apply limit cursor all_projects project",
    FOUND + " applied:count",
    "repeats",
)
def organize(asker: Asker, arguments: Json) -> Json:
    """Suggest kinds, tags and priorities for memories that lack them; with ids and apply, put them on."""
    asked = {**scope_of(arguments), "ids": arguments.get("ids"), "apply": arguments.get("apply")}
    asked["k"] = reach(arguments, ON_A_PAGE, MOST_SUGGESTED)
    answer = asker.ask("organize", asked)
    memories, following = page(answer["memories"], arguments, ON_A_PAGE)
    return found(asker, memories, applied=answer["applied"], next_cursor=following)


@tool(
    "hippocampal_consolidation",
    "cycle! dry_run limit",
    "job! outcome next_due dry_run:yes counts:object cycles:array hint",
    "repeats",
)
def cycle(asker: Asker, arguments: Json) -> Json:
    """The nightly consolidation: run a cycle now (shows first unless dry_run is false), status, or history. What it
    proposes binds nobody until the user confirms it."""
    if arguments["action"] == "history":
        found = asker.ask("audit", {"action": "consolidate", "k": arguments.get("limit") or CYCLES})
        entries = [entry for entry in found["entries"] if entry["actor"] == "job"]
        return {"job": CYCLE, "cycles": [{"at": entry["at"]} for entry in entries]}
    if arguments["action"] == "status":
        return _cycle(asker.ask("jobs", {"action": "show", "name": CYCLE}))
    is_dry = arguments.get("dry_run", True)
    row, _ = asker.ask_long("run_job", {"name": CYCLE, "dry_run": is_dry})
    hint = "Tell the user what was proposed: `vector-memory review`."
    proposed = not is_dry and (row.get("report") or {}).get("proposed")
    return {**_cycle(row), "dry_run": is_dry, **({"hint": hint} if proposed else {})}


def _cycle(row: Json) -> Json:
    """Return a job's row in figures: words of memories are the user's to read in a review."""
    report = row.get("report") or {}
    told = {"outcome": row.get("outcome"), "next_due": row.get("next_due")}
    return {
        "job": CYCLE,
        **{name: str(value) for name, value in told.items() if value},
        "counts": {name: n for name, n in report.items() if type(n) is int},
    }


@tool(
    "import_markdown_memories",
    "path! dry_run global project",
    "dry_run:yes! counts:object! steps:array! errors:array!",
    "repeats",
)
def import_notes(asker: Asker, arguments: Json) -> Json:
    """Import notes from a Markdown file or folder that the user names; shows what it would do unless dry_run
    is false."""
    asked = {
        "paths": [arguments["path"]],
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


@tool(
    "migrate_embeddings", "dry_run", "dry_run:yes! model! pending:count embedded:count", "repeats"
)
def migrate(asker: Asker, arguments: Json) -> Json:
    """Embed with the present model what another one embedded. Use after the model was changed; tells how much
    is left unless dry_run is false."""
    if arguments.get("dry_run", True):
        stats = asker.ask("stats", {"all_projects": True})
        pending = sum(store["pending_vectors"] for store in stats["stores"])
        return {"dry_run": True, "model": say(stats["embedding"]["model"]), "pending": pending}
    done, _ = asker.ask_long("migrate", {"all_projects": True})
    return {"dry_run": False, "model": say(done["model"]), "embedded": done["embedded"]}


TOOLS = (consolidate, cycle, prune, organize, import_notes, migrate)
