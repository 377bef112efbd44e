"""What every use case needs: the shelves, the state, the model, the settings and a clock."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

from vector_memory import projects
from vector_memory.config import Settings
from vector_memory.errors import StoreTamperedError, VectorMemoryError
from vector_memory.model import Project
from vector_memory.service.base.disk_reserve import Reserve
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.base.model_budget import Allowance
from vector_memory.service.base.session_memory import Running
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.base.timings import Timings
from vector_memory.service.base.unreadable import Hopeless
from vector_memory.service.base.use_counts import Uses
from vector_memory.service.base.yielding import GoingOn, Hooks
from vector_memory.system import tampering
from vector_memory.system.files import delete_file
from vector_memory.system.paths import Home
from vector_memory.system.private import make_folder

if TYPE_CHECKING:
    from vector_memory.journal.state import State

log = logging.getLogger(__name__)

PLACE_S = 30.0
"""How long a folder's project is taken as known before its git files are read again."""


def utc_now() -> datetime:
    """Return the time, aware, in UTC."""
    return datetime.now(timezone.utc)


def local_now() -> datetime:
    """Return the time, aware, in the user's time zone."""
    return datetime.now().astimezone()


def new_id() -> str:
    """Return an id for a new memory: 32 hexadecimal digits, random."""
    return os.urandom(16).hex()


@dataclass
class JobClock:
    """When the next job is due.

    Attributes:
        looked_at: when the state was looked at last, None for at once again.
        next_at: when the next job was due then, None for none.
        begun: jobs whose run this process began or took up.
        told: what the last runs of this process reported, words of memories among it, which the state does not
            hold: by job.
        lock: held by who runs one: one at a time.
    """

    looked_at: datetime | None = None
    next_at: datetime | None = None
    begun: set[str] = field(default_factory=set)
    told: dict[str, dict[str, object]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Context:
    """The daemon's parts, put together once. `notify` wakes the follower after a write; `later` has
    something done when nobody waits, `slowly` what takes minutes, behind nothing but its like; `publish` tells the
    hooks of tool calls what to ask; `spooled` has an event taken up that was just written to the spool."""

    home: Home
    settings: Settings
    state: State
    embedding: Embedding
    open_shelf: Callable[[str], Shelf]
    notify: Callable[[], None] = lambda: None
    later: Callable[[Callable[[], object]], None] = lambda work: None
    slowly: Callable[[Callable[[], object]], None] = lambda work: None
    publish: Callable[[], None] = lambda: None
    has_tool_procedures: bool = False
    """Whether some procedure comes with a file or a command, as far as stores were looked at."""
    spooled: Callable[[str], None] = lambda path: None
    now: Callable[[], datetime] = utc_now
    local_now: Callable[[], datetime] = local_now
    uses: Uses = field(default_factory=Uses)
    timings: Timings = field(default_factory=Timings)
    hooks: Hooks = field(default_factory=Hooks)
    filling: GoingOn = field(default_factory=GoingOn)
    awaiting_index: GoingOn = field(default_factory=GoingOn)
    """Whether somebody waits for an index to be open, or level."""
    is_behind: bool = False
    """Whether several turns wait to be read: what is made of them beside memories waits for a quiet moment."""
    hopeless: Hopeless = field(default_factory=Hopeless)
    running: Running = field(default_factory=Running)
    gate_move: float | None = None
    """By how much the gate's threshold has moved, None until that is worked out."""
    job_clock: JobClock = field(default_factory=JobClock)
    reserve: Reserve = field(init=False)
    capturing: threading.RLock = field(default_factory=threading.RLock)
    """Held from looking at what is stored of a transcript to writing what is new of it."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the daemon ends: long work stops at its next step."""
    generation: Allowance = field(init=False)
    _shelves: dict[str, Shelf] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)
    _replaced: dict[str, tuple[int, ...] | None] = field(default_factory=dict)
    _places: dict[str, tuple[float, projects.Place]] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        self.generation = Allowance(self.state)
        self.reserve = Reserve(self.home.reserve)

    def place(self, folder: str) -> projects.Place:
        """Return a folder's project, remembered for a short while."""
        cached = self._places.get(folder)
        if cached and time.monotonic() - cached[0] < PLACE_S:
            return cached[1]
        place = projects.locate(folder)
        if len(self._places) > 4_096:
            self._places.clear()
        self._places[folder] = (time.monotonic(), place)
        return place

    def is_excluded(self, place: projects.Place, *folders: str) -> bool:
        """Whether the user wants no memory in a project, or in one of the folders of it where a session is."""
        return projects.is_excluded(self.settings.excluded_projects, place.root, *folders)

    def forget_places(self) -> None:
        """Read every folder's project anew: a marker was made or trust has changed."""
        self._places.clear()
        self._replaced.clear()

    def global_shelf(self) -> Shelf:
        """Return the data home's own store."""
        return self._shelf(self.home.global_store)

    def shelf_of(self, place: projects.Place | None) -> Shelf:
        """Return the store that a project's memories are written to, for none the data home's own."""
        if (
            place
            and place.store
            and self.state.trusted(place.store)
            and self._is_there(place.store)
        ):
            with contextlib.suppress(StoreTamperedError):
                return self._shelf(place.store)
        return self.global_shelf()

    def shelves_of(self, place: projects.Place | None) -> list[Shelf]:
        """Return the stores that a question about a project is put to, the project's own first."""
        return list(dict.fromkeys((self.shelf_of(place), self.global_shelf())))

    def team_shelf(self, make: bool = False) -> Shelf | None:
        """Return the store of what others shared, None where nobody did. It is read by questions and written by
        `sharing`, by a purge, and by what makes words more sensitive: no other use case looks there."""
        if not make and not os.path.isdir(self.home.team):
            return None
        make_folder(self.home.team)
        return self._shelf(self.home.team)

    def with_team(self, shelves: list[Shelf]) -> list[Shelf]:
        """Return stores for a question, with what others shared behind them."""
        shared = self.team_shelf()
        return [*shelves, shared] if shared is not None else shelves

    def all_shelves(self) -> list[Shelf]:
        """Return every store that this installation knows and trusts and can open, the global one
        first."""
        return self._open_all()[0]

    def every_shelf(self) -> list[Shelf]:
        """Return every store in which words may stand, that of what others shared among them, if it can be opened."""
        shelves = self.all_shelves()
        with contextlib.suppress(VectorMemoryError):
            shelves = self.with_team(shelves)
        return shelves

    def unopened(self, place: projects.Place | None = None) -> dict[str, VectorMemoryError]:
        """Return why those of these stores that cannot be opened cannot, by their folders; of one project,
        if it is named, also where nobody has trusted its store yet."""
        errors = self._open_all(place)[1]
        store = place.store if place else ""
        if store and os.path.isdir(store) and not self.state.trusted(store):
            errors[store] = tampering.not_trusted(store)
        return errors

    def _open_all(
        self, place: projects.Place | None = None
    ) -> tuple[list[Shelf], dict[str, VectorMemoryError]]:
        shelves: list[Shelf] = [self.global_shelf()]
        errors: dict[str, VectorMemoryError] = {}
        for folder in self.state.trusted_folders():
            if place is not None and folder != place.store:
                continue
            if (refusal := self._refusal(folder)) is not None:
                errors[folder] = refusal
            elif self._is_there(folder):
                # One store that is damaged or of a newer version does not take the others away.
                try:
                    shelves.append(self._shelf(folder))
                except VectorMemoryError as error:
                    errors[folder] = error
        return shelves, errors

    def opened_shelves(self) -> list[Shelf]:
        """Return the stores that are open now, and may stay so."""
        with self._lock:
            opened = list(self._shelves.items())
        return [shelf for folder, shelf in opened if self._is_there(folder)]

    def know_project(self, shelf: Shelf, place: projects.Place) -> None:
        """Keep a project's name and folder beside its memories."""
        shelf.journal.put_project(Project(place.id, place.name, place.root, place.store))

    def count(self, name: str, by: int = 1) -> None:
        """Add to a counter that `stats` and `doctor` show."""
        if by:
            self.state.count(name, by)

    def audit(self, action: str, actor: str, ids: Sequence[str], **detail: Any) -> None:
        """Note something for the audit log without waiting for the disk; what the user asked for goes to
        `state.audit`, which waits."""
        self.state.note(action, actor, ids, detail)
        if self.state.notes_due:
            self.later(self.state.flush)

    def changed(self) -> None:
        """Have the index follow, and remove the snapshots and what jobs reported: something in them may have been
        forgotten. Snapshots are made anew."""
        self.notify()
        self.job_clock.told.clear()
        for name in os.listdir(self.home.snapshots):
            delete_file(os.path.join(self.home.snapshots, name), OSError)

    def save(self) -> None:
        """Write what was only counted so far."""
        try:
            self.uses.write()
            self.timings.write(self.state, now=True)
            self.state.flush()
        except VectorMemoryError as error:
            log.warning("the last uses are not counted: %s", error)

    def close(self) -> None:
        """Close every store and the state."""
        self.save()
        with self._lock:
            for shelf in self._shelves.values():
                shelf.close()
            self._shelves.clear()
        self.embedding.close()
        try:
            self.reserve.spare(self.state.close)
        except VectorMemoryError as error:
            log.warning("the last counters are not written: %s", error)

    def _is_there(self, folder: str) -> bool:
        """Whether a store can be used. A project's that was open and is not there any more, or not as it
        was, is let go."""
        if folder in (self.home.global_store, self.home.team):
            return True
        is_usable = os.path.isdir(folder) and self._refusal(folder) is None
        shelf = self._shelves.get(folder)
        if shelf is not None and not (is_usable and shelf.journal.is_in_place):
            with self._lock:
                removed = self._shelves.get(folder) is shelf and self._shelves.pop(folder)
            if removed:
                # Nothing is saved: in its place is another store, or none.
                self.later(partial(shelf.close, save=False))
        return is_usable

    def _refusal(self, folder: str) -> StoreTamperedError | None:
        """Return why a project's store is not opened though it is trusted, None where it is sound."""
        signs = tampering.foreign_entries(folder)
        replaced = self._replaced.get(folder)
        if not signs and (not replaced or replaced != tampering.journal_file(folder)):
            self._refused.pop(folder, None)
            return None
        error = tampering.refusal(folder, signs) if signs else tampering.not_the_trusted(folder)
        if self._refused.get(folder) != error.message:
            self._refused[folder] = error.message
            log.error("%s", error)
        return error

    def _shelf(self, folder: str) -> Shelf:
        with self._lock:
            shelf = self._shelves.get(folder)
            if shelf is None:
                shelf = self._shelves[folder] = self._open(folder)
                self.notify()
            return shelf

    def _open(self, folder: str) -> Shelf:
        """Open a store; a project's only where it is the one that was trusted, by its random id, or was
        made here: a pull may put another one in its place, with memories that nobody here has stored."""
        is_new = not tampering.journal_file(folder)
        shelf = self.open_shelf(folder)
        if folder in (self.home.global_store, self.home.team):
            return shelf
        expected, store_id = self.state.store_trusted(folder), shelf.journal.store_id
        if is_new or not expected:
            self.state.trust(folder, store_id)
        elif expected != store_id:
            shelf.close(save=False)
            self._replaced[folder] = tampering.journal_file(folder)
            raise tampering.not_the_trusted(folder)
        return shelf
