"""Tools that change or delete what is stored."""

from __future__ import annotations

from vector_memory.errors import BadInputError
from vector_memory.mcp.asker import Asker
from vector_memory.mcp.fields import TEXT, YES, Field, need
from vector_memory.mcp.finding import found
from vector_memory.mcp.outputs import STORED, answer
from vector_memory.mcp.shown import MOST_AT_ONCE
from vector_memory.mcp.storing import AGEING, HINTS, KIND, PRIORITY
from vector_memory.mcp.telling import NOTICE, Json, Telling, short
from vector_memory.mcp.tool import ALL_PROJECTS, ID, IDS, LIMIT, PROJECT, QUERY, TAGS, Tool

RELATIONS = ("supersedes", "builds_on", "contradicts", "answers", "clarifies", "relates_to")


def delete(asker: Asker, ids: list[str]) -> Json:
    """Forget memories that were shown before.

    Raises:
        BadInputError: one was not, or there are too many.
    """
    chosen = asker.shown.chosen(ids)
    done = asker.ask("forget", {"ids": chosen})
    gone = [short(memory["id"]) for memory in done["memories"]]
    return {"deleted": gone, "count": done["forgotten"]}


def _forget(asker: Asker, arguments: Json) -> Json:
    ids, query = arguments.get("ids"), arguments.get("query")
    if bool(ids) == bool(query):
        raise BadInputError(
            "Give either query, to see what could be forgotten, or ids that a search showed.",
            "Search first, then delete by ids.",
        )
    if ids:
        return delete(asker, ids)
    scope = {name: arguments.get(name) for name in ("project", "all_projects")}
    k = min(arguments.get("limit") or 10, MOST_AT_ONCE)
    answer = asker.ask("recall", {**scope, "k": k}, query=query)
    return {
        **found(asker, answer["hits"], str(query)),
        "hint": "Nothing was deleted. Call again with the ids of what the user wants gone.",
    }


def _delete(asker: Asker, arguments: Json) -> Json:
    return delete(asker, arguments["ids"])


def changed(asker: Asker, answer: Json, status: str) -> Json:
    """Return a changed memory as an answer, with what is proposed of it and waits for the user."""
    telling = Telling(asker.shown)
    memory = telling.memory(answer["memory"])
    result = {"status": status, "notice": NOTICE, **telling.held()}
    if answer.get("action") == "proposed":
        result |= {"status": "proposed", "hint": HINTS["proposed"]}
    return {**result, "memory": memory} if memory else result


def _update(asker: Asker, arguments: Json) -> Json:
    return changed(asker, asker.ask("rewrite", arguments), "updated")


def _verify(asker: Asker, arguments: Json) -> Json:
    return changed(asker, asker.ask("verify", arguments), arguments["verdict"])


def _boost(asker: Asker, arguments: Json) -> Json:
    return changed(asker, asker.ask("boost", arguments), "boosted")


def _promote(asker: Asker, arguments: Json) -> Json:
    answer = asker.ask("promote", arguments)
    merged = answer["action"] in ("merged", "unchanged")
    return changed(asker, answer, "already_known" if merged else "promoted")


def _link(asker: Asker, arguments: Json) -> Json:
    done = asker.ask("link", arguments)
    result = {"from": short(done["from"]), "to": short(done["to"]), "action": done["action"]}
    if "relation" in done:
        result["relation"] = done["relation"]
    return result


DELETED = answer(
    "deleted:texts count:count memories:memories notice hint held_back:count mode dry_run:yes total:count"
)
SHOWN_IDS = Field("ids", IDS.sort, "Ids that an earlier answer showed.", high=MOST_AT_ONCE)
FORGET = Tool(
    "memory_forget",
    "Forget memories for good. First call it with query to see them, then with the ids to delete.",
    (QUERY, SHOWN_IDS, LIMIT, ALL_PROJECTS, PROJECT),
    _forget,
    DELETED,
    destroys=True,
    repeats=True,
)
TOOLS = (
    FORGET,
    Tool(
        "memory_verify",
        "Say that a memory was checked: confirmed, refuted, or outdated.",
        (
            need(ID),
            Field("verdict", TEXT, "What was found.", True, ("confirmed", "refuted", "outdated")),
            Field("note", TEXT, "How it was checked.", high=500),
        ),
        _verify,
        STORED,
    ),
    Tool(
        "memory_boost",
        "Raise or lower a memory's priority by a step, or its confidence.",
        (
            need(ID),
            Field("direction", TEXT, "up by default.", choices=("up", "down")),
            Field("what", TEXT, "priority by default.", choices=("priority", "confidence")),
        ),
        _boost,
        STORED,
    ),
    Tool(
        "memory_promote",
        "Keep a scratch note or short-term memory for good, make a note a learning or a procedure, or "
        "raise its priority.",
        (
            need(ID),
            Field(
                "to",
                TEXT,
                "permanent for what would expire, else priority, by default.",
                choices=("permanent", "learning", "procedure", "priority"),
            ),
        ),
        _promote,
        STORED,
    ),
    Tool(
        "memory_link",
        "Link two memories by hand, or remove their link. With supersedes the second gives way to the "
        "first.",
        (
            Field("from", TEXT, "Id of the memory that the link starts from.", True, high=64),
            Field("to", TEXT, "Id of the other one.", True, high=64),
            Field("relation", TEXT, "What the first is to the second.", choices=RELATIONS),
            Field("remove", YES, "Remove it instead."),
        ),
        _link,
        answer("from! to! action! relation"),
        repeats=True,
    ),
    Tool(
        "delete_memory",
        "Delete memories by ids that a search or list showed. Same as memory_forget with ids.",
        (need(SHOWN_IDS),),
        _delete,
        DELETED,
        destroys=True,
        repeats=True,
    ),
    Tool(
        "update_memory",
        "Change a memory's words, kind, tags or priority. Other words take the place of the old ones, "
        "which stay in its history.",
        (
            need(ID),
            Field("text", TEXT, "The new words.", high=20_000),
            KIND,
            TAGS,
            PRIORITY,
            *AGEING,
        ),
        _update,
        STORED,
    ),
)
