"""Tools that find and explain: nothing is changed."""

from __future__ import annotations

from typing import Any

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.fields import TEXT, WORDS, YES, Field, need
from vector_memory.mcp.outputs import FOUND, answer
from vector_memory.mcp.telling import NOTICE, WHOLE_TOKENS, Json, Telling, say, short
from vector_memory.mcp.tool import (
    ALL_PROJECTS,
    ID,
    LIMIT,
    PROJECT,
    QUERY,
    SCOPE,
    SESSION,
    SINCE,
    TAGS,
    UNTIL,
    Tool,
    scope_of,
)
from vector_memory.model import COLLECTIONS, QUIET

DEFAULT = 8


def found(asker: Asker, memories: Any, around: str = "", **more: Any) -> Json:
    """Return memories as an answer."""
    telling = Telling(asker.shown)
    shown = telling.memories(memories, around=around)
    kept = {name: value for name, value in more.items() if value is not None}
    return {"notice": NOTICE, **kept, **telling.held(), "memories": shown}


def _recall(asker: Asker, arguments: Json) -> Json:
    query = arguments["query"]
    asked = {"k": DEFAULT, **scope_of(arguments), "query": query}
    answer = asker.ask("recall", asked)
    mode = "words" if answer["mode"] == "lexical" else None
    told = {name: answer.get(name) for name in ("period", "widened", "note")}
    hits = answer["hits"]
    if not arguments.get("all"):
        hits = [hit for hit in hits if hit["fits"]]
        if answer["hits"] and not hits:
            told["note"] = "Nothing fits the question."
    return found(asker, hits, query, mode=mode, **told)


def _list(asker: Asker, arguments: Json) -> Json:
    collections = arguments.get("collections") or [
        name for name in COLLECTIONS if name not in QUIET
    ]
    asked = {"k": 20, **scope_of(arguments), "collection": collections}
    answer = asker.ask("list", asked, offset=arguments.get("offset"))
    return found(asker, answer["memories"], total=answer["total"])


def _rag(asker: Asker, arguments: Json) -> Json:
    query = arguments["query"]
    asked = {"k": DEFAULT, **scope_of(arguments), "query": query}
    asked["collections"] = arguments.get("collections")
    asked["vault"] = arguments.get("read_vault")
    answer, _ = asker.ask_long("rag", asked)
    vault = {"notes": answer["vault"]["notes"]} if answer["vault"]["folder"] else None
    return found(asker, answer["hits"], query, vault=vault)


def _trace(asker: Asker, arguments: Json) -> Json:
    asked = {"query": arguments.get("query"), "id": arguments.get("id")}
    answer = asker.ask("trace", {**scope_of(arguments), **asked})
    hits = [{**hit, "traced": True} for hit in answer["hits"]]
    audit = answer["audit"] if arguments.get("id") else None
    return found(
        asker, hits, arguments.get("query", ""), threshold=answer.get("threshold"), audit=audit
    )


def _provenance(asker: Asker, arguments: Json) -> Json:
    answer = asker.ask("provenance", {"id": arguments["id"]})
    telling = Telling(asker.shown)
    memory = telling.memory(answer["memory"], WHOLE_TOKENS)
    if memory is None:
        return {"id": short(answer["memory"]["id"]), "notice": NOTICE, **telling.held()}
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
        "notice": NOTICE,
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


def _session_recalled(asker: Asker, arguments: Json) -> Json:
    own = asker.session if asker.known else None
    asked = {"session": arguments.get("session") or own, "k": arguments.get("limit")}
    answer = asker.ask("session_recalled", asked)
    session = say(answer["session"])
    return found(asker, answer["memories"], session=session, total=answer["total"])


def _impact(asker: Asker, arguments: Json) -> Json:
    asked = {"id": arguments.get("id"), "file": arguments.get("file")}
    answer = asker.ask("impact", {**scope_of(arguments), **asked})
    telling = Telling(asker.shown)
    return {
        "about": telling.memories(answer["about"]),
        "links": links(telling, answer["links"]),
        "related": telling.memories(answer["related"], 120),
        "newer_decisions": telling.memories(answer["newer_decisions"], 120),
        "total": answer["total"],
        "notice": NOTICE,
        **telling.held(),
    }


def _contradictions(asker: Asker, arguments: Json) -> Json:
    asked = {name: arguments.get(name) for name in ("text", "id", "project")}
    answer = asker.ask("contradictions", asked)
    telling = Telling(asker.shown)
    shown = telling.memories(answer["contradictions"])
    for memory, whole in zip(shown, _open(answer["contradictions"]), strict=True):
        memory["why"] = say(whole["reason"])
    return {
        "contradictions": shown,
        "agreements": telling.memories(answer["agreements"]),
        "notice": NOTICE,
        **telling.held(),
    }


def _open(memories: Any) -> list[Json]:
    return [memory for memory in memories if not (memory.get("suspicious") or {}).get("held_back")]


def _summarize(asker: Asker, arguments: Json) -> Json:
    answer = asker.ask("summarize", {**scope_of(arguments), "query": arguments.get("query")})
    return found(asker, answer["points"], read=answer["read"])


_COLLECTIONS = Field(
    "collections", WORDS, "Only these; trails, heuristics and the like only where named, or all."
)
RECALL = Tool(
    "memory_recall",
    "Search what earlier sessions decided, learned, fixed and left open. Use before deciding or "
    "searching anew.",
    (need(QUERY), LIMIT, Field("all", YES, "Also what is near and does not fit."), *SCOPE),
    _recall,
    FOUND,
    reads=True,
    always=True,
)
LIST = Tool(
    "list_memories",
    "List memories, newest first.",
    (
        LIMIT,
        Field("offset", "integer", "How many to leave out first.", low=0, high=1_000_000),
        Field("collections", WORDS, "Only these collections."),
        *SCOPE,
    ),
    _list,
    FOUND,
    reads=True,
)
RAG = Tool(
    "rag_search",
    "Search the user's Markdown vault and all collections of memory together.",
    (
        need(QUERY),
        LIMIT,
        _COLLECTIONS,
        Field("read_vault", YES, "Read changed files of the vault first (default true)."),
        *SCOPE,
    ),
    _rag,
    FOUND,
    repeats=True,
)
TRACE = Tool(
    "memory_trace",
    "Explain a result: how each hit of a query got its score, or what was done with a memory.",
    (QUERY, ID, LIMIT, *SCOPE),
    _trace,
    FOUND,
    reads=True,
)
PROVENANCE = Tool(
    "memory_provenance",
    "Show a whole memory with where it comes from: session, file and lines, what it replaced, links, "
    "audit.",
    (need(ID),),
    _provenance,
    answer(
        "id! memory:memory said_in file verified:object merged:array history:array links:array audit:array notice! held_back:count"
    ),
    reads=True,
)
SESSION_RECALLED = Tool(
    "session_recalled",
    "List the memories that a session was shown by itself, and when; this session's by default.",
    (SESSION, LIMIT, PROJECT),
    _session_recalled,
    FOUND,
    reads=True,
)
IMPACT = Tool(
    "memory_impact",
    "What hangs on a memory or a file: links, memories about the same, newer decisions. Use before "
    "changing either.",
    (ID, Field("file", TEXT, "A file's path.", high=4_096), LIMIT, ALL_PROJECTS, PROJECT),
    _impact,
    answer(
        "about:memories links:array related:memories! newer_decisions:memories! total:count! notice! held_back:count"
    ),
    reads=True,
)
CONTRADICTION = Tool(
    "contradiction_check",
    "Check a statement, or a memory, against what is stored. Use before relying on it.",
    (Field("text", TEXT, "The statement.", high=20_000), ID, PROJECT),
    _contradictions,
    answer("contradictions:memories! agreements:memories! notice! held_back:count"),
    reads=True,
)
SUMMARIZE = Tool(
    "memory_summarize",
    "The sentences that say most about a topic, a session or a time, each with its memory.",
    (QUERY, SESSION, SINCE, UNTIL, TAGS, LIMIT, ALL_PROJECTS, PROJECT),
    _summarize,
    FOUND,
    reads=True,
)
TOOLS = (
    RECALL,
    RAG,
    SUMMARIZE,
    IMPACT,
    CONTRADICTION,
    PROVENANCE,
    TRACE,
    SESSION_RECALLED,
    RECALL.named("search_memory"),
    LIST,
)
