"""Tools that find and explain: nothing is changed."""

from __future__ import annotations

from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.mcp.asker import Asker
from vector_memory.mcp.telling import WHOLE_TOKENS, Json, Telling, say, short
from vector_memory.mcp.tool import SCOPE, page, reach, scope_of, tool
from vector_memory.model import COLLECTIONS, QUIET

FOUND = "memories:array! next_cursor:count"
DEFAULT = 8
TRACED, LISTED = 5, 50
"""On a page where no limit is given: hits that are explained, and memories that a session was shown."""
ON_A_PAGE = 20
MOST_TRACED, MOST_LISTED, MOST_RELATED = 50, 200, 100
"""The most that the daemon gives of these, and of what hangs on a memory."""


def found(asker: Asker, memories: Any, around: str = "", **more: Any) -> Json:
    """Return memories as an answer."""
    telling = Telling(asker.shown)
    shown = telling.memories(memories, around=around)
    kept = {name: value for name, value in more.items() if value is not None}
    return {**kept, **telling.held(), "memories": shown}


def next_of(memories: Any, k: int, start: int = 0) -> int | None:
    """Return where the page after one begins, None where that was not full."""
    return start + k if len(memories) == k else None


@tool(
    "memory_recall",
    "query! limit cursor kinds tags priorities collections since until all why_found sensitivity_max~ "
    "jurisdictions~ tiers~ all_projects project",
    FOUND,
    "reads always",
    also="search_memory memory_search search_memories recall_memory",
)
def recall(asker: Asker, arguments: Json) -> Json:
    """Search what earlier sessions decided, learned, fixed and left open. Use when the user speaks of earlier
    work, and before you decide, debug or ask anew."""
    query, start = arguments["query"], arguments.get("cursor") or 0
    asked = {"k": DEFAULT, **scope_of(arguments), "query": query, "offset": start}
    asked["tiers"] = [one.replace("_", "-") for one in arguments.get("tiers") or ()]
    answer = asker.ask("recall", asked)
    told = {name: answer.get(name) for name in ("period", "widened", "note")}
    told["mode"] = "words" if answer["mode"] == "lexical" else None
    hits = answer["hits"]
    told["next_cursor"] = next_of(hits, asked["k"], start)
    if not arguments.get("all"):
        hits = [hit for hit in hits if hit["fits"]]
        if answer["hits"] and not hits:
            told |= {"note": told["note"] or "Nothing fits the question.", "next_cursor": None}
    hits = [{**hit, "traced": arguments.get("why")} for hit in hits]
    return found(asker, hits, query, **told)


@tool(
    "list_memories",
    "limit cursor sort priorities collections" + SCOPE,
    FOUND + " total:count",
    "reads",
    "memory_list",
)
def listing(asker: Asker, arguments: Json) -> Json:
    """List memories, newest first unless sorted otherwise. Use to look through what is stored by kind, tag, priority
    or time, without a question."""
    collections = arguments.get("collections") or [
        name for name in COLLECTIONS if name not in QUIET
    ]
    start = arguments.get("cursor") or 0
    asked = {"k": 20, **scope_of(arguments), "collection": collections, "offset": start}
    asked["sort"] = arguments.get("sort")
    answer = asker.ask("list", asked)
    end = start + asked["k"]
    following = end if end < answer["total"] else None
    return found(asker, answer["memories"], total=answer["total"], next_cursor=following)


@tool("rag_search", "query! limit cursor rag_collections read_vault" + SCOPE, FOUND, "repeats")
def rag(asker: Asker, arguments: Json) -> Json:
    """Search the user's own notes (a Markdown vault) and all collections of memory together. Use when the
    answer may stand in notes rather than in sessions."""
    query, start = arguments["query"], arguments.get("cursor") or 0
    asked = {"k": DEFAULT, **scope_of(arguments), "query": query, "offset": start}
    asked["collections"] = arguments.get("collections")
    asked["vault"] = arguments.get("read_vault")
    answer, _ = asker.ask_long("rag", asked)
    vault = {"notes": answer["vault"]["notes"]} if answer["vault"]["folder"] else None
    following = next_of(answer["hits"], asked["k"], start)
    return found(asker, answer["hits"], query, vault=vault, next_cursor=following)


@tool("memory_trace", "query id direction depth limit cursor" + SCOPE, FOUND, "reads")
def trace(asker: Asker, arguments: Json) -> Json:
    """Explain a result: how each hit of a query got its score; what was done with a memory (id); with direction, what
    it came of (up) or what came of it (down), link by link."""
    if arguments.get("direction"):
        return connected(asker, arguments, [arguments.get("id") or ""])
    asked: Json = {"query": arguments.get("query"), "id": arguments.get("id")}
    asked["k"] = reach(arguments, TRACED, MOST_TRACED)
    answer = asker.ask("trace", {**scope_of(arguments), **asked})
    hits, following = page(answer["hits"], arguments, TRACED)
    return found(
        asker,
        [{**hit, "traced": True} for hit in hits],
        arguments.get("query", ""),
        threshold=answer.get("threshold"),
        audit=answer["audit"] if arguments.get("id") else None,
        next_cursor=following,
    )


def connected(asker: Asker, arguments: Json, ids: list[str]) -> Json:
    """Return what links lead to from a memory, or between two."""
    if not all(ids):
        raise BadInputError("From which memory?", "Give its id, as shown.")
    asked = {name: arguments.get(name) for name in ("direction", "depth")}
    k = reach(arguments, ON_A_PAGE, MOST_TRACED)
    answer = asker.ask("connections", {**scope_of(arguments), **asked, "ids": ids, "k": k})
    memories, following = page(answer["memories"], arguments, ON_A_PAGE)
    return found(asker, memories, total=answer["total"], next_cursor=following)


@tool(
    "memory_provenance",
    "id!",
    "id! memory:object said_in file history:array links:array audit:array",
    "reads",
)
def provenance(asker: Asker, arguments: Json) -> Json:
    """Show a whole memory and where it comes from: session, file and lines, what it replaced, links, audit. Use
    before you rely on it."""
    answer = asker.ask("provenance", {"id": arguments["id"]})
    telling = Telling(asker.shown)
    memory = telling.memory(answer["memory"], WHOLE_TOKENS)
    if memory is None:
        return {"id": short(answer["memory"]["id"]), **telling.held()}
    source = answer["memory"].get("source") or {}
    return {
        "id": memory["id"],
        "memory": memory,
        "said_in": say(answer["said_in"]),
        "file": say(source.get("path") or ""),
        "verified": {name: say(value) for name, value in (answer.get("verified") or {}).items()},
        "merged": [
            {"id": short(merged.get("id", "")), "date": str(merged.get("at", ""))[:10]}
            for merged in answer["memory"].get("sources") or ()
        ],
        "history": [
            {
                "id": short(stage["id"]),
                "date": stage["from"][:10],
                "until": (stage["until"] or "")[:10],
            }
            for stage in answer["history"]["chain"]
        ],
        "links": links(telling, answer["links"]),
        "audit": answer["audit"],
        **telling.held(),
    }


def links(telling: Telling, all_links: Any) -> list[Json]:
    """Return links, each with the memory at its other end."""
    ends = [(link, telling.memory(link["other"], 80)) for link in all_links]
    return [
        {"relation": link["relation"], "direction": link["direction"], "other": end}
        for link, end in ends
        if end is not None
    ]


@tool("session_recalled", "session limit cursor project", FOUND, "reads")
def session_recalled(asker: Asker, arguments: Json) -> Json:
    """List what a session was shown from memory by itself, and when; this session's by default."""
    own = asker.session if asker.known else None
    k = reach(arguments, LISTED, MOST_LISTED)
    asked = {
        "session": arguments.get("session") or own,
        "project": arguments.get("project"),
        "k": k,
    }
    answer = asker.ask("session_recalled", asked)
    memories, following = page(answer["memories"], arguments, LISTED)
    told = {"session": say(answer["session"]), "total": answer["total"], "next_cursor": following}
    return found(asker, memories, **told)


@tool(
    "memory_impact",
    "id file limit cursor all_projects project",
    "links:array related:array! newer_decisions:array! total:count! next_cursor:count uses:object tasks:object",
    "reads",
)
def impact(asker: Asker, arguments: Json) -> Json:
    """What hangs on a memory or a file: links, memories about the same, newer decisions. Use before you change
    either."""
    asked: Json = {"id": arguments.get("id"), "file": arguments.get("file")}
    asked["k"] = reach(arguments, DEFAULT, MOST_RELATED)
    answer = asker.ask("impact", {**scope_of(arguments), **asked})
    telling = Telling(asker.shown)
    related, following = page(answer["related"], arguments, DEFAULT)
    return {
        "about": telling.memories(answer["about"]),
        "links": links(telling, answer["links"]),
        "related": telling.memories(related, 120),
        **({"next_cursor": following} if following else {}),
        "newer_decisions": telling.memories(answer["newer_decisions"], 120),
        "total": answer["total"],
        **{name: answer[name] for name in ("uses", "tasks") if answer.get(name)},
        **telling.held(),
    }


@tool(
    "contradiction_check",
    "text id resolve pair project",
    "contradictions:array! agreements:array! settled",
    "repeats",
)
def contradiction(asker: Asker, arguments: Json) -> Json:
    """Check a statement or a memory against what is stored; with neither, list what is not settled. Use before you
    rely on it. Once the user said which holds, resolve settles two that were shown."""
    asked = {name: arguments.get(name) for name in ("text", "id", "resolve", "project")}
    if arguments.get("ids"):
        asked["ids"] = asker.shown.chosen(arguments["ids"])
    answer = asker.ask("contradictions", asked)
    telling = Telling(asker.shown)
    shown = telling.memories(answer["contradictions"])
    for memory, whole in zip(shown, _open(answer["contradictions"]), strict=True):
        memory["why"] = say(whole["reason"])
    return {
        "contradictions": shown,
        "agreements": telling.memories(answer["agreements"]),
        **({"settled": say(answer["settled"])} if answer.get("settled") else {}),
        **telling.held(),
    }


def _open(memories: Any) -> list[Json]:
    return [memory for memory in memories if not (memory.get("suspicious") or {}).get("held_back")]


@tool(
    "memory_summarize",
    "query session since until tags collections limit all_projects project",
    FOUND,
    "reads",
)
def summarize(asker: Asker, arguments: Json) -> Json:
    """The sentences that say most about a topic, a session, a collection or a time, each with its memory. Use for "what
    happened with X" or "what did we do last week"."""
    answer = asker.ask("summarize", {**scope_of(arguments), "query": arguments.get("query")})
    return found(asker, answer["points"], read=answer["read"])


TOOLS = (
    recall,
    rag,
    summarize,
    impact,
    contradiction,
    provenance,
    trace,
    session_recalled,
    listing,
)
