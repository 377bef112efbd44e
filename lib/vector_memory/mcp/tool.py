"""What a tool is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from vector_memory.mcp.asker import Asker, Json
from vector_memory.mcp.fields import NUMBER, TEXT, WORDS, YES, Field

Act = Callable[[Asker, Json], Json]


@dataclass(frozen=True)
class Tool:
    """One tool: its name, what the model reads of it, its arguments, what it does, and its answer's shape.

    Attributes:
        reads: it changes nothing.
        destroys: it may take something away for good.
        repeats: doing it again changes nothing more.
        always: the model sees it without having to search for tools.
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

    def named(self, name: str) -> Tool:
        """Return the same tool under another design's name."""
        return replace(self, name=name, doc=f"{self.doc} Same as {self.name}.", always=False)


QUERY = Field("query", TEXT, "What to look for, in words or as a question.", high=8_000)
LIMIT = Field("limit", NUMBER, "How many at most.", low=1, high=100)
ID = Field("id", TEXT, "A memory's id, as shown.", high=64)
IDS = Field("ids", WORDS, "Ids of memories, as shown.", high=50)
PROJECT = Field("project", TEXT, "Another project's folder; this session's by default.", high=4_096)
ALL_PROJECTS = Field("all_projects", YES, "Look in all projects.")
KINDS = Field("kinds", WORDS, "Only these kinds, such as decision, preference, solution.")
TAGS = Field("tags", WORDS, "Tags.")
SINCE = Field("since", TEXT, "From this date on: 2026-05-03, yesterday, last week, 3d.", high=40)
UNTIL = Field("until", TEXT, "Before this date: 2026-05-03, today, next monday, 3d.", high=40)
SESSION = Field("session", TEXT, "A session's id.", high=200)
SCOPE = (KINDS, TAGS, SINCE, UNTIL, ALL_PROJECTS, PROJECT)


_SCOPED = ("limit", "kinds", "tags", "session", "since", "until", "all_projects", "project")
_TO_DAEMON = {"limit": "k", "kinds": "kind", "tags": "tag"}


def scope_of(arguments: Json) -> Json:
    """Return what a question is limited to, in the daemon's words."""
    given = {name: arguments[name] for name in _SCOPED if arguments.get(name) is not None}
    return {_TO_DAEMON.get(name, name): value for name, value in given.items()}
