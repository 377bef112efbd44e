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
    """Sharing with a team: status; pull takes what others published; preview shows what the user would publish
    by `vector-memory share`."""
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


@tool(
    "data_sovereignty",
    "shown_ids sensitivity jurisdiction",
    "kept:array! changed:count!",
    "repeats",
)
def data_sovereignty(asker: Asker, arguments: Json) -> Json:
    """Tell how many memories are kept by jurisdiction and sensitivity; with ids, tag these. Only the user
    lowers a level."""
    answer = asker.ask("sovereignty", arguments)
    return {
        "kept": [{name: say(value) for name, value in one.items()} for one in answer["kept"]],
        "changed": answer["changed"],
    }


@tool("guardrail_proof", "entry", "file! fingerprint! size:count! root!")
def guardrail_proof(asker: Asker, arguments: Json) -> Json:
    """Sign the audit log's Merkle root now, or prove that one entry is in it; writes a file that
    `vector-memory proof verify` checks."""
    answer = asker.ask("prove", arguments)
    statement = answer["proof"].get("statement") or answer["proof"]
    told = {"size": statement["size"], "root": statement["root"]}
    return {"file": say(answer["file"]), "fingerprint": answer["fingerprint"], **told}


TOOLS = (federation, data_sovereignty, guardrail_proof)
