"""The background of the daemon: bring up model and index in stages, let the index follow, tidy up.

The order matters. Lexical answers need none of this. The model comes first, since vectors answer
from a mapped file at once; lancedb comes last and in a quiet moment, since its import takes a second
and holds the interpreter's lock.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Callable
from functools import partial

from vector_memory.errors import StoreDamagedError, VectorMemoryError
from vector_memory.service.context import Context
from vector_memory.service.follow import follow_once
from vector_memory.service.shelf import OpensIndex, Shelf
from vector_memory.service.weaving import weave

log = logging.getLogger(__name__)

QUIET_S = 0.25
"""No request for so long means that nobody waits."""
IMPATIENT_S = 4.0
"""After so long the index is opened even if requests keep coming."""
TIDY_AFTER_S = 3.0
REST_AFTER_S = 30.0
TICK_S = 1.0
RETRY_S = 5.0


class Keeper:
    """One thread that looks after model and indexes.

    Args:
        open_index: makes the index of a store folder.
        quiet_s: how long no request has come, in seconds; 0 while one is answered.
        failed: is told of an error by its place.
    """

    def __init__(
        self,
        ctx: Context,
        open_index: OpensIndex,
        quiet_s: Callable[[], float],
        failed: Callable[[str, BaseException], None],
    ) -> None:
        self._ctx = ctx
        self._open_index = open_index
        self._quiet_s = quiet_s
        self._failed = failed
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._optimized: dict[str, tuple[float, float]] = {}
        self.stages: dict[str, float] = {}
        self.started = time.monotonic()
        self.busy = False

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def notify(self) -> None:
        """Something was written, or a store was opened."""
        self._wake.set()

    def stop(self, wait_s: float) -> None:
        """End after the batch that is being applied."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(wait_s)

    def _run(self) -> None:
        try:
            self._ctx.embedding.load()
            self._reached("model")
            self._attach_all()
            self._reached("vectors")
            self._wait_for_quiet()
            self._load_lance_all()
            self._reached("full")
            # What is loaded now stays: without this every full collection walks through all of it,
            # for tens of milliseconds, and a prompt may be waiting.
            gc.collect()
            gc.freeze()
        except Exception as error:
            self._failed("start", error)
        while not self._stopping.is_set():
            self._round()

    def _reached(self, stage: str) -> None:
        self.stages[stage] = round(time.monotonic() - self.started, 3)

    def _round(self) -> None:
        self.busy = True
        try:
            self._attach_all()
            self._load_lance_all()
            moved = sum(self._follow(shelf) for shelf in self._ctx.opened_shelves())
        except Exception as error:
            self._failed("index", error)
            moved = 0
            self._stopping.wait(RETRY_S)
        self.busy = False
        if not moved:
            self._wait()
            self._tidy()

    def _wait(self) -> None:
        if self._ctx.filling:
            # It is woken after every few memories then.
            self._stopping.wait(TICK_S)
        else:
            self._wake.wait(TICK_S)
        self._wake.clear()

    def _attach_all(self) -> None:
        if not self._ctx.embedding.model:
            return
        for shelf in self._ctx.opened_shelves():
            if shelf.index is None:
                self._attach(shelf)

    def _attach(self, shelf: Shelf) -> None:
        index = self._open_index(shelf.folder, self._ctx.embedding.model, self._ctx.embedding.dim)
        if not index.vectors_ready:
            reached = shelf.journal.last_seq()
            index.build_matrix(shelf.journal.iter_vectors(self._ctx.embedding.model), reached)
        shelf.attach(index)

    def _load_lance_all(self) -> None:
        for shelf in self._ctx.opened_shelves():
            if shelf.index is not None and not shelf.index.lexical_ready:
                damage = shelf.index.load_lance()
                if damage:
                    shelf.failed = damage
                    log.error("an index of %s was set aside: %s", shelf.folder, damage)
                if shelf.index.reached() > shelf.journal.given_seq():
                    # It follows another history: the journal was restored from a backup.
                    shelf.index.rebuild()

    def _follow(self, shelf: Shelf) -> int:
        try:
            if self._stopping.is_set():
                return 0
            moved = follow_once(shelf, self._ctx.embedding, bool(self._ctx.filling))
            if moved and self._may_optimize(shelf):
                self._tidy_one(shelf)
            return moved
        except StoreDamagedError as error:
            shelf.damaged(error)
            raise
        except VectorMemoryError as error:
            shelf.failed = str(error)
            raise

    def _may_optimize(self, shelf: Shelf) -> bool:
        """Whether to optimise in the middle of a backlog: rows that no index covers yet slow every
        search, but optimising may take a tenth of the time at most."""
        ended, took_s = self._optimized.get(shelf.folder, (0.0, 0.0))
        return time.monotonic() - ended > 10 * took_s

    def _wait_for_quiet(self) -> None:
        until = time.monotonic() + IMPATIENT_S
        while time.monotonic() < until and not self._stopping.is_set():
            if self._quiet_s() >= QUIET_S:
                return
            time.sleep(0.02)

    def _tidy(self) -> None:
        """Optimise and save what changed, and let the process for many texts go."""
        quiet_s = self._quiet_s()
        if quiet_s > REST_AFTER_S:
            self._ctx.embedding.rest()
        if quiet_s < TIDY_AFTER_S or self._ctx.filling or self._stopping.is_set():
            return
        for shelf in self._ctx.opened_shelves():
            self._tidy_one(shelf)
            self._while_quiet("weaving", partial(weave, self._ctx, shelf))
        self._while_quiet("topics", self._finish_some)
        self._ctx.uses.write()
        self._ctx.state.flush()
        self._rotate_audit()

    def _rotate_audit(self) -> None:
        try:
            self._ctx.state.rotate_audit()
        except (OSError, VectorMemoryError) as error:
            self._failed("audit", error)

    def _while_quiet(self, where: str, work: Callable[[], int]) -> None:
        """Do work bit by bit as long as there is some, and nobody asks anything."""
        try:
            while self._quiet_s() >= TIDY_AFTER_S and not self._stopping.is_set():
                if not work():
                    return
        except VectorMemoryError as error:
            self._failed(where, error)

    def _finish_some(self) -> int:
        if not self._ctx.state.has_due():
            return 0
        # What reads sessions is imported when there is one to read.
        from vector_memory.service.unfinished import finish_some

        return finish_some(self._ctx)

    def _tidy_one(self, shelf: Shelf) -> None:
        index = shelf.index
        if index is None or not index.lexical_ready:
            return
        if index.needs_optimize():
            started = time.monotonic()
            with shelf.following:
                try:
                    index.optimize()
                except VectorMemoryError as error:
                    self._failed("optimize", error)
            ended = time.monotonic()
            self._optimized[shelf.folder] = (ended, ended - started)
