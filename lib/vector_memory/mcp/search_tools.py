"""Tools that find and explain: nothing is changed."""

from __future__ import annotations

from typing import Any

from vector_memory.client import offline
from vector_memory.errors import BadInputError, StoreFullError
from vector_memory.mcp.caller import Caller
from vector_memory.mcp.model_answers import WHOLE_TOKENS, Json, id_and_days, say, short_id
from vector_memory.mcp.tool import ON_A_PAGE, does, page, paged, scope_of
from vector_memory.model import COLLECTIONS, QUIET

DEFAULT = 8
TRACED, LISTED, RELATED, CONNECTED = (5, 50), (50, 200), (DEFAULT, 100), (ON_A_PAGE, 50)
"""Of hits that are explained, of memories that a session was shown, of what hangs on a memory, and of what links lead
to: how many a page has where no limit is given, and the most that the daemon gives."""


def answer_with(caller: Caller, memories: Any, query: str = "", **fields: Any) -> Json:
    """Return memories as an answer."""
    return {**fields, "memories": caller.answers.memories(memories, query=query)}


def looked_up(caller: Caller, arguments: Json, **limits: Any) -> Json:
    """Return as an answer the memories that fit a question, or all within its limits where none is asked."""
    query, request = arguments.get("query") or "", {**page_of(arguments), **limits}
    if query:
        answer = caller.ask("recall", request, query=query, fitting=True)
        return answer_with(caller, answer["hits"], query, next_cursor=next_of(answer, request))
    memories, _, following = _list_page(caller, request)
    return answer_with(caller, memories, next_cursor=following)


def _list_page(caller: Caller, request: Json) -> tuple[Any, int, int | None]:
    """Return a page of memories, how many there are in all, and where the next page begins."""
    answer = caller.ask("list", request)
    next_start = request["offset"] + request["k"]
    return answer["memories"], answer["total"], next_start if next_start < answer["total"] else None


def page_of(arguments: Json, k: int = DEFAULT, **fields: Any) -> Json:
    """Return what a question is limited to, and which of its hits are asked for, `k` where no limit is given."""
    return {"k": k, **scope_of(arguments), "offset": arguments.get("cursor") or 0, **fields}


def next_of(answer: Json, request: Json) -> int | None:
    """Return where the page after that of a recall begins, None after the last."""
    return request["offset"] + request["k"] if answer.get("more") else None


@does("memory_recall")
def recall(caller: Caller, arguments: Json) -> Json:
    """Tell the hits that fit, the best first."""
    query = arguments["query"]
    request = page_of(arguments, query=query, fitting=not arguments.get("all"))
    try:
        answer = caller.ask("recall", request)
    except StoreFullError as error:
        # No daemon can run here: what can be read is read.
        answer = offline.recall(caller.daemon.home, caller.request(request), str(error))
    fields = {name: answer.get(name) for name in ("period", "widened", "note")}
    fields["mode"] = "words" if answer["mode"] == "lexical" else None
    fields["next_cursor"] = next_of(answer, request)
    hits = [{**hit, "traced": arguments.get("why")} for hit in answer["hits"]]
    if answer.get("left_out") and not hits:
        fields["note"] = fields["note"] or "Nothing fits the question."
    return answer_with(caller, hits, query, **fields)


@does("list_memories")
def listing(caller: Caller, arguments: Json) -> Json:
    """Tell memories without a question."""
    collections = arguments.get("collections") or [
        name for name in COLLECTIONS if name not in QUIET
    ]
    request = page_of(arguments, 20, collection=collections, sort=arguments.get("sort"))
    memories, total, following = _list_page(caller, request)
    return answer_with(caller, memories, total=total, next_cursor=following)


@does("rag_search")
def rag(caller: Caller, arguments: Json) -> Json:
    """Tell hits of the vault and of all collections."""
    request = page_of(arguments, query=arguments["query"], collections=arguments.get("collections"))
    answer = caller.ask("rag", request, vault=arguments.get("read_vault"))
    vault = {"notes": answer["vault"]["notes"]} if answer["vault"]["folder"] else None
    fits = any(hit["fits"] for hit in answer["hits"])
    note = "Nothing fits the question: this is near." if answer["hits"] and not fits else None
    fields = {"vault": vault, "note": note, "next_cursor": next_of(answer, request)}
    return answer_with(caller, answer["hits"], request["query"], **fields)


@does("memory_trace")
def trace(caller: Caller, arguments: Json) -> Json:
    """Explain hits, or what was done with a memory, or what hangs on it."""
    if arguments.get("direction"):
        return connected(caller, arguments, [arguments.get("id") or ""])
    request = {"query": arguments.get("query"), "id": arguments.get("id")}
    answer, hits, following = paged(caller, "trace", arguments, "hits", TRACED, **request)
    return answer_with(
        caller,
        [{**hit, "traced": True} for hit in hits],
        arguments.get("query", ""),
        threshold=answer.get("threshold"),
        audit=answer["audit"] if arguments.get("id") else None,
        next_cursor=following,
    )


def connected(caller: Caller, arguments: Json, ids: list[str]) -> Json:
    """Return what links lead to from a memory, or between two."""
    if not all(ids):
        raise BadInputError("From which memory?", "Give its id, as shown.")
    request = {"direction": arguments.get("direction"), "depth": arguments.get("depth"), "ids": ids}
    answer, memories, following = paged(
        caller, "connections", arguments, "memories", CONNECTED, **request
    )
    return answer_with(caller, memories, total=answer["total"], next_cursor=following)


@does("memory_provenance")
def provenance(caller: Caller, arguments: Json) -> Json:
    """Tell a whole memory and where it comes from."""
    answer = caller.ask("provenance", {"id": arguments["id"]})
    memory = caller.answers.memory(answer["memory"], WHOLE_TOKENS)
    if memory is None:
        return {"id": short_id(answer["memory"]["id"])}
    source = answer["memory"].get("source") or {}
    return {
        "id": memory["id"],
        "memory": memory,
        "said_in": say(answer["said_in"]),
        "file": say(source.get("path") or ""),
        "verified": {name: say(value) for name, value in (answer.get("verified") or {}).items()},
        "merged": id_and_days(answer["memory"].get("sources"), "at"),
        "history": id_and_days(answer["history"]["chain"], "from", until="until"),
        "links": links(caller, answer["links"]),
        "audit": answer["audit"],
    }


def links(caller: Caller, all_links: Any) -> list[Json]:
    """Return links, each with the memory at its other end."""
    ends = [(link, caller.answers.memory(link["other"], 80)) for link in all_links]
    return [
        {"relation": link["relation"], "direction": link["direction"], "other": end}
        for link, end in ends
        if end is not None
    ]


@does("session_recalled")
def session_recalled(caller: Caller, arguments: Json) -> Json:
    """Tell what a session was shown."""
    session = arguments.get("session") or (caller.session if caller.is_session_known else None)
    answer, memories, following = paged(
        caller, "session_recalled", arguments, "memories", LISTED, session=session
    )
    fields = {"session": say(answer["session"]), "total": answer["total"], "next_cursor": following}
    return answer_with(caller, memories, **fields)


@does("memory_impact")
def impact(caller: Caller, arguments: Json) -> Json:
    """Tell what hangs on a memory or a file."""
    request = {"id": arguments.get("id"), "file": arguments.get("file")}
    answer, related, following = paged(caller, "impact", arguments, "related", RELATED, **request)
    return {
        "about": caller.answers.memories(answer["about"]),
        "links": links(caller, answer["links"]),
        "related": caller.answers.memories(related, 120),
        "next_cursor": following,
        "newer_decisions": caller.answers.memories(answer["newer_decisions"], 120),
        "total": answer["total"],
        **{name: answer[name] for name in ("uses", "tasks", "others") if answer.get(name)},
    }


@does("contradiction_check")
def contradiction(caller: Caller, arguments: Json) -> Json:
    """Tell what contradicts, or settle it."""
    request = {name: arguments.get(name) for name in ("text", "id", "resolve", "project")}
    if arguments.get("ids"):
        request["ids"] = caller.shown.chosen(arguments["ids"])
    answer = caller.ask("contradictions", request)
    conflicts, following = page(answer["contradictions"], arguments, DEFAULT)
    settled = answer.get("settled")
    return {
        "contradictions": caller.answers.memories(
            [{**conflict, "why": conflict["reason"]} for conflict in conflicts]
        ),
        "agreements": caller.answers.memories(answer["agreements"]),
        "settled": say(settled) if settled else None,
        "next_cursor": following,
    }


@does("memory_summarize")
def summarize(caller: Caller, arguments: Json) -> Json:
    """Tell the sentences that say most."""
    answer = caller.ask("summarize", {**scope_of(arguments), "query": arguments.get("query")})
    return answer_with(caller, answer["points"], read=answer["read"])
