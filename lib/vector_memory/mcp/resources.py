"""Resources: what matters, and how memory stands, as pages that a client can read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from vector_memory.errors import NotFoundError
from vector_memory.mcp.caller import Caller
from vector_memory.mcp.model_answers import NOTICE, Json, say
from vector_memory.model import QUIET
from vector_memory.standing import NOTED_ON
from vector_memory.text import tables

MARKDOWN, JSON = "text/markdown", "application/json"
STATS, PROJECT = "memory://stats", "memory://project/"
TEMPLATE = PROJECT + "{id}"
TOKENS = 200
"""Of each memory on a page."""
MOST = 20
MOST_PROJECTS = 50


@dataclass(frozen=True)
class Page:
    """What is made of memory for a client to show: a resource, whose name is its address, or a prompt of a menu."""

    name: str
    title: str
    doc: str
    make: Callable[[Caller], str]

    @property
    def mime(self) -> str:
        """Of what type a resource is."""
        return JSON if self.name == STATS else MARKDOWN


def pages(makes: Mapping[str, Callable[[Caller], str]]) -> dict[str, Page]:
    """Return pages by their names and what makes each, in the order of `pages.txt`, which has their names, titles and what
    is in them."""
    rows = [line.split(" | ") for line in tables.lines("pages", os.path.dirname(__file__))]
    return {name: Page(name, title, doc, makes[name]) for name, title, doc in rows if name in makes}


def _important(priority: str) -> Callable[[Caller], str]:
    def make(caller: Caller) -> str:
        answer = caller.ask("important", {"priority": priority, "k": MOST})
        lines = [f"# {priority} memories", "", NOTICE, ""]
        lines += list_items(caller, answer["memories"])
        if answer["total"] > MOST:
            lines.append(f"\n{answer['total'] - MOST} more: list_memories shows them.")
        return "\n".join(lines) + "\n"

    return make


def _project(caller: Caller, id: str) -> str:
    answer = caller.ask("overview", {"id": id})
    lines = [f"# {line(answer['name'])}", "", f"{answer['total']} memories. {NOTICE}"]
    for title, name in (("Important", "important"), ("Open", "open"), ("Decided", "decided")):
        if answer[name]:
            lines += ["", f"## {title}", "", *list_items(caller, answer[name])]
    return "\n".join(lines) + "\n"


def list_items(caller: Caller, memories: list[Json]) -> list[str]:
    """Return memories as items of a list, each dated and sourced, its words indented."""
    lines = []
    for memory in caller.answers.memories(memories, TOKENS):
        mark = " · foreign" if memory.get("foreign") else ""
        mark += " · found by a language model" if memory.get("by_model") else ""
        marks = {
            "state": "",
            "due": "due ",
            **{name: f"{words} " for name, words in NOTED_ON.items()},
            "why": "",
        }
        mark += "".join(
            f" · {words}{memory[name]}" for name, words in marks.items() if memory.get(name)
        )
        head = f"- {memory['date']} · {memory['kind']} · {memory['origin']}{mark} · {memory['id']}"
        lines += [line(head), *("  " + line for line in memory["text"].split("\n"))]
    return lines or ["None."]


def line(text: Any) -> str:
    """Return a text on one line, in which nothing looks like a tag."""
    return " ".join(say(text).split())


def _stats(caller: Caller) -> str:
    stats = caller.ask("stats", {"all_projects": True})
    projects = list(stats["by_project"].items())[:MOST_PROJECTS]
    counts = stats["by_collection"]
    figures = {
        "memories": stats["memories"],
        "by_kind": _named(stats["by_kind"]),
        "by_collection": _named({name: n for name, n in counts.items() if name not in QUIET}),
        # They are no memories, and no part of the sum above.
        "beside_them": _named({name: n for name, n in counts.items() if name in QUIET}),
        "by_project": {say(name): n for name, n in projects},
        "pending_vectors": sum(store["pending_vectors"] for store in stats["stores"]),
        "embedding": {name: say(value) for name, value in stats["embedding"].items()},
    }
    return json.dumps(figures, indent=2, ensure_ascii=False)


def _named(counts: Json) -> Json:
    return {say(name): n for name, n in list(counts.items())[:MOST_PROJECTS]}


PAGES = pages({
    "memory://core": _important("CORE"),
    "memory://high": _important("HIGH"),
    STATS: _stats,
    PROJECT + "current": lambda caller: _project(caller, "current"),
})  # fmt: skip


def read(caller: Caller, uri: str) -> tuple[str, str]:
    """Return a resource's text and its type.

    Raises:
        NotFoundError: there is no such resource or project.
    """
    if page := PAGES.get(uri):
        return page.make(caller), page.mime
    if uri.startswith(PROJECT):
        return _project(caller, unquote(uri[len(PROJECT) :])), MARKDOWN
    raise NotFoundError(
        f"There is no resource {say(uri)[:80]!r}.", f"Resources: {', '.join(PAGES)}."
    )
