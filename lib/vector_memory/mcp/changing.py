"""Tools that change or delete what is stored."""

from __future__ import annotations

from vector_memory.errors import BadInputError
from vector_memory.mcp.asker import Asker
from vector_memory.mcp.finding import found, next_of
from vector_memory.mcp.shown import MOST_AT_ONCE
from vector_memory.mcp.storing import HINTS, new_id
from vector_memory.mcp.telling import Json, Telling, short
from vector_memory.mcp.tool import does, scope_of


def delete(asker: Asker, ids: list[str]) -> Json:
    """Forget memories that were shown before.

    Raises:
        BadInputError: one was not, or there are too many.
    """
    chosen = asker.shown.chosen(ids)
    done = asker.ask("forget", {"ids": chosen})
    gone = [short(memory["id"]) for memory in done["memories"]]
    return {"deleted": gone, "count": done["forgotten"]}


@does("memory_forget")
def forget(asker: Asker, arguments: Json) -> Json:
    """Show what could be forgotten, or forget what was shown."""
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


@does("delete_memory")
def delete_memory(asker: Asker, arguments: Json) -> Json:
    """Forget what was shown."""
    return delete(asker, arguments["ids"])


def changed(asker: Asker, answer: Json, status: str) -> Json:
    """Return a changed memory as an answer, with what is proposed of it and waits for the user."""
    telling = Telling(asker.shown)
    memory = telling.memory(answer["memory"])
    result = {"status": status, **telling.held()}
    if answer.get("action") == "proposed":
        result |= {"status": "proposed", "hint": HINTS["proposed"]}
    return {**result, "memory": memory} if memory else result


@does("update_memory")
def update(asker: Asker, arguments: Json) -> Json:
    """Change a memory's words or marks."""
    return changed(asker, asker.ask("rewrite", arguments, new_id=new_id()), "updated")


@does("memory_verify")
def verify(asker: Asker, arguments: Json) -> Json:
    """Note that a memory was checked."""
    return changed(asker, asker.ask("verify", arguments), arguments["verdict"])


@does("memory_boost")
def boost(asker: Asker, arguments: Json) -> Json:
    """Raise or lower a memory."""
    return changed(asker, asker.ask("boost", arguments), "boosted")


@does("memory_promote")
def promote(asker: Asker, arguments: Json) -> Json:
    """Keep a memory for good, or elsewhere."""
    answer = asker.ask("promote", arguments)
    merged = answer["action"] in ("merged", "unchanged")
    return changed(asker, answer, "already_known" if merged else "promoted")


@does("memory_link")
def link(asker: Asker, arguments: Json) -> Json:
    """Link two memories, or remove their link."""
    done = asker.ask("link", arguments)
    result = {"from": short(done["from"]), "to": short(done["to"]), "action": done["action"]}
    if "relation" in done:
        result["relation"] = done["relation"]
    return result
