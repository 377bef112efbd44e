"""Tools about who is trusted with what: sharing with a team."""

from __future__ import annotations

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.telling import Json, say
from vector_memory.mcp.tool import tool

MOST_SHOWN = 20


@tool(
    "federation",
    "sharing project",
    "url published:count memories:count members:array refused:array preview:array hint",
    "repeats",
)
def federation(asker: Asker, arguments: Json) -> Json:
    """Sharing with a team: status; pull takes over what others published; preview shows what the user would
    publish. Only the user publishes, invites and revokes: `vector-memory share`."""
    action = arguments.get("action") or "status"
    asked = {"project": arguments.get("project")}
    if action == "pull":
        answer, _ = asker.ask_long("share_pull", asked)
        refused = [say(f"{one['what']}: {one['why']}"[:300]) for one in answer["refused"]]
        return {"members": _members(answer), "refused": refused}
    if action == "preview":
        answer, _ = asker.ask_long("share_publish", asked, dry_run=True)
        shown = [
            {"kind": say(one["kind"]), "text": say(one["text"][:200])}
            for one in answer["fresh"][:MOST_SHOWN]
        ]
        hint = "Nothing was published: the user runs `vector-memory share publish`."
        return {"memories": answer["memories"], "preview": shown, "hint": hint}
    answer = asker.ask("share_status", asked)
    told = {"url": say(answer["url"]), "published": answer["published"]}
    return {**told, "memories": answer["memories"], "members": _members(answer)}


def _members(answer: Json) -> list[Json]:
    return [{"name": say(one["name"]), "memories": one["memories"]} for one in answer["members"]]


TOOLS = (federation,)
