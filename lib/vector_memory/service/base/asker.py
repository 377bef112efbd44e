"""From where something is asked: looked up once, where the request comes in, and handed on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property

from vector_memory import projects
from vector_memory.index.noise import plain_prompt
from vector_memory.model import GLOBAL_PROJECT, Memory, Scope
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import ProjectNames, Shelf, project_names
from vector_memory.text.prompts import Prompt


@dataclass(frozen=True)
class Asker:
    """From where a question is asked.

    Attributes:
        place: the project, None for none in particular.
        scope: what it is limited to.
        open_shelves: opens the stores at the first call, and gives the same ones at each.
    """

    place: projects.Place | None
    scope: Scope
    open_shelves: Callable[[], list[Shelf]]

    @property
    def shelves(self) -> list[Shelf]:
        """The stores that the question is put to, the project's own first. They are opened here: what needs no
        store opens none.

        Raises:
            VectorMemoryError: the global store cannot be opened.
        """
        return self.open_shelves()

    @property
    def names(self) -> ProjectNames:
        """The names of the projects that these stores know."""
        return project_names(self.shelves)


@dataclass(frozen=True)
class ProjectAsker(Asker):
    """One that asks from a project."""

    place: projects.Place

    @property
    def own_shelf(self) -> Shelf:
        """The store that the project's memories are written to."""
        return self.shelves[0]


@dataclass(frozen=True, kw_only=True)
class HookQuestion(ProjectAsker):
    """What a hook asks.

    Attributes:
        session: the client's name of the session.
        folder: where the session was started.
        prompt: what the user says now.
        before: the last turn's words.
        source: how a session began: `startup`, `resume`, `clear` or `compact`.
        compacted_at: when the session was compacted last, None for never.
        transcript: the session's transcript.
    """

    session: str
    folder: str
    prompt: str = ""
    before: str = ""
    source: str = "startup"
    compacted_at: datetime | None = None
    transcript: str = ""

    @cached_property
    def prompt_text(self) -> Prompt:
        """The prompt as the user wrote it, read once."""
        return Prompt(plain_prompt(self.prompt))

    def sees(self, memory: Memory) -> bool:
        """Whether the model still sees where a memory comes from: its own session, not compacted since."""
        if memory.source.session != self.session or not self.session:
            return False
        return self.compacted_at is None or memory.created_at > self.compacted_at


def asker_at(ctx: Context, folder: str, *others: str) -> ProjectAsker | None:
    """Return who asks from a folder, None where the user wants no memory.

    Args:
        others: further folders in which the session is now.
    """
    place = ctx.place(folder)
    return None if ctx.is_excluded(place, folder, *others) else asker_in(ctx, place)


def for_agents(ctx: Context, folder: str, scope: Scope) -> Scope:
    """Return a scope within what contracts let agents be given in a folder."""
    if not ctx.state.records("contract"):
        return scope
    # Most people have no contracts, and keys take a while to import.
    from vector_memory.service.base import contracts

    return scope.up_to(*(contract.ceiling for contract in contracts.in_force(ctx, folder)))


def asker_in(ctx: Context, place: projects.Place) -> ProjectAsker:
    """Return who asks in a project."""
    scope = for_agents(ctx, place.root, scope_of(place))
    return ProjectAsker(place, scope, cache(lambda: ctx.with_team(ctx.shelves_of(place))))


def scope_of(place: projects.Place | None, only_project: bool = False) -> Scope:
    """Return the scope of a question about a project: it and the global memories."""
    if place is None:
        return Scope(projects=(GLOBAL_PROJECT,))
    return Scope(projects=(place.id,) if only_project else (place.id, GLOBAL_PROJECT))
