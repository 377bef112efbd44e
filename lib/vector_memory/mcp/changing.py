"""Tools that change or delete what is stored."""

from __future__ import annotations

from vector_memory.errors import BadInputError
from vector_memory.mcp.asker import Asker
from vector_memory.mcp.finding import found, next_of
from vector_memory.mcp.shown import MOST_AT_ONCE
from vector_memory.mcp.storing import HINTS, STORED, new_id
from vector_memory.mcp.telling import Json, Telling, short
from vector_memory.mcp.tool import scope_of, tool

DELETED = "deleted:array memories:array next_cursor:count hint"


def delete(asker: Asker, ids: list[str]) -> Json:
    """Forget memories that were shown before.

    Raises:
        BadInputError: one was not, or there are too many.
    """
    chosen = asker.shown.chosen(ids)
    done = asker.ask("forget", {"ids": chosen})
    gone = [short(memory["id"]) for memory in done["memories"]]
    return {"deleted": gone, "count": done["forgotten"]}


@tool(
    "memory_forget",
    "query tags before shown_ids limit cursor all_projects project",
    DELETED,
    "destroys repeats",
    also="forget_memory",
)
def forget(asker: Asker, arguments: Json) -> Json:
    """Forget memories for good. Use when the user wants something gone: first with query, tags or before to see
    them, then with the ids to delete."""
    ids, query = arguments.get("ids"), arguments.get("query")
    is_search = any(arguments.get(name) for name in ("query", "tags", "before"))
    if bool(ids) == is_search:
        raise BadInputError(
            "Give either query, tags or before, to see what could be forgotten, or ids that a search showed.",
            "Search first, then delete by ids.",
        )
    if ids:
        return delete(asker, ids)
    k, start = min(arguments.get("limit") or 10, MOST_AT_ONCE), arguments.get("cursor") or 0
    scope = {**scope_of(arguments), "until": arguments.get("before"), "k": k, "offset": start}
    if query:
        memories = asker.ask("recall", scope, query=query)["hits"]
    else:
        memories = asker.ask("list", scope)["memories"]
    return {
        **found(asker, memories, str(query or ""), next_cursor=next_of(memories, k, start)),
        "hint": "Nothing was deleted. Call again with the ids of what the user wants gone.",
    }


@tool("delete_memory", "shown_ids!", DELETED, "destroys repeats unlisted", also="memory_delete")
def delete_memory(asker: Asker, arguments: Json) -> Json:
    """Delete memories by ids that a search or list showed."""
    return delete(asker, arguments["ids"])


def changed(asker: Asker, answer: Json, status: str) -> Json:
    """Return a changed memory as an answer, with what is proposed of it and waits for the user."""
    telling = Telling(asker.shown)
    memory = telling.memory(answer["memory"])
    result = {"status": status, **telling.held()}
    if answer.get("action") == "proposed":
        result |= {"status": "proposed", "hint": HINTS["proposed"]}
    return {**result, "memory": memory} if memory else result


AGEING = "temporal due every half_life_days valid_from valid_until expires"


@tool("update_memory", f"id! text kind tags priority {AGEING}", STORED, also="memory_update")
def update(asker: Asker, arguments: Json) -> Json:
    """Change a memory's words, kind, tags or priority. Use when it is nearly right: the old words stay in its
    history."""
    return changed(asker, asker.ask("rewrite", arguments, new_id=new_id()), "updated")


@tool("memory_verify", "id! verdict! note", STORED)
def verify(asker: Asker, arguments: Json) -> Json:
    """Say that a memory was checked. Use when you saw in the code or heard from the user that it holds, never
    held, or holds no more."""
    return changed(asker, asker.ask("verify", arguments), arguments["verdict"])


@tool("memory_boost", "id! direction whether", STORED)
def boost(asker: Asker, arguments: Json) -> Json:
    """Raise or lower a memory's priority by a step, or its confidence. Use when it was of much or no use."""
    return changed(asker, asker.ask("boost", arguments), "boosted")


@tool("memory_promote", "id! whither", STORED)
def promote(asker: Asker, arguments: Json) -> Json:
    """Keep a scratch note or short-term memory for good, make a note a learning or a procedure, or raise its
    priority."""
    answer = asker.ask("promote", arguments)
    merged = answer["action"] in ("merged", "unchanged")
    return changed(asker, answer, "already_known" if merged else "promoted")


@tool("memory_link", "from! to! relation remove", "from! to! action! relation", "repeats")
def link(asker: Asker, arguments: Json) -> Json:
    """Link two memories, or remove their link. Use when the user says which of two holds: with supersedes the
    second gives way to the first."""
    done = asker.ask("link", arguments)
    result = {"from": short(done["from"]), "to": short(done["to"]), "action": done["action"]}
    if "relation" in done:
        result["relation"] = done["relation"]
    return result


TOOLS = (forget, delete_memory, update, verify, boost, promote, link)
