"""Tools that keep memory in order: merge, prune, organise, import, migrate. Each shows first."""

from __future__ import annotations

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.changing import DELETED, SHOWN_IDS, delete
from vector_memory.mcp.fields import NUMBER, TEXT, YES, Field, need
from vector_memory.mcp.finding import found
from vector_memory.mcp.outputs import FOUND, answer
from vector_memory.mcp.storing import GLOBAL
from vector_memory.mcp.telling import NOTICE, Json, Telling, say
from vector_memory.mcp.tool import ALL_PROJECTS, IDS, LIMIT, PROJECT, Tool, scope_of

MOST_STEPS = 30
DRY_RUN = Field("dry_run", YES, "Only show what would be done (default true).")


def _consolidate(asker: Asker, arguments: Json) -> Json:
    asked = {**scope_of(arguments), "ids": arguments.get("ids")}
    answer, _ = asker.ask_long("consolidate", asked, dry_run=arguments.get("dry_run", True))
    telling = Telling(asker.shown)
    groups = [
        {"same": group["same"], "memories": telling.memories(group["memories"], 120)}
        for group in answer["groups"]
    ]
    return {
        "groups": groups,
        "merged": answer["merged"],
        "dry_run": answer["dry_run"],
        "notice": NOTICE,
        **telling.held(),
    }


def _prune(asker: Asker, arguments: Json) -> Json:
    if arguments.get("ids"):
        return delete(asker, arguments["ids"])
    days = arguments.get("unused_days")
    answer, _ = asker.ask_long("prune", scope_of(arguments), unused_days=days)
    shown = found(asker, answer["memories"], total=answer["total"])
    return {**shown, "hint": "Nothing was deleted. Call again with ids to forget these."}


def _organize(asker: Asker, arguments: Json) -> Json:
    asked = {**scope_of(arguments), "ids": arguments.get("ids"), "apply": arguments.get("apply")}
    answer = asker.ask("organize", asked)
    return found(asker, answer["memories"], applied=answer["applied"])


def _import(asker: Asker, arguments: Json) -> Json:
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


def _migrate(asker: Asker, arguments: Json) -> Json:
    if arguments.get("dry_run", True):
        stats = asker.ask("stats", {"all_projects": True})
        pending = sum(store["pending_vectors"] for store in stats["stores"])
        return {"dry_run": True, "model": say(stats["embedding"]["model"]), "pending": pending}
    done, _ = asker.ask_long("migrate", {"all_projects": True})
    return {"dry_run": False, "model": say(done["model"]), "embedded": done["embedded"]}


CONSOLIDATE = Tool(
    "memory_consolidate",
    "Find groups of memories that say the same; with dry_run false merge those.",
    (DRY_RUN, IDS, LIMIT, ALL_PROJECTS, PROJECT),
    _consolidate,
    answer("groups:array! merged:count! dry_run:yes! notice! held_back:count"),
    repeats=True,
)
TOOLS = (
    CONSOLIDATE,
    Tool(
        "memory_prune",
        "List what could go: expired, outdated, doubted, never used, duplicates. Then forget by ids.",
        (
            SHOWN_IDS,
            Field("unused_days", NUMBER, "Days without use; 180 by default.", low=1, high=10_000),
            LIMIT,
            ALL_PROJECTS,
            PROJECT,
        ),
        _prune,
        DELETED,
        destroys=True,
        repeats=True,
    ),
    Tool(
        "memory_organize",
        "Suggest kinds, tags and priorities for memories that lack them; with ids and apply, put them on.",
        (
            IDS,
            Field("apply", YES, "Put them on the memories of ids."),
            LIMIT,
            ALL_PROJECTS,
            PROJECT,
        ),
        _organize,
        FOUND,
        repeats=True,
    ),
    CONSOLIDATE.named("deduplicate_memories"),
    Tool(
        "import_markdown_memories",
        "Import notes from a Markdown file or folder; shows what it would do unless dry_run is false.",
        (need(Field("path", TEXT, "A file or folder.", high=4_096)), DRY_RUN, GLOBAL, PROJECT),
        _import,
        answer("dry_run:yes! counts:object! steps:array! errors:array! held_back:count"),
        repeats=True,
    ),
    Tool(
        "migrate_embeddings",
        "Embed with the present model what another one embedded; tells how much is left unless dry_run "
        "is false.",
        (DRY_RUN,),
        _migrate,
        answer("dry_run:yes! model! pending:count embedded:count"),
        repeats=True,
    ),
)
