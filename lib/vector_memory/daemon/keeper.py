"""The background of the daemon: bring up model and index in stages, let the index follow, tidy up.

The order matters. Lexical answers need none of this. The model comes first, since vectors answer
from a mapped file at once; lancedb comes last and in a quiet moment, since its import takes a second
and holds the interpreter's lock.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
import time
from collections.abc import Callable
from functools import partial

from vector_memory.daemon.background import Relay
from vector_memory.embed import registry
from vector_memory.errors import StoreDamagedError, VectorMemoryError
from vector_memory.service.base.context import Context
from vector_memory.service.base.follow_journal import follow_once
from vector_memory.service.base.shelf import OpensIndex, Shelf
from vector_memory.system import heap

log = logging.getLogger(__name__)

QUIET_S = 0.25
"""No request for so long means that nobody waits."""
IMPATIENT_S = 4.0
"""After so long the index is opened even if requests keep coming."""
TIDY_AFTER_S = 3.0
REST_AFTER_S = 30.0
SLEEP_AFTER_S = 300.0
"""After so long without a request nobody is likely to ask in the next minute."""
TICK_S = 1.0
IDLE_TICK_S = 60.0
"""How often it looks where nobody has asked anything since it found nothing to do."""
RETRY_S = 5.0
RELOAD_S = 60.0
"""Until a model is loaded again that could not be: that takes longer than to ask one, and may fetch something."""
MOST_RELOAD_S = 3600.0
"""Until then at most where no server has it: each time it waits twice as long."""
PATIENCE_S = 120.0
"""How long the other stores wait for one. Opening the index of a large one takes its time."""
OPTIMIZE_AGAIN_S = 60.0
"""After optimising failed: on a full disk it fails each time, and each failure is logged."""


class _Relieved(Exception):
    """Another thread is in charge."""


class Keeper(Relay):
    """One thread that looks after model and indexes. A store that fails, or takes too long, does not keep it from the
    others.

    Args:
        open_index: makes the index of a store folder.
        quiet_s: how long no request has come, in seconds; 0 while one is answered.
        failed: is told of an error by its place.
        recovered: is told when there is space on the disk again.
        ready: is told when model and indexes are up.
    """

    def __init__(
        self,
        ctx: Context,
        open_index: OpensIndex,
        quiet_s: Callable[[], float],
        failed: Callable[[str, BaseException], None],
        recovered: Callable[[], object] = lambda: None,
        ready: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__("keeper", PATIENCE_S)
        self._ctx = ctx
        self._open_index = open_index
        self._quiet_s = quiet_s
        self._failed = failed
        self._recovered = recovered
        self._ready = ready
        self._wake = threading.Event()
        self._stirred = threading.Event()
        self._stopping = threading.Event()
        self._is_settled = self._is_resting = self._is_sleeping = False
        self._current_unit = ""
        self._stuck: set[str] = set()
        self._again_at: dict[str, float] = {}
        self._model_at, self._reload_s = 0.0, RELOAD_S
        self._readonly: set[str] = set()
        self._backlog_at: dict[str, float] = {}
        self._optimize_at: dict[str, float] = {}
        self.stages: dict[str, float] = {}
        self.started = time.monotonic()
        self.busy = False

    def notify(self) -> None:
        """Something was written, or a store was opened."""
        self._wake.set()
        self._stirred.set()

    def stir(self) -> None:
        """Something was asked: when it is quiet again there may be something to tidy up."""
        self._stirred.set()

    def drop(self) -> None:
        """End after the batch that is being applied."""
        self._stopping.set()
        self.notify()

    def _run(self) -> None:
        stages: dict[str, Callable[[], object]] = {
            "model": self._try_model,
            "vectors": self._attach_all,
            "full": self._load_in_quiet,
        }
        with contextlib.suppress(_Relieved):
            try:
                for name, bring_up in stages.items():
                    if not self._stopping.is_set() and name not in self.stages:
                        bring_up()
                        self.stages[name] = round(time.monotonic() - self.started, 3)
                # What is loaded now stays: without this every full collection walks through all of it,
                # for tens of milliseconds, and a prompt may be waiting.
                gc.collect()
                gc.freeze()
                # Half of what the libraries' files brought is code that runs at their import alone.
                heap.give_back()
                heap.let_go()
            except _Relieved:
                raise
            except Exception as error:
                self._failed("start", error)
            self._ready()
            while not self._stopping.is_set():
                self._do_round()

    def _leave(self) -> None:
        self._stuck.add(self._current_unit)

    def _do(self, unit: str, where: str, work: Callable[[], int]) -> int | None:
        """Do one piece of work on a store, or on what else is kept, and return what it returns; None
        where it fails, has just failed, or a thread is still at it.

        Raises:
            _Relieved: another thread has taken over meanwhile.
        """
        if unit in self._stuck or time.monotonic() < self._again_at.get(unit, 0.0):
            return None
        self._current_unit = unit
        result = None
        with self._piece():
            try:
                result = work()
            except Exception as error:
                self._again_at[unit] = time.monotonic() + RETRY_S
                self._failed(where, error)
        if not self._in_charge:
            self._stuck.discard(unit)
            raise _Relieved
        return result

    def _do_in_each_store(self, where: str, work: Callable[[Shelf], int]) -> list[int | None]:
        """Do the same for every open store, whatever becomes of one."""
        return [
            self._do(shelf.folder, where, partial(work, shelf))
            for shelf in self._ctx.opened_shelves()
        ]

    def _do_round(self) -> None:
        self.busy = True
        if self._ctx.embedding.state == "failed":
            self._do("model", "model", self._retry_model)
        self._attach_all()
        self._load_lance_all()
        moved = self._do_in_each_store("index", self._update_index)
        self.busy = False
        if None in moved:
            self._is_settled = False
        if not any(moved):
            self._wait()
            self.busy = True
            self._is_settled = self._tidy() and None not in moved
            self.busy = False

    def _wait(self) -> None:
        if self._is_settled:
            # All is done, and only a request can bring something new: nobody wakes up for nothing.
            until_rest_s = REST_AFTER_S - self._quiet_s()
            self._stirred.wait(until_rest_s + TICK_S if until_rest_s > 0 else IDLE_TICK_S)
        self._stirred.clear()
        if self._ctx.filling:
            # It is woken after every few memories then.
            self._stopping.wait(TICK_S)
        else:
            self._wake.wait(TICK_S)
        self._wake.clear()

    def _retry_model(self) -> int:
        return self._try_model() if time.monotonic() >= self._model_at else 0

    def _try_model(self) -> int:
        """Load the model, or ask it where it is loaded, and note when to do so again; return 1 where it can be used."""
        is_there = self._ctx.embedding.retry()
        is_loaded = bool(self._ctx.embedding.model)
        self._model_at = time.monotonic() + (RETRY_S if is_loaded else self._reload_s)
        if not is_loaded and self._ctx.settings.embedding_backend not in registry.SERVED:
            self._reload_s = min(2 * self._reload_s, MOST_RELOAD_S)
        return int(is_there)

    def _attach_all(self) -> None:
        if self._ctx.embedding.model:
            self._do_in_each_store("index", self._attach)

    def _attach(self, shelf: Shelf) -> int:
        # A reader is served what is there: words from the journal, vectors from a saved matrix.
        is_served = not shelf.journal.writable and shelf.folder in self._readonly
        if shelf.index is not None or is_served:
            return 0
        index = self._open_index(shelf.folder, self._ctx.embedding.model, self._ctx.embedding.dim)
        if not shelf.journal.writable:
            self._readonly.add(shelf.folder)
            log.warning("%s can only be read: nothing is stored or indexed there", shelf.folder)
            if index.vectors_ready:
                shelf.attach(index)
            return 0
        if not index.vectors_ready:
            reached = shelf.journal.last_seq()
            index.build_matrix(shelf.journal.iter_vectors(self._ctx.embedding.model), reached)
        shelf.attach(index)
        return 1

    def _load_lance_all(self) -> None:
        self._do_in_each_store("index", self._load_lance)

    def _load_lance(self, shelf: Shelf) -> int:
        index = shelf.index
        if index is None or index.lexical_ready or not shelf.journal.writable:
            return 0
        damage = index.load_lance()
        if damage:
            shelf.failed = damage
            log.error("an index of %s was set aside: %s", shelf.folder, damage)
        if index.reached() > shelf.journal.given_at_open:
            # It follows another history: somebody put an older journal there.
            index.rebuild()
        if shelf.journal.is_reanalysed:
            index.rebuild(of_words=True)
            shelf.journal.note_renewed_index()
        return 1

    def _update_index(self, shelf: Shelf) -> int:
        try:
            if self._stopping.is_set():
                return 0
            moved = follow_once(shelf, self._ctx.embedding, bool(self._ctx.filling))
            if not moved:
                # It is up to date again, whatever was in the way.
                shelf.failed = ""
            # Rows that no index covers yet slow every search; in the middle of a backlog that may take a tenth
            # of the time.
            if moved and time.monotonic() > self._backlog_at.get(shelf.folder, 0.0):
                self._tidy_one(shelf)
            return moved
        except StoreDamagedError as error:
            shelf.damaged(error)
            raise
        except VectorMemoryError as error:
            shelf.failed = str(error)
            raise

    def _load_in_quiet(self) -> None:
        """Load LanceDB in a quiet moment, or when somebody waits for it, and not at all where the daemon ends before
        that."""
        deadline = time.monotonic() + IMPATIENT_S
        while time.monotonic() < deadline and self._quiet_s() < QUIET_S:
            if self._ctx.awaiting_index:
                break
            if self._stopping.wait(0.02):
                return
        self._load_lance_all()

    def _tidy(self) -> bool:
        """Optimise and save what changed, and end the bulk embedding process; whether all is done until something is
        asked again."""
        if self._ctx.reserve.keep():
            log.info("there is space again")
            # What failed for want of it need not wait any longer.
            self._again_at.clear()
            self._recovered()
        quiet_s = self._quiet_s()
        if quiet_s > REST_AFTER_S and not self._is_resting:
            self._is_resting = True
            self._ctx.embedding.end_process()
            heap.give_back()
        self._is_resting &= quiet_s > REST_AFTER_S
        if quiet_s > SLEEP_AFTER_S and not self._is_sleeping:
            self._is_sleeping = True
            heap.let_go()
        self._is_sleeping &= quiet_s > SLEEP_AFTER_S
        if quiet_s < TIDY_AFTER_S or self._ctx.filling or self._stopping.is_set():
            return False
        is_done = self._tidy_shelves()
        is_done &= self._while_quiet("topics", "topics", self._finish_some)
        is_done &= self._while_quiet("jobs", "jobs", self._run_job)
        self._do("state", "tidying", self._tidy_state)
        # Space comes back without anything being asked.
        return is_done and self._ctx.reserve.is_whole

    def _tidy_state(self) -> int:
        self._ctx.uses.write()
        self._ctx.timings.write(self._ctx.state)
        self._ctx.state.flush()
        try:
            self._ctx.state.rotate_audit()
        except (OSError, VectorMemoryError) as error:
            self._failed("audit", error)
        return 1

    def _tidy_shelves(self) -> bool:
        # This imports what reads sessions: nobody should wait for that at the start.
        from vector_memory.service.capture.find_ideas import find
        from vector_memory.service.capture.link_ideas import weave

        is_done = True
        for shelf in self._ctx.opened_shelves():
            is_done &= self._do(shelf.folder, "tidying", partial(self._tidy_one, shelf)) is not None
            is_done &= self._while_quiet(shelf.folder, "ideas", partial(find, self._ctx, shelf))
            is_done &= self._while_quiet(shelf.folder, "weaving", partial(weave, self._ctx, shelf))
            is_done &= shelf.index is None or not shelf.index.tidies_later
        return is_done

    def _while_quiet(self, unit: str, where: str, work: Callable[[], int]) -> bool:
        """Do work bit by bit as long as there is some, and nobody asks anything; whether there is no
        more of it."""
        while self._quiet_s() >= TIDY_AFTER_S and not self._stopping.is_set():
            moved = self._do(unit, where, work)
            if not moved:
                return moved == 0
        return False

    def _finish_some(self) -> int:
        if not self._ctx.state.has_due():
            return 0
        # What reads sessions is imported when there is one to read.
        from vector_memory.service.capture.deferred import finish_some

        return finish_some(self._ctx)

    def _run_job(self) -> int:
        from vector_memory.service.jobs import runner

        return runner.advance(self._ctx)

    def _tidy_one(self, shelf: Shelf) -> int:
        """Optimise a store's index where that is due; return how often: 0 or 1."""
        index = shelf.index
        if index is None or not index.lexical_ready:
            return 0
        at = self._optimize_at.get(shelf.folder, 0.0)
        if not index.needs_optimize() or time.monotonic() < at:
            return 0
        started = time.monotonic()
        with shelf.following:
            try:
                index.optimize()
            except VectorMemoryError as error:
                self._optimize_at[shelf.folder] = time.monotonic() + OPTIMIZE_AGAIN_S
                self._failed("optimize", error)
        ended = time.monotonic()
        self._backlog_at[shelf.folder] = ended + 10 * (ended - started)
        # The memory that rewriting took is freed in pieces, between what stays in use: without this the heap grows by
        # some megabytes each time, until the daemon rests.
        heap.give_back()
        return 1
