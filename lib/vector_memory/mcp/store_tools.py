"""Tools that store. What is known already is not stored again, and what speaks against something is shown
beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.mcp.caller import Caller
from vector_memory.mcp.model_answers import Json, say, short_id
from vector_memory.mcp.search_tools import looked_up
from vector_memory.mcp.tool import Act, does, page, spoken_answer
from vector_memory.model import DEFAULT_COLLECTION

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
    "near": "Near it stands what was said before. Where the new one ended that: memory_link with relation supersedes, "
    "from the new one to it; else do nothing.",
    "proposed": "A rule, what matters most, and what holds for all projects is the user's to decide: it waits "
    "and is not used until then. Tell the user: `vector-memory review` in a terminal of their own.",
    "replaced": "It took the place of the older one, which stays in its history.",
}
NEAR = "near"
MOST_NOTES = 50
"""Of a session's scratch notes on one page, which are all that it may have."""


def new_id() -> str:
    """Return an id for a memory that is to be stored, by which a daemon knows it when it is asked again."""
    return os.urandom(16).hex()


def store(caller: Caller, request: Json) -> Json:
    """Store something as the assistant's words and tell what became of it. A daemon that is killed meanwhile
    loses nothing and stores nothing twice: the next one is asked for a memory of the same id."""
    id = new_id()
    answer = caller.ask("remember", request, id=id, origin=ORIGIN, session=caller.session)
    status = "stored" if answer["id"] == id else "already_known"
    status = STATUS.get(answer["action"], status)
    memory = caller.answers.memory({**answer, "relation": None})
    neighbours = [{**neighbour, "relation": NEAR} for neighbour in answer.get("near") or ()]
    related = caller.answers.memories([*(answer.get("links") or ()), *neighbours])
    if any(relative["relation"] == "contradicts" for relative in related):
        status = "contradicts"
    hint = HINTS.get(status) or _hint(answer) or (HINTS[NEAR] if neighbours else None)
    return {"status": status, "others": related, "memory": memory, "hint": hint}


def _hint(answer: Json) -> str | None:
    if (answer.get("suspicious") or {}).get("held_back"):
        return (
            "It looks like instructions to the model and is held back until the user releases it."
        )
    suggested = answer.get("suggested_priority")
    return f"Its words suggest priority {suggested}." if suggested else None


@does("memory_store")
def remember(caller: Caller, arguments: Json) -> Json:
    """Store a memory of the model's."""
    request = {name: value for name, value in arguments.items() if name != "short_term"}
    if arguments.get("short_term"):
        request["collection"] = "short_term_memory"
    return store(caller, request)


@does("memory_scratch")
def scratch(caller: Caller, arguments: Json) -> Json:
    """Set, get, list or clear notes of the session."""
    answer = caller.ask("scratch", arguments, session=caller.session)
    notes, following = page(answer["notes"], arguments, MOST_NOTES)
    caller.shown.add(str(note["id"]) for note in notes)
    views = [
        {"key": say(note["title"]), "text": say(note["text"]), "id": short_id(note["id"])}
        for note in notes
    ]
    return {"notes": views, "cleared": answer.get("cleared"), "next_cursor": following}


Compose = Callable[[Json], Json]


def _collection(name: str, collection: str, needed: str) -> Callable[[Compose], Act]:
    """Return a decorator: of a function that composes a memory it makes a tool that stores in one collection, and
    searches it.

    Args:
        needed: what has to be given to store.
    """

    def make_act(compose: Compose) -> Act:
        def act(caller: Caller, arguments: Json) -> Json:
            arguments = _labels_as_tags(arguments)
            if arguments["action"] == "search":
                return _search(caller, collection, name, arguments)
            if not str(arguments.get(needed) or "").strip():
                raise BadInputError(f"{needed} is missing.", f"To store, give {needed}.")
            fields = {name: arguments.get(name) for name in ("project", "tags", "files")}
            return store(caller, {**fields, "collection": collection, **compose(arguments)})

        return does(name)(act)

    return make_act


LABELS = {"domain": "domain:", "error_type": "error:"}
"""Arguments that are kept as tags, with what stands before them there."""


def _labels_as_tags(arguments: Json) -> Json:
    """Return arguments with those of `LABELS` among the tags, in one form however they are written."""
    labels = [
        mark + "-".join(str(arguments[name]).lower().split())
        for name, mark in LABELS.items()
        if arguments.get(name)
    ]
    return {**arguments, "tags": [*(arguments.get("tags") or ()), *labels]} if labels else arguments


OF_KIND = 50_000
"""From this cursor on pages are of a kind among the usual memories, those of a collection being told."""


def _search(caller: Caller, collection: str, kind: str, arguments: Json) -> Json:
    """Return what is in a collection, and after its last memory those of a kind among the usual ones, which were
    remembered or imported without a collection."""
    cursor = arguments.get("cursor") or 0
    answer: Json = {"memories": [], "next_cursor": None}
    if cursor < OF_KIND:
        answer = looked_up(caller, arguments, collection=[collection])
    if answer["next_cursor"] is None:
        further = {**arguments, "cursor": max(0, cursor - OF_KIND)}
        of_kind = looked_up(caller, further, collection=[DEFAULT_COLLECTION], kind=[kind])
        following = of_kind["next_cursor"]
        of_kind["memories"] = [*answer["memories"], *of_kind["memories"]]
        of_kind["next_cursor"] = None if following is None else OF_KIND + following
        return of_kind
    return answer


def _steps(steps: Any) -> list[str]:
    return [f"{number}. {_without_number(step)}" for number, step in enumerate(steps or (), 1)]


def _without_number(step: str) -> str:
    """Return a step without the number or the dash that its writer put before it."""
    mark, _, words = step.strip().partition(" ")
    is_numbered = mark[:-1].isdigit() and mark.endswith((".", ")"))
    return words.strip() if words and (is_numbered or mark in ("-", "*")) else step


def _label(label: str, value: Any) -> list[str]:
    return [f"{label}: {value}"] if value else []


@_collection("procedure", "procedures", "name")
def procedure(fields: Json) -> Json:
    """Return how something is done, as a memory."""
    lines = [fields["name"], *_label("When", fields.get("when")), *_steps(fields.get("steps"))]
    memory = {"text": "\n".join(lines), "title": fields["name"], "kind": "procedure"}
    return {**memory, "triggers": fields.get("triggers")}


@_collection("learning", "learnings", "text")
def learning(fields: Json) -> Json:
    """Return what was found to be so, as a memory."""
    lines = [fields["text"], *_label("Because", fields.get("why"))]
    return {"text": "\n".join(lines), "kind": "learning"}


@does("episode")
def episode(caller: Caller, arguments: Json) -> Json:
    """Store what happened, at once or as it goes on."""
    action = arguments["action"]
    if action == "search":
        return _search(caller, "episodes", "episode", arguments)
    if action in ("update", "complete"):
        return _continue_episode(caller, action, arguments)
    if not str(arguments.get("what") or "").strip():
        raise BadInputError("what is missing.", f"To {action}, give what.")
    lines, tags = [arguments["what"]], list(arguments.get("tags") or ())
    if action == "start":
        lines += [f"- {arguments['step']}"] if arguments.get("step") else []
        tags.append("open")
    else:
        lines += _label("Outcome", arguments.get("outcome"))
    fields = {name: arguments.get(name) for name in ("project", "files")}
    text = "\n".join(lines)
    return store(
        caller, {**fields, "tags": tags, "collection": "episodes", "kind": "episode", "text": text}
    )


def _continue_episode(caller: Caller, action: str, arguments: Json) -> Json:
    needed = ("id", "outcome" if action == "complete" else "step")
    for name in needed:
        if not str(arguments.get(name) or "").strip():
            raise BadInputError(f"{name} is missing.", f"To {action}, give {' and '.join(needed)}.")
    request = {name: arguments.get(name) for name in ("id", "step", "project")}
    outcome = arguments.get("outcome") if action == "complete" else None
    answer = caller.ask("episode", request, outcome=outcome)
    return {"status": answer["status"], "memory": caller.answers.memory(answer["memory"])}


@_collection("trajectory", "trajectories", "task")
def trajectory(fields: Json) -> Json:
    """Return the steps of a task, as a memory."""
    steps, outcome = _steps(fields.get("steps")), _label("Outcome", fields.get("outcome"))
    text = "\n".join([fields["task"], *steps, *outcome])
    return {"text": text, "title": fields["task"], "kind": "trajectory"}


@does("multimodal_input")
def multimodal_input(caller: Caller, arguments: Json) -> Json:
    """Read a file, and keep what it shows where that is asked for."""
    answer = caller.ask("multimodal_input", arguments, id=new_id(), session=caller.session)
    memory = answer.pop("memory", None)
    # What stands in a file is its author's word.
    view = spoken_answer(answer, foreign=not arguments.get("text"))
    view |= {"path": say(answer["path"]), "earlier": short_id(answer["earlier"])}
    return {**view, "id": short_id(memory["id"]) if memory else None}
