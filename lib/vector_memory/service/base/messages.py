"""Requests and answers as types. A door reads what a client sent into a request, field by field, and writes an
answer as JSON; in between nobody looks into a dictionary.

Measured for this and left out: pydantic, whose import takes longer than a daemon may take to answer, and
msgspec, whose messages name no remedy (docs/adr/0013-messages.md).
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from vector_memory import projects
from vector_memory.errors import BadInputError, NotFoundError
from vector_memory.model import (
    COLLECTIONS,
    DERIVED,
    GLOBAL_PROJECT,
    JURISDICTIONS,
    KINDS,
    OF_TALK,
    UNRESTRICTED,
    Origin,
    Priority,
    Scope,
    Sensitivity,
    Tier,
    unique,
)
from vector_memory.service.base import aliases, request_fields
from vector_memory.service.base.asker import Asker as Asker
from vector_memory.service.base.asker import for_agents
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import Shelf, project_roots

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_says: object) -> Callable[[type], type]:
        """Return what leaves a class as it is: type checkers alone learn what it makes of its subclasses."""
        return lambda kind: kind


R = TypeVar("R", bound="Request")

Read = Callable[[request_fields.Sent, str], Any]
"""Reads a field by its name out of what a client sent, or raises BadInputError with what to do."""

READ, NAME, SPARE = "read", "name", "spare"
LONGEST_KIND = 40
_PLAIN = frozenset({str, int, float, bool, type(None)})


def read_by(read: Read, default: Any = dataclasses.MISSING, name: str = "") -> Any:
    """Declare a field of a request.

    Args:
        default: what it is where a request is made in code and does not say it.
        name: what clients call it, where Python cannot.

    Returns:
        The field, for a dataclass.
    """
    return field(default=default, metadata={READ: read, NAME: name})


def text(limit: int = 1_000_000, name: str = "") -> Any:
    """Declare a text that must be there.

    Returns:
        The field, for a dataclass.
    """
    return read_by(partial(request_fields.text_of, limit=limit), name=name)


def maybe_text(limit: int = 1_000_000) -> Any:
    """Declare a text that may be left out, "" where it is.

    Returns:
        The field, for a dataclass.
    """

    def read_text(sent: request_fields.Sent, name: str) -> str:
        return request_fields.text_of(sent, name, limit) if sent.get(name) else ""

    return read_by(read_text, "")


def or_none(declared: Any) -> Any:
    """Declare a field as another declaration does, but None where it is not said.

    Returns:
        The field, for a dataclass.
    """
    take: Read = declared.metadata[READ]
    return read_by(
        lambda sent, name: None if sent.get(name) is None else take(sent, name),
        None,
        declared.metadata[NAME],
    )


def word(name: str = "", default: str = "") -> Any:
    """Declare a short text, by default "" where it is not said.

    Returns:
        The field, for a dataclass.
    """
    return read_by(lambda sent, name: str(sent.get(name) or default), default, name)


def one_of(choices: Iterable[str], default: Any = "") -> Any:
    """Declare a word of a closed vocabulary, or the default where it is not said. This and `words` are where every
    door's words are checked.

    Args:
        choices: words, or the class of an enumeration, of which it is a member then.

    Returns:
        The field, for a dataclass.
    """

    def read_word(sent: request_fields.Sent, name: str) -> Any:
        value = sent.get(name)
        return default if value in (None, "") else request_fields.chosen(str(value), choices, name)

    return read_by(read_word, default)


def kind() -> Any:
    """Declare the kind of what is to be stored, which is open: a word of anybody's, "" where it is not said.

    Returns:
        The field, for a dataclass.
    """

    def read_kind(sent: request_fields.Sent, name: str) -> str:
        value = str(sent.get(name) or "").strip()
        plain = value.replace("-", "").replace("_", "")
        if value and (len(value) > LONGEST_KIND or not plain.isalnum()):
            raise BadInputError(
                f"{name} cannot be {value[:40]!r}.", f"It is a word, such as: {', '.join(KINDS)}."
            )
        return next((usual for usual in KINDS if usual == value.casefold()), value)

    return read_by(read_kind, "")


def words(name: str = "", choices: Iterable[str] = ()) -> Any:
    """Declare words, each once, and each one of the choices where there are some.

    Returns:
        The field, for a dataclass; its value is a tuple in the order given.
    """

    def read_words(sent: request_fields.Sent, called: str) -> tuple[str, ...]:
        values = request_fields.words_of(sent, called)
        if choices:
            values = unique(request_fields.chosen(value, choices, called) for value in values)
        return values

    return read_by(read_words, (), name)


def number(default: int, low: int, high: int) -> Any:
    """Declare a whole number within bounds.

    Returns:
        The field, for a dataclass.
    """
    return read_by(partial(request_fields.number_of, default=default, low=low, high=high), default)


def seconds(default: float, most: float) -> Any:
    """Declare a time in seconds.

    Returns:
        The field, for a dataclass.
    """
    return read_by(partial(request_fields.seconds_of, default=default, most=most), default)


def moment(*, is_to_come: bool = False) -> Any:
    """Declare a time, aware UTC, None where it is not said; with `is_to_come`, "friday" is the next one.

    Returns:
        The field, for a dataclass.
    """
    return read_by(request_fields.time_to_come if is_to_come else request_fields.time_of, None)


def flag(name: str = "", default: bool = False) -> Any:
    """Declare a yes or no.

    Returns:
        The field, for a dataclass.
    """
    return read_by(lambda sent, name: bool(sent.get(name, default)), default, name)


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class Request:
    """What any request may say. Each kind of request is a frozen dataclass, made by name.

    Attributes:
        actor: who asks, one of `request_fields.ACTORS`.
        said: what the user said in this turn to the agent that asks.
        project: the folder of the project that it is about, "" for that of `cwd`.
        cwd: the folder that it is asked from.
        is_global: it is about no project.
        all_projects: it is about all of them.
        only_project: what belongs to the user rather than to the project is left out.
        ceiling: the most sensitive memories that are meant, None for all.
        jurisdictions: only what is kept under one of these; all where there are none.
    """

    actor: str = read_by(request_fields.actor_of, "user")
    said: str = word()
    project: Any = read_by(lambda sent, name: sent.get(name), "")
    cwd: Any = read_by(lambda sent, name: sent.get(name), "")
    is_global: bool = flag("global")
    all_projects: bool = flag()
    only_project: bool = flag()
    ceiling: Sensitivity | None = one_of(Sensitivity, None)
    jurisdictions: tuple[str, ...] = words(choices=JURISDICTIONS)

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    @property
    def base(self) -> str:
        """The folder from which the request's own paths are meant."""
        return str(self.cwd or "/")

    @property
    def is_agent(self) -> bool:
        """Whether an agent asks: it is given nothing that is held back, and what it says binds nobody."""
        return self.actor in request_fields.AGENTS

    def require_user(self, does: str, command: str = "") -> None:
        """Make sure that the user asks, and no program that an agent started.

        Args:
            does: what only the user does, as a verb of a sentence.
            command: what the user would run for it; by default what was run.

        Raises:
            BadInputError: an agent asks, or who asks cannot be told from one.
        """
        if self.is_agent:
            raise BadInputError(
                f"Only the user {does}: this command comes from an agent, or cannot be told from one.",
                f"Ask the user to run {f'`{command}`' if command else 'it'} in a terminal of their own.",
            )

    def as_asked(self) -> dict[str, Any]:
        """Return what any request may say, as this one says it, for another one that is made of it."""
        return {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(Request)}


class Filter(Request):
    """A request about the memories of some kinds, tags, sessions, times, entities, collections and priorities.

    Attributes:
        tiers: how near at hand they are kept; `priorities` how much they matter; `origins` whose words they are.
        project_ids: of these projects alone, wherever it is asked from.
    """

    kinds: tuple[str, ...] = words("kind")
    tags: tuple[str, ...] = read_by(request_fields.stored_words_of, (), "tag")
    sessions: tuple[str, ...] = words("session")
    since: datetime | None = moment()
    until: datetime | None = moment()
    entities: tuple[str, ...] = read_by(request_fields.entities_of, (), "entity")
    collections: tuple[str, ...] = words("collection", COLLECTIONS)
    priorities: tuple[str, ...] = words(choices=Priority)
    project_ids: tuple[str, ...] = words("project_id")
    tiers: tuple[str, ...] = words(choices=Tier)
    origins: tuple[str, ...] = words(choices=Origin)

    @property
    def is_limited(self) -> bool:
        """Whether it names anything of the memories that it is about."""
        return any(getattr(self, name) for name in _LIMITS)


_LIMITS = {entry.name for entry in dataclasses.fields(Filter)} & {
    entry.name for entry in dataclasses.fields(Scope)
}
"""What a scope is limited by as a filter says it."""


def asker_of(ctx: Context, request: Request) -> Asker:
    """Return from where a request is asked.

    Raises:
        BadInputError: its project is no folder's path.
        NotFoundError: there is no such folder, and no memory of it.
    """
    by_id = request.project_ids if isinstance(request, Filter) else ()
    is_of_all = request.all_projects or bool(by_id)
    place = None if is_of_all else place_of(ctx, request)
    ids: tuple[str, ...] | None = (place.id, GLOBAL_PROJECT) if place else (GLOBAL_PROJECT,)
    if place and request.only_project:
        ids = (place.id,)
    shelves = ctx.all_shelves if is_of_all else partial(ctx.shelves_of, place)
    opened = cache(shelves)
    scope = Scope(projects=by_id or (None if request.all_projects else ids))
    if isinstance(request, Filter):
        if request.since and request.until and request.until <= request.since:
            raise BadInputError(
                "Between since and until there is no time: until is no part of it.",
                "For a single day give the next one as until.",
            )
        scope = dataclasses.replace(scope, **{name: getattr(request, name) for name in _LIMITS})
        if scope.kinds:
            within = limited(ctx, request, place, Scope(projects=scope.projects))
            kinds = known_kinds(ctx, scope.kinds, opened(), within)
            scope = dataclasses.replace(scope, kinds=kinds)
        if scope.sessions:
            scope = dataclasses.replace(scope, sessions=named_sessions(opened(), scope.sessions))
        if scope.tags:
            stored_tags = (
                shelf.journal.tags_named(scope.tags) for shelf in ctx.with_team(opened())
            )
            tags = unique(chain(scope.tags, *stored_tags))
            scope = dataclasses.replace(scope, tags=tags)
        if scope.entities:
            scope = _limit_to_entities(ctx, scope, opened())
    return Asker(place, limited(ctx, request, place, scope), opened)


def named_sessions(
    shelves: Sequence[Shelf], names: Sequence[str], projects: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return the ids of the sessions that are named, see `Journal.sessions_named`; what is a whole id, or names none,
    as it is.

    Args:
        projects: those alone count of which something is remembered in one of these, None for any.
    """
    ids: list[str] = []
    for name in names:
        session_ids = {
            id
            for shelf in shelves
            for id in shelf.journal.sessions_named(name)
            if projects is None
            or shelf.journal.count(Scope(projects=tuple(projects), sessions=(id,)))
        }
        ids += [name] if name in session_ids or not session_ids else sorted(session_ids)
    return unique(ids)


def known_kinds(
    ctx: Context, names: Sequence[str], shelves: list[Shelf], within: Scope
) -> tuple[str, ...]:
    """Return the kinds that are asked for, as memories have them. Kinds are open: beside the usual ones there are those
    of what is stored within a scope.

    Raises:
        BadInputError: there is no such kind.
    """
    choices = KINDS
    if not set(names) <= set(choices):
        stored = (shelf.journal.count_by("kind", within) for shelf in ctx.with_team(shelves))
        choices = unique(chain(KINDS, *stored))
    return unique(request_fields.chosen(kind, choices, "kind") for kind in names)


def _limit_to_entities(ctx: Context, scope: Scope, shelves: Sequence[Shelf]) -> Scope:
    """Return a scope limited to what names its entities, in whatever case and by whatever alias; where no memory
    names any of them, to what holds the word: who asks for "caddy" knows that it is a name."""
    stored = unique(
        chain.from_iterable(shelf.journal.entities_named(scope.entities) for shelf in shelves)
    )
    names = aliases.widened(ctx, (*scope.entities, *stored))
    words = unique(name.partition(":")[2].lower() for name in scope.entities)
    if stored or len(names) > len(scope.entities) or len(words) == len(scope.entities):
        return dataclasses.replace(scope, entities=names)
    without_kinds = unique((*scope.without_kinds, *OF_TALK))
    return dataclasses.replace(scope, entities=(), words=words, without_kinds=without_kinds)


def limited(ctx: Context, request: Request, place: projects.Place | None, scope: Scope) -> Scope:
    """Return a scope within the levels and jurisdictions that a request may be answered of: to an agent nothing that is
    restricted, and nothing above the ceiling of a contract."""
    scope = scope.up_to(request.ceiling)
    if request.is_agent:
        # Who asks about all projects still works in a folder, where a contract may hold.
        scope = for_agents(ctx, place.root if place else str(request.cwd or ""), scope)
        scope = scope if scope.levels else dataclasses.replace(scope, levels=UNRESTRICTED)
    if request.jurisdictions:
        # A session may have been under several laws: nothing that was made of a whole session is given.
        scope = dataclasses.replace(scope, laws=request.jurisdictions, without_kinds=DERIVED)
    return scope


def _require_known(ctx: Context, place: projects.Place, request: Request) -> None:
    """Make sure that a project is there, or was once: a folder that is gone may have left memories."""
    folder = str(request.project)
    path = os.path.join(request.base, os.path.expanduser(folder))
    # A session's own folder may go while it works there.
    if path == request.base or (
        may_mean(place, path)
        and (os.path.isdir(path) or place.id in project_roots(ctx.shelves_of(place)))
    ):
        return
    raise NotFoundError(
        f"There is no folder {folder}, and no memory of it.",
        "`vector-memory stats` shows the projects that have memories.",
    )


def may_mean(place: projects.Place, path: str) -> bool:
    """Whether somebody who names a path may mean the project that it lies in. A folder that is not there, within a
    project that is, was mistyped, or is another project's name: it does not stand for the one around it."""
    return os.path.isdir(path) or not os.path.isdir(place.root)


def reader_of(ctx: Context, request: Request) -> Asker:
    """Return from where something is asked that changes nothing: what others shared answers, too.

    Raises:
        BadInputError: its project is no folder's path.
    """
    asker = asker_of(ctx, request)
    return Asker(asker.place, asker.scope, cache(lambda: ctx.with_team(asker.shelves)))


def place_of(ctx: Context, request: Request) -> projects.Place | None:
    """Return the project that a request is about; see `request_fields.place_of`.

    Raises:
        BadInputError: its project is no folder's path.
        NotFoundError: there is no such folder, and no memory of it.
    """
    sent = {"global": request.is_global, "project": request.project, "cwd": request.cwd}
    place = request_fields.place_of(ctx, sent)
    if place and request.project:
        _require_known(ctx, place, request)
    return place


def read(kind: type[R], sent: dict[str, Any]) -> R:
    """Return what a client sent as a request; what it does not know is left out.

    Raises:
        BadInputError: a field is missing, or is not what it should be.
    """
    fields = _readers(kind)  # type: ignore[arg-type]  # mypy finds a bound type variable unhashable
    return kind(**{name: take(sent, wire_name) for name, wire_name, take in fields})


@cache
def _readers(kind: type[Any]) -> list[tuple[str, str, Read]]:
    return [
        (entry.name, entry.metadata[NAME] or entry.name, entry.metadata[READ])
        for entry in dataclasses.fields(kind)
    ]


def spare() -> Any:
    """Declare a field of an answer that is left out where there is nothing in it.

    Returns:
        The field, for a dataclass.
    """
    return field(default=None, metadata={SPARE: True})


def wire_name(name: str) -> Any:
    """Declare a field of an answer that clients know by a name that Python cannot have.

    Returns:
        The field, for a dataclass.
    """
    return field(default=None, metadata={NAME: name})


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Answer:
    """What a client is told, or a part of it: each kind is a frozen dataclass."""

    def __init_subclass__(cls, kw_only: bool = False) -> None:
        dataclass(frozen=True, kw_only=kw_only)(cls)


class FileError(Answer):
    """A file that was not read, and why."""

    file: str
    error: str


def to_json(answer: Any) -> Any:
    """Return an answer as JSON values: dataclasses as objects, times in ISO form, tuples as lists."""
    if type(answer) in _PLAIN:
        return answer
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        pairs = (
            (key, getattr(answer, name), spare)
            for name, key, spare in _written_fields(type(answer))
        )
        return {key: to_json(value) for key, value, spare in pairs if not (spare and value is None)}
    if isinstance(answer, dict):
        return {key: to_json(value) for key, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [to_json(element) for element in answer]
    if isinstance(answer, datetime):
        return answer.isoformat()
    return answer.value if isinstance(answer, Enum) else answer


@cache
def _written_fields(kind: type[Any]) -> list[tuple[str, str, bool]]:
    """Return the fields of an answer: each name, what clients call it, and whether it may be left out."""
    return [
        (entry.name, entry.metadata.get(NAME) or entry.name, bool(entry.metadata.get(SPARE)))
        for entry in dataclasses.fields(kind)
    ]
