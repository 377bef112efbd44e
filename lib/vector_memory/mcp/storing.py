"""Tools that store. What is known already is not stored again, and what speaks against something is shown
beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from vector_memory.errors import BadInputError
from vector_memory.mcp.caller import Caller
from vector_memory.mcp.finding import looked_up
from vector_memory.mcp.telling import Json, say, short
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


def store(caller: Caller, asked: Json) -> Json:
    """Store something as the assistant's words and tell what became of it. A daemon that is killed meanwhile
    loses nothing and stores nothing twice: the next one is asked for a memory of the same id."""
    id = new_id()
    done = caller.ask("remember", asked, id=id, origin=ORIGIN, session=caller.session)
    status = "stored" if done["id"] == id else "already_known"
    status = STATUS.get(done["action"], status)
    memory = caller.told.memory({**done, "relation": None})
    near = [{**one, "relation": NEAR} for one in done.get("near") or ()]
    others = caller.told.memories([*(done.get("links") or ()), *near])
    if any(other["relation"] == "contradicts" for other in others):
        status = "contradicts"
    hint = HINTS.get(status) or _hint(done) or (HINTS[NEAR] if near else None)
    return {"status": status, "others": others, "memory": memory, "hint": hint}


def _hint(done: Json) -> str | None:
    if (done.get("suspicious") or {}).get("held_back"):
        return (
            "It looks like instructions to the model and is held back until the user releases it."
        )
    suggested = done.get("suggested_priority")
    return f"Its words suggest priority {suggested}." if suggested else None


@does("memory_store")
def remember(caller: Caller, arguments: Json) -> Json:
    """Store a memory of the model's."""
    asked = {name: value for name, value in arguments.items() if name != "short_term"}
    if arguments.get("short_term"):
        asked["collection"] = "short_term_memory"
    return store(caller, asked)


@does("memory_scratch")
def scratch(caller: Caller, arguments: Json) -> Json:
    """Set, get, list or clear notes of the session."""
    answer = caller.ask("scratch", arguments, session=caller.session)
    notes, following = page(answer["notes"], arguments, MOST_NOTES)
    caller.shown.add(str(note["id"]) for note in notes)
    views = [
        {"key": say(note["title"]), "text": say(note["text"]), "id": short(note["id"])}
        for note in notes
    ]
    return {"notes": views, "cleared": answer.get("cleared"), "next_cursor": following}


Compose = Callable[[Json], Json]


def _collection(name: str, collection: str, needed: str) -> Callable[[Compose], Act]:
    """Return what makes a tool that stores in and searches one collection, of what composes a memory.

    Args:
        needed: what has to be given to store.
    """

    def made(compose: Compose) -> Act:
        def act(caller: Caller, arguments: Json) -> Json:
            arguments = _labels_as_tags(arguments)
            if arguments["action"] == "search":
                return _searched(caller, collection, name, arguments)
            if not str(arguments.get(needed) or "").strip():
                raise BadInputError(f"{needed} is missing.", f"To store, give {needed}.")
            asked = {name: arguments.get(name) for name in ("project", "tags", "files")}
            return store(caller, {**asked, "collection": collection, **compose(arguments)})

        return does(name)(act)

    return made


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


def _searched(caller: Caller, collection: str, kind: str, arguments: Json) -> Json:
    """Return what is in a collection, and after the last of it what of a kind is among the usual memories: remembered
    or imported without a collection."""
    cursor = arguments.get("cursor") or 0
    answer: Json = {"memories": [], "next_cursor": None}
    if cursor < OF_KIND:
        answer = looked_up(caller, arguments, collection=[collection])
    if answer["next_cursor"] is None:
        rest = {**arguments, "cursor": max(0, cursor - OF_KIND)}
        others = looked_up(caller, rest, collection=[DEFAULT_COLLECTION], kind=[kind])
        following = others["next_cursor"]
        others["memories"] = [*answer["memories"], *others["memories"]]
        others["next_cursor"] = None if following is None else OF_KIND + following
        return others
    return answer


def _steps(steps: Any) -> list[str]:
    return [f"{number}. {_unnumbered(step)}" for number, step in enumerate(steps or (), 1)]


def _unnumbered(step: str) -> str:
    """Return a step without the number or the dash that its writer put before it."""
    mark, _, rest = step.strip().partition(" ")
    is_numbered = mark[:-1].isdigit() and mark.endswith((".", ")"))
    return rest.strip() if rest and (is_numbered or mark in ("-", "*")) else step


def _labelled(label: str, value: Any) -> list[str]:
    return [f"{label}: {value}"] if value else []


@_collection("procedure", "procedures", "name")
def procedure(given: Json) -> Json:
    """Return how something is done, as a memory."""
    lines = [given["name"], *_labelled("When", given.get("when")), *_steps(given.get("steps"))]
    asked = {"text": "\n".join(lines), "title": given["name"], "kind": "procedure"}
    return {**asked, "triggers": given.get("triggers")}


@_collection("learning", "learnings", "text")
def learning(given: Json) -> Json:
    """Return what was found to be so, as a memory."""
    lines = [given["text"], *_labelled("Because", given.get("why"))]
    return {"text": "\n".join(lines), "kind": "learning"}


@does("episode")
def episode(caller: Caller, arguments: Json) -> Json:
    """Store what happened, at once or as it goes on."""
    action = arguments["action"]
    if action == "search":
        return _searched(caller, "episodes", "episode", arguments)
    if action in ("update", "complete"):
        return _gone_on(caller, action, arguments)
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
        caller, {**asked, "tags": tags, "collection": "episodes", "kind": "episode", "text": text}
    )


def _gone_on(caller: Caller, action: str, arguments: Json) -> Json:
    needed = ("id", "outcome" if action == "complete" else "step")
    for name in needed:
        if not str(arguments.get(name) or "").strip():
            raise BadInputError(f"{name} is missing.", f"To {action}, give {' and '.join(needed)}.")
    asked = {name: arguments.get(name) for name in ("id", "step", "project")}
    outcome = arguments.get("outcome") if action == "complete" else None
    done = caller.ask("episode", asked, outcome=outcome)
    return {"status": done["status"], "memory": caller.told.memory(done["memory"])}


@_collection("trajectory", "trajectories", "task")
def trajectory(given: Json) -> Json:
    """Return the steps of a task, as a memory."""
    steps, outcome = _steps(given.get("steps")), _labelled("Outcome", given.get("outcome"))
    text = "\n".join([given["task"], *steps, *outcome])
    return {"text": text, "title": given["task"], "kind": "trajectory"}


@does("multimodal_input")
def multimodal_input(caller: Caller, arguments: Json) -> Json:
    """Read a file, and keep what it shows where that is asked for."""
    answer = caller.ask("multimodal_input", arguments, id=new_id(), session=caller.session)
    memory = answer.pop("memory", None)
    # What stands in a file is its author's word.
    view = spoken_answer(answer, foreign=not arguments.get("text"))
    view |= {"path": say(answer["path"]), "earlier": short(answer["earlier"])}
    return {**view, "id": short(memory["id"]) if memory else None}
