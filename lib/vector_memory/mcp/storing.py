"""Tools that store. What is known already is not stored again, and what speaks against something is shown
beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.mcp.asker import Asker
from vector_memory.mcp.fields import TEXT, WORDS, YES, Field
from vector_memory.mcp.finding import found
from vector_memory.mcp.outputs import STORED, answer
from vector_memory.mcp.telling import NOTICE, Json, Telling, say
from vector_memory.mcp.tool import LIMIT, PROJECT, QUERY, TAGS, Act, Tool

ORIGIN = "assistant"
STATUS = {
    "merged": "already_known",
    "unchanged": "already_known",
    "stored": "stored",
    "linked": "stored",
    "superseded": "replaced",
    "proposed": "proposed",
}
HINTS = {
    "already_known": "It was known already: nothing new was stored.",
    "contradicts": "It was stored, and contradicts what was said before. Ask the user which holds; "
    "then memory_link with relation supersedes, from the one that holds to the other.",
    "proposed": "A rule, what matters most, and what holds for all projects is the user's to decide: it waits "
    "and is not used until then. Tell the user: `vector-memory review` in a terminal of their own.",
    "replaced": "It took the place of the older one, which stays in its history.",
}
PRIORITIES = ("CORE", "HIGH", "NORMAL", "LOW")
PRIORITY = Field("priority", TEXT, "How much it matters; NORMAL by default.", choices=PRIORITIES)
KIND = Field(
    "kind", TEXT, "Such as decision, conclusion, solution, todo, preference, note.", high=60
)
FILES = Field("files", WORDS, "Files that it is about.", high=30)
GLOBAL = Field("global", YES, "For all projects of the user rather than this one.")
SUPERSEDES = Field("supersedes", TEXT, "Id of the memory whose place it takes.", high=64)


def store(asker: Asker, asked: Json) -> Json:
    """Store something as the assistant's words and tell what became of it."""
    done = asker.ask("remember", asked, origin=ORIGIN, session=asker.session)
    telling = Telling(asker.shown)
    status = STATUS.get(done["action"], "stored")
    memory = telling.memory({**done, "relation": None})
    others = telling.memories(done.get("links") or ())
    if any(other["relation"] == "contradicts" for other in others):
        status = "contradicts"
    result: Json = {"status": status, "others": others, "notice": NOTICE, **telling.held()}
    if memory is not None:
        result["memory"] = memory
    hint = HINTS.get(status) or _hint(done)
    return {**result, "hint": hint} if hint else result


def _hint(done: Json) -> str:
    if (done.get("suspicious") or {}).get("held_back"):
        return (
            "It looks like instructions to the model and is held back until the user releases it."
        )
    suggested = done.get("suggested_priority")
    return f"Its words suggest priority {suggested}." if suggested else ""


def _store(asker: Asker, arguments: Json) -> Json:
    asked = {name: value for name, value in arguments.items() if name != "short_term"}
    if arguments.get("short_term"):
        asked["collection"] = "short_term_memory"
    return store(asker, asked)


def _scratch(asker: Asker, arguments: Json) -> Json:
    answer = asker.ask("scratch", arguments, session=asker.session)
    asker.shown.add(str(note["id"]) for note in answer["notes"])
    notes = [
        {"key": say(note["title"]), "text": say(note["text"]), "id": note["id"][:12]}
        for note in answer["notes"]
    ]
    cleared = {"cleared": answer["cleared"]} if "cleared" in answer else {}
    return {"notes": notes, **cleared}


Compose = Callable[[Json], Json]


def _kept(collection: str, compose: Compose, needed: str) -> Act:
    """Return what stores in and searches one collection."""

    def act(asker: Asker, arguments: Json) -> Json:
        asked = {"project": arguments.get("project")}
        if arguments["action"] == "search":
            scope = {**asked, "k": arguments.get("limit"), "collection": [collection]}
            if arguments.get("query"):
                answer = asker.ask("recall", scope, query=arguments["query"])
                return found(asker, answer["hits"], arguments["query"])
            return found(asker, asker.ask("list", scope)["memories"])
        if not str(arguments.get(needed) or "").strip():
            raise BadInputError(f"{needed} is missing.", f"To store, give {needed}.")
        composed = {**asked, "collection": collection, "tags": arguments.get("tags")}
        return store(asker, {**composed, **compose(arguments)})

    return act


def _steps(steps: Any) -> list[str]:
    return [f"{number}. {step}" for number, step in enumerate(steps or (), 1)]


def _procedure(given: Json) -> Json:
    when = [f"When: {given['when']}"] if given.get("when") else []
    text = "\n".join([given["name"], *when, *_steps(given.get("steps"))])
    return {"text": text, "title": given["name"], "kind": "procedure"}


def _learning(given: Json) -> Json:
    why = f"\nBecause: {given['why']}" if given.get("why") else ""
    return {"text": given["text"] + why, "kind": "learning", "files": given.get("files")}


def _episode(given: Json) -> Json:
    outcome = f"\nOutcome: {given['outcome']}" if given.get("outcome") else ""
    return {"text": given["what"] + outcome, "kind": "episode", "files": given.get("files")}


def _trajectory(given: Json) -> Json:
    lines = [given["task"], *_steps(given.get("steps"))]
    outcome = [f"Outcome: {given['outcome']}"] if given.get("outcome") else []
    return {"text": "\n".join(lines + outcome), "title": given["task"], "kind": "trajectory"}


ACTION = Field("action", TEXT, "What to do.", True, ("store", "search"))
STEPS = Field("steps", WORDS, "The steps, in order.", high=50)
EITHER = answer(
    "status memory:memory others:memories notice! hint held_back:count memories:array mode"
)


def _collection(name: str, doc: str, collection: str, compose: Compose, *own: Field) -> Tool:
    fields = (ACTION, *own, TAGS, QUERY, LIMIT, PROJECT)
    return Tool(name, doc, fields, _kept(collection, compose, own[0].name), EITHER)


STORE = Tool(
    "memory_store",
    "Remember a decision, fact, preference or fix for later sessions: one self-contained statement. "
    "Known ones are not stored twice; contradictions are shown.",
    (
        Field("text", TEXT, "What to remember, understandable by itself.", True, high=20_000),
        KIND,
        TAGS,
        PRIORITY,
        FILES,
        Field("short_term", YES, "Keep it for a week only."),
        SUPERSEDES,
        GLOBAL,
        PROJECT,
    ),
    _store,
    STORED,
    repeats=True,
    always=True,
)
TOOLS = (
    STORE,
    Tool(
        "memory_scratch",
        "Notes of this session by key, kept for an hour: set, get, list, clear.",
        (
            Field("action", TEXT, "What to do.", True, ("set", "get", "list", "clear")),
            Field("key", TEXT, "The note's name.", high=100),
            Field("text", TEXT, "What to note.", high=8_000),
        ),
        _scratch,
        answer("notes:array! cleared:count notice"),
        repeats=True,
    ),
    _collection(
        "procedure",
        "Store or search procedures: how something is done here, step by step.",
        "procedures",
        _procedure,
        Field("name", TEXT, "What it does.", high=300),
        STEPS,
        Field("when", TEXT, "When to follow it.", high=1_000),
    ),
    _collection(
        "learning",
        "Store or search learnings: what was found to be so, and why.",
        "learnings",
        _learning,
        Field("text", TEXT, "What was learned.", high=8_000),
        Field("why", TEXT, "Why it is so.", high=4_000),
        FILES,
    ),
    _collection(
        "episode",
        "Store or search episodes: what happened, and what came of it.",
        "episodes",
        _episode,
        Field("what", TEXT, "What happened.", high=8_000),
        Field("outcome", TEXT, "What came of it.", high=4_000),
        FILES,
    ),
    _collection(
        "trajectory",
        "Store or search trajectories: the steps of a task, and whether they led there.",
        "trajectories",
        _trajectory,
        Field("task", TEXT, "The task.", high=300),
        STEPS,
        Field("outcome", TEXT, "How it ended.", choices=("success", "failure", "partial")),
    ),
    STORE.named("store_memory"),
)
