"""What a tool is, and the arguments that many tools have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from vector_memory.aging import Every
from vector_memory.errors import BadInputError
from vector_memory.mcp.asker import Asker, Json
from vector_memory.mcp.fields import NUMBER, TEXT, WORDS, YES, Field
from vector_memory.mcp.outputs import answer
from vector_memory.mcp.shown import MOST_AT_ONCE
from vector_memory.model import (
    COLLECTIONS,
    DECISION,
    DERIVED,
    INTENTS,
    JURISDICTIONS,
    PASSAGE,
    PREFERENCE,
    PROBLEM,
    QUESTION,
    RULES,
    SOLUTION,
    TODO,
    Priority,
    Relation,
    Sensitivity,
    Temporal,
    unique,
)

RELATIONS = tuple(map(str, Relation))
PLACES = ("permanent", "learning", "procedure", "priority", "warm", "long_term", "cold")
T = TypeVar("T")
Act = Callable[[Asker, Json], Json]


@dataclass(frozen=True)
class Tool:
    """One tool: its name, what the model reads of it, its arguments, what it does, and its answer's shape.

    Attributes:
        reads: it changes nothing.
        destroys: it may take something away for good.
        repeats: doing it again changes nothing more.
        always: the model sees it without having to search for tools.
        listed: it stands in the list of tools; an alias only answers.
        also: its aliases.
    """

    name: str
    doc: str
    fields: tuple[Field, ...]
    act: Act
    output: Json
    reads: bool = False
    destroys: bool = False
    repeats: bool = False
    always: bool = False
    listed: bool = True
    also: tuple[str, ...] = ()

    @property
    def aliases(self) -> tuple[Tool, ...]:
        """The same tool under its other names."""
        unlisted = replace(self, always=False, listed=False, also=())
        return tuple(replace(unlisted, name=name) for name in self.also)


def tool(
    name: str,
    takes: str,
    answers: str,
    marks: str = "",
    also: str = "",
    own: Mapping[str, Field] | None = None,
) -> Callable[[Act], Tool]:
    """Return what makes a tool of a function, whose docstring is what the model reads of it.

    Args:
        takes: its arguments as keys of `FIELDS`, with spaces between, "!" behind what has to be given, and "~"
            behind what the schema does not list.
        answers: its answer, as `outputs.answer` reads it.
        marks: which of `reads`, `destroys`, `repeats`, `always` and `unlisted` it is.
        also: other names under which it answers.
        own: arguments that other tools have not, by the same keys: these go before those of `FIELDS`.
    """
    known = {**FIELDS, **(own or {})}

    def made(act: Act) -> Tool:
        fields = tuple(
            replace(known[key.rstrip("!~")], required=key.endswith("!"), is_listed=key[-1] != "~")
            for key in takes.split()
        )
        is_marked = {mark: True for mark in marks.split() if mark != "unlisted"}
        listed, doc = "unlisted" not in marks.split(), " ".join(str(act.__doc__).split())
        others = tuple(also.split())
        return Tool(
            name, doc, fields, act, answer(answers), listed=listed, also=others, **is_marked
        )

    return made


TOLD_KINDS = (DECISION, SOLUTION, PROBLEM, TODO, QUESTION, PREFERENCE, "rule", "fact", "note")
OTHER_KINDS = (*INTENTS, *RULES, "fix", "learning", "episode", "trajectory")
STORED_KINDS = unique((*TOLD_KINDS, *OTHER_KINDS))
"""Kinds of what is stored by hand; those that are seldom wanted are taken and not told."""
PRIORITIES = tuple(map(str, Priority))
FIELDS = {
    "action": Field("action", TEXT, choices=("store", "search")),
    "all": Field("all", YES, "Also what is near and does not fit."),
    "all_projects": Field("all_projects", YES),
    "apply": Field("apply", YES),
    "before": Field("before", TEXT, "Older than this date.", high=40),
    "collections": Field("collections", WORDS, "Such as learnings, procedures.", choices=tuple(COLLECTIONS)),
    "campaign": Field("action", TEXT, choices=("run", "report", "trend")),
    "candidates": Field("candidates", WORDS, "Agents or models.", high=20),
    "closeness": Field("closeness", NUMBER, "Percent, for what is merely close (92).", low=92, high=100),
    "content": Field("text", TEXT, "What it shows or says; needed for pictures and recordings.", high=8_000),
    "categories": Field("categories", WORDS, "All six by default.", high=6),
    "cursor": Field("cursor", NUMBER, "next_cursor of the page before.", low=0, also=("offset",)),
    "cycle": Field("action", TEXT, choices=("run", "status", "history")),
    "depth": Field("depth", NUMBER, "Links far (3).", low=1, high=3),
    "direction": Field("direction", TEXT, "up by default.", choices=("up", "down")),
    "domain": Field("domain", TEXT, "Such as build, auth.", high=60),
    "due": Field("due", TEXT, "Deadline or first day.", high=60),
    "dry_run": Field("dry_run", YES, "Only show what would be done (default true)."),
    "episode": Field("action", TEXT, choices=("start", "update", "complete", "search", "store")),
    "error_type": Field("error_type", TEXT, "Such as timeout.", high=60),
    "every": Field("every", TEXT, choices=tuple(one.value for one in Every)),
    "expires": Field("expires", TEXT, "When it may go.", high=60),
    "fate": Field("to", TEXT, "cold by default.", choices=("cold", "gone")),
    "file": Field("file", TEXT, "A path.", high=4_096),
    "files": Field("files", WORDS, "Files that it is about.", high=30),
    "from": Field("from", TEXT, "Id of the memory that the link starts from.", high=64),
    "global": Field("global", YES, "For all projects of the user."),
    "half_life_days": Field("half_life_days", NUMBER, "0: never ages.", low=0, high=36_500),
    "id": Field("id", TEXT, "A memory's id, as shown.", high=64),
    "ids": Field("ids", WORDS, "Ids of memories, as shown.", high=50),
    "jurisdiction": Field("jurisdiction", TEXT, choices=JURISDICTIONS),
    "key": Field("key", TEXT, high=100),
    "jurisdictions": Field("jurisdictions", WORDS, choices=JURISDICTIONS),
    "kind": Field("kind", TEXT, choices=STORED_KINDS, told=len(TOLD_KINDS), also=("type", "category")),
    "kinds": Field("kinds", WORDS, "Such as decision, solution, todo."),
    "least": Field("least", NUMBER, "Judged tasks; 5 by default.", low=5, high=1_000),
    "limit": Field("limit", NUMBER, low=1, high=100),
    "media": Field("kind", TEXT, choices=("diagram", "image", "audio")),
    "name": Field("name", TEXT, "What it does.", high=300),
    "note": Field("note", TEXT, "How it was checked.", high=500),
    "organizing": Field("action", TEXT, choices=("suggest", "traverse", "cluster", "run")),
    "outcome": Field("outcome", TEXT, high=4_000),
    "path": Field("path", TEXT, "A file or folder.", high=4_096),
    "paths": Field("paths", WORDS, high=50, also=("path", "file_paths"), split="\n"),
    "priorities": Field("priorities", WORDS, ", ".join(PRIORITIES), choices=PRIORITIES),
    "priority": Field("priority", TEXT, choices=PRIORITIES),
    "entry": Field("entry", NUMBER, "An entry of the audit log.", low=1, high=1 << 53),
    "project": Field("project", TEXT, "Another project's folder.", high=4_096),
    "properties": Field("properties", WORDS, "All by default.", high=50),
    "query": Field("query", TEXT, "Words or a question.", high=8_000),
    "rag_collections": Field("collections", WORDS, 'Only these; "all" for trails and heuristics too.'),
    "read_vault": Field("read_vault", YES, "Read changed notes first (default true)."),
    "relation": Field("relation", TEXT, "What the first is to the second.", choices=RELATIONS),
    "remove": Field("remove", YES, "Remove it instead."),
    "scenario": Field("scenario", TEXT, choices=("settings", "prune", "consolidate")),
    "scratch": Field("action", TEXT, choices=("set", "get", "list", "clear")),
    "pair": Field("ids", WORDS, "Two that contradict each other.", high=2),
    "resolve": Field("resolve", TEXT, choices=("keep_newer", "keep_first", "both_hold")),
    "sensitivity_max": Field("sensitivity_max", TEXT, choices=tuple(map(str, Sensitivity))),
    "sort": Field("sort", TEXT, choices=("newest", "oldest", "priority", "uses")),
    "tiers": Field("tiers", WORDS, choices=("hot", "warm", "long_term", "cold")),
    "sensitivity": Field("sensitivity", TEXT, choices=tuple(map(str, Sensitivity))),
    "session": Field("session", TEXT, "A session's id.", high=200),
    "short_term": Field("short_term", YES, "For a week only."),
    "settings": Field("settings", WORDS, "As NAME=VALUE.", high=20),
    "shown_ids": Field("ids", WORDS, "Ids that an earlier answer showed.", high=MOST_AT_ONCE),
    "since": Field("since", TEXT, "Such as 2026-05-03, last week, 3d.", high=40),
    "step": Field("step", TEXT, "What was done or seen next.", high=2_000),
    "steps": Field("steps", WORDS, "In order.", high=50, split="\n"),
    "success": Field("outcome", TEXT, choices=("success", "failure", "partial")),
    "sharing": Field("action", TEXT, "status by default.", choices=("status", "pull", "preview")),
    "supersedes": Field("supersedes", TEXT, "Id of the memory whose place it takes.", high=64),
    "tags": Field("tags", WORDS),
    "task_kind": Field("kind", TEXT, "Such as fix, feature, test, docs.", high=40),
    "task": Field("task", TEXT, high=300),
    "temporal": Field("temporal", TEXT, choices=tuple(map(str, Temporal))),
    "text": Field("text", TEXT, "One statement, clear by itself.", high=20_000, also=("content",)),
    "to": Field("to", TEXT, "Id of the other one.", high=64),
    "triggers": Field("triggers", WORDS, "When it comes by itself: file:GLOB, command:, error: or term:WORDS.", high=20),
    "ttl_minutes": Field("ttl_minutes", NUMBER, "60 by default.", low=1, high=1_440),
    "until": Field("until", TEXT, high=40),
    "unused_days": Field("unused_days", NUMBER, "180 by default.", low=1, high=10_000),
    "valid_from": Field("valid_from", TEXT, "Since when it holds.", high=60),
    "valid_until": Field("valid_until", TEXT, high=60),
    "verdict": Field("verdict", TEXT, choices=("confirmed", "refuted", "outdated")),
    "what": Field("what", TEXT, "What happened.", high=8_000),
    "when": Field("when", TEXT, "When to follow it.", high=1_000),
    "whether": Field("what", TEXT, "priority by default.", choices=("priority", "confidence")),
    "whither": Field("to", TEXT, "permanent for what would expire, else priority, by default.", choices=PLACES),
    "why": Field("why", TEXT, "Why it is so.", high=4_000),
    "why_found": Field("why", YES, "Show what made each score."),
}  # fmt: skip
"""All arguments of tools, by the names that tools take them under."""
SCOPE = " kinds tags since until all_projects project"


_SCOPED = (
    "limit", "kinds", "tags", "session", "since", "until", "all_projects", "project", "collections", "priorities",
    "sensitivity_max", "jurisdictions",
)  # fmt: skip
_TO_DAEMON = {
    "limit": "k", "kinds": "kind", "tags": "tag", "collections": "collection", "sensitivity_max": "ceiling",
}  # fmt: skip


def scope_of(arguments: Json) -> Json:
    """Return what a question is limited to, in the daemon's words."""
    given = {name: arguments[name] for name in _SCOPED if arguments.get(name) is not None}
    return {_TO_DAEMON.get(name, name): value for name, value in given.items()}


def with_known_kinds(asker: Asker, arguments: Json) -> Json:
    """Return arguments whose `kinds` are such as are there: `Decisions` means `decision`.

    Raises:
        BadInputError: no memory has such a kind.
    """
    if "kinds" not in arguments:
        return arguments
    known = set(unique((*STORED_KINDS, PASSAGE, *DERIVED)))
    kinds = [_kind(word, known) for word in arguments["kinds"]]
    if not known.issuperset(kinds):
        # Kinds are open to whoever stores by hand or imports.
        known |= set(asker.ask("stats", {"all_projects": True})["by_kind"])
        kinds = [_kind(word, known) for word in arguments["kinds"]]
    for kind in kinds:
        if kind not in known:
            raise BadInputError(
                f"There is no kind {kind[:40]!r}.", f"Kinds: {', '.join(sorted(known))}."
            )
    return {**arguments, "kinds": kinds}


def _kind(word: str, known: set[str]) -> str:
    forms = (word, word.strip().lower(), word.strip().lower().removesuffix("s"))
    return next((form for form in forms if form in known), word)


def reach(arguments: Json, default: int, most: int) -> int:
    """Return how many have to be found for the page that is asked for and to know whether another one follows.

    Args:
        default: how many a page has where no limit is given.
        most: how many can be found at all.
    """
    return min(most, (arguments.get("cursor") or 0) + (arguments.get("limit") or default) + 1)


def page(found: Sequence[T], arguments: Json, default: int) -> tuple[Sequence[T], int | None]:
    """Return the page that is asked for of all that was found, and where the next one begins, None after the
    last."""
    start = arguments.get("cursor") or 0
    end = start + (arguments.get("limit") or default)
    return found[start:end], end if len(found) > end else None
