"""Tools that change or delete what is stored."""

from __future__ import annotations

from vector_memory.errors import BadInputError
from vector_memory.mcp.caller import Caller
from vector_memory.mcp.model_answers import Json, short_id
from vector_memory.mcp.search_tools import looked_up
from vector_memory.mcp.shown_memories import MOST_AT_ONCE
from vector_memory.mcp.store_tools import HINTS
from vector_memory.mcp.tool import does

UNCHANGED = (
    "An agent makes a memory surer once, and none is surer or less sure than the scale goes."
)


def delete(caller: Caller, ids: list[str]) -> Json:
    """Forget memories that were shown before.

    Raises:
        BadInputError: one was not, or there are too many.
    """
    chosen = caller.shown.chosen(ids)
    answer = caller.ask("forget", {"ids": chosen})
    deleted = [short_id(memory["id"]) for memory in answer["memories"]]
    return {"deleted": deleted, "count": answer["forgotten"]}


@does("memory_forget")
def forget(caller: Caller, arguments: Json) -> Json:
    """Show what could be forgotten, or forget what was shown."""
    ids = arguments.get("ids")
    is_search = any(arguments.get(name) for name in ("query", "tags", "before"))
    if bool(ids) == is_search:
        raise BadInputError(
            "Give either query, tags or before, to see what could be forgotten, or ids that a search showed.",
            "Search first, then delete by ids.",
        )
    if ids:
        return delete(caller, ids)
    k = min(arguments.get("limit") or 10, MOST_AT_ONCE)
    matches = looked_up(caller, arguments, k=k, until=arguments.get("before"))
    hint = "Nothing was deleted. Call again with the ids of what the user wants gone."
    return {**matches, "hint": hint}


@does("delete_memory")
def delete_memory(caller: Caller, arguments: Json) -> Json:
    """Forget what was shown."""
    return delete(caller, arguments["ids"])


def changed(caller: Caller, answer: Json, status: str) -> Json:
    """Return a changed memory as an answer, with a hint where the change is only proposed and waits for the user."""
    proposed = {"status": "proposed", "hint": HINTS["proposed"]}
    note = proposed if answer.get("action") == "proposed" else {}
    return {"status": status, "memory": caller.answers.memory(answer["memory"]), **note}


@does("update_memory")
def update(caller: Caller, arguments: Json) -> Json:
    """Change a memory's words or marks."""
    return changed(caller, caller.ask("rewrite", arguments), "updated")


@does("memory_verify")
def verify(caller: Caller, arguments: Json) -> Json:
    """Note that a memory was checked."""
    return changed(caller, caller.ask("verify", arguments), arguments["verdict"])


@does("memory_boost")
def boost(caller: Caller, arguments: Json) -> Json:
    """Raise or lower a memory."""
    answer = caller.ask("boost", arguments)
    if answer["action"] == "unchanged":
        return changed(caller, answer, "unchanged") | {"hint": UNCHANGED}
    return changed(caller, answer, "boosted")


@does("memory_promote")
def promote(caller: Caller, arguments: Json) -> Json:
    """Keep a memory for good, or elsewhere."""
    answer = caller.ask("promote", arguments)
    merged = answer["action"] in ("merged", "unchanged")
    return changed(caller, answer, "already_known" if merged else "promoted")


@does("memory_link")
def link(caller: Caller, arguments: Json) -> Json:
    """Link two memories, or remove their link."""
    answer = caller.ask("link", arguments)
    ends = {"from": short_id(answer["from"]), "to": short_id(answer["to"])}
    return {**ends, "action": answer["action"], "relation": answer.get("relation")}
