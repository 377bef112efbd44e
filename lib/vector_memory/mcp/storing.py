"""Tools that store. What is known already is not stored again, and what speaks against something is shown
beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.mcp.asker import Asker
from vector_memory.mcp.finding import DEFAULT, found, next_of
from vector_memory.mcp.telling import Json, Telling, say, short
from vector_memory.mcp.tool import Act, does, page, spoken_answer

ORIGIN = "assistant"
STATUS = {
    "merged": "already_known",
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
MOST_NOTES = 50
"""Of a session's scratch notes on one page, which are all that it may have."""


def new_id() -> str:
    """Return an id for a memory that is to be stored, by which a daemon knows it when it is asked again."""
    return os.urandom(16).hex()


def store(asker: Asker, asked: Json) -> Json:
    """Store something as the assistant's words and tell what became of it. A daemon that is killed meanwhile
    loses nothing and stores nothing twice: the next one is asked for a memory of the same id."""
    id = new_id()
    done = asker.ask("remember", asked, id=id, origin=ORIGIN, session=asker.session)
    telling = Telling(asker.shown)
    status = "stored" if done["id"] == id else "already_known"
    status = STATUS.get(done["action"], status)
    memory = telling.memory({**done, "relation": None})
    others = telling.memories(done.get("links") or ())
    if any(other["relation"] == "contradicts" for other in others):
        status = "contradicts"
    result: Json = {"status": status, "others": others, **telling.held()}
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


@does("memory_store")
def remember(asker: Asker, arguments: Json) -> Json:
    """Store a memory of the model's."""
    asked = {name: value for name, value in arguments.items() if name != "short_term"}
    if arguments.get("short_term"):
        asked["collection"] = "short_term_memory"
    return store(asker, asked)


@does("memory_scratch")
def scratch(asker: Asker, arguments: Json) -> Json:
    """Set, get, list or clear notes of the session."""
    answer = asker.ask("scratch", arguments, session=asker.session)
    notes, following = page(answer["notes"], arguments, MOST_NOTES)
    asker.shown.add(str(note["id"]) for note in notes)
    told: Json = {
        "notes": [
            {"key": say(note["title"]), "text": say(note["text"]), "id": short(note["id"])}
            for note in notes
        ]
    }
    more = {"cleared": answer.get("cleared"), "next_cursor": following}
    return told | {name: value for name, value in more.items() if value is not None}


Compose = Callable[[Json], Json]


def _collection(name: str, collection: str, needed: str) -> Callable[[Compose], Act]:
    """Return what makes a tool that stores in and searches one collection, of what composes a memory.

    Args:
        needed: what has to be given to store.
    """

    def made(compose: Compose) -> Act:
        def act(asker: Asker, arguments: Json) -> Json:
            arguments = _labels_as_tags(arguments)
            if arguments["action"] == "search":
                return _searched(asker, collection, arguments)
            if not str(arguments.get(needed) or "").strip():
                raise BadInputError(f"{needed} is missing.", f"To store, give {needed}.")
            asked = {name: arguments.get(name) for name in ("project", "tags", "files")}
            return store(asker, {**asked, "collection": collection, **compose(arguments)})

        return does(name)(act)

    return made


LABELS = {"domain": "domain:", "error_type": "error:"}
"""Arguments that are kept as tags, with what stands before them there."""


def _labels_as_tags(arguments: Json) -> Json:
    """Return arguments with those of `LABELS` among the tags, in one form however they are written."""
    told = [
        mark + "-".join(str(arguments[name]).lower().split())
        for name, mark in LABELS.items()
        if arguments.get(name)
    ]
    return {**arguments, "tags": [*(arguments.get("tags") or ()), *told]} if told else arguments


def _searched(asker: Asker, collection: str, arguments: Json) -> Json:
    k, start = arguments.get("limit") or DEFAULT, arguments.get("cursor") or 0
    scope = {"project": arguments.get("project"), "tag": arguments.get("tags")}
    scope |= {"k": k, "offset": start, "collection": [collection]}
    query = arguments.get("query") or ""
    if query:
        memories = asker.ask("recall", scope, query=query)["hits"]
    else:
        memories = asker.ask("list", scope)["memories"]
    return found(asker, memories, query, next_cursor=next_of(memories, k, start))


def _steps(steps: Any) -> list[str]:
    return [f"{number}. {step}" for number, step in enumerate(steps or (), 1)]


def _labelled(label: str, value: Any) -> list[str]:
    return [f"{label}: {value}"] if value else []


@_collection("procedure", "procedures", "name")
def procedure(given: Json) -> Json:
    """Return how something is done, as a memory."""
    lines = [given["name"], *_labelled("When", given.get("when")), *_steps(given.get("steps"))]
    triggers = {"triggers": given["triggers"]} if given.get("triggers") else {}
    return {"text": "\n".join(lines), "title": given["name"], "kind": "procedure", **triggers}


@_collection("learning", "learnings", "text")
def learning(given: Json) -> Json:
    """Return what was found to be so, as a memory."""
    lines = [given["text"], *_labelled("Because", given.get("why"))]
    return {"text": "\n".join(lines), "kind": "learning"}


@does("episode")
def episode(asker: Asker, arguments: Json) -> Json:
    """Store what happened, at once or as it goes on."""
    action = arguments["action"]
    if action == "search":
        return _searched(asker, "episodes", arguments)
    if action in ("update", "complete"):
        return _gone_on(asker, action, arguments)
    if not str(arguments.get("what") or "").strip():
        raise BadInputError("what is missing.", f"To {action}, give what.")
    lines, tags = [arguments["what"]], list(arguments.get("tags") or ())
    if action == "start":
        lines += [f"- {arguments['step']}"] if arguments.get("step") else []
        tags.append("open")
    else:
        lines += _labelled("Outcome", arguments.get("outcome"))
    asked = {name: arguments.get(name) for name in ("project", "files")}
    text = "\n".join(lines)
    return store(
        asker, {**asked, "tags": tags, "collection": "episodes", "kind": "episode", "text": text}
    )


def _gone_on(asker: Asker, action: str, arguments: Json) -> Json:
    needed = ("id", "outcome" if action == "complete" else "step")
    for name in needed:
        if not str(arguments.get(name) or "").strip():
            raise BadInputError(f"{name} is missing.", f"To {action}, give {' and '.join(needed)}.")
    asked = {name: arguments.get(name) for name in ("id", "step", "project")}
    outcome = arguments.get("outcome") if action == "complete" else None
    done = asker.ask("episode", asked, outcome=outcome)
    telling = Telling(asker.shown)
    memory = telling.memory(done["memory"])
    return {"status": done["status"], **telling.held(), **({"memory": memory} if memory else {})}


@_collection("trajectory", "trajectories", "task")
def trajectory(given: Json) -> Json:
    """Return the steps of a task, as a memory."""
    steps, outcome = _steps(given.get("steps")), _labelled("Outcome", given.get("outcome"))
    text = "\n".join([given["task"], *steps, *outcome])
    return {"text": text, "title": given["task"], "kind": "trajectory"}


@does("multimodal_input")
def multimodal_input(asker: Asker, arguments: Json) -> Json:
    """Read a file, and keep what it shows where that is asked for."""
    answer = asker.ask("multimodal_input", arguments, id=new_id(), session=asker.session)
    memory = answer.pop("memory", None)
    # What stands in a file is its author's word.
    told = spoken_answer(answer, foreign=not arguments.get("text"))
    told |= {"path": say(answer["path"]), "earlier": short(answer["earlier"])}
    return {**told, "id": short(memory["id"])} if memory else told
