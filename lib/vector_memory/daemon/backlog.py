"""The events that wait in the spool. Each is begun three times at most: one that fails, hangs or ends the
daemon is set aside, and keeps no other from being done.

How often an event was begun stands in its file's name, and is written before it is begun: it holds
whatever ends the daemon.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from vector_memory.client.spool import read_aside, read_entry, spooled_paths
from vector_memory.errors import StoreFullError
from vector_memory.service.base import privacy
from vector_memory.service.base.context import Context
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import delete_file
from vector_memory.system.json_in import Record

log = logging.getLogger(__name__)

MOST_TIMES = 3
MANY = 3
"""Events from which on what can be made later of what is read waits."""
AGAIN_S = 60.0
"""How long an event that failed is left alone: it is begun again with the next one after that."""
LEFT_S = 10.0
"""How long an event lies in the spool until it counts as one that a hook has left."""
REASON_CHARS = 300

Learn = Callable[[Record, str, bool], None]


class Backlog:
    """Takes the events of the spool one by one.

    Args:
        index: has work done by the indexing thread, in order.
        learn: does what an event means: (entry, the last answer, whether to read in a process of its own,
            which has a budget: the event failed before, and the daemon may have died of it).
        is_open: whether nothing tells now if what was said may be kept: what was said waits.
    """

    def __init__(
        self,
        ctx: Context,
        index: Callable[[Callable[[], object]], None],
        learn: Learn,
        is_open: Callable[[], bool],
    ) -> None:
        self._ctx = ctx
        self._index = index
        self._learn = learn
        self._is_open = is_open
        self._in_progress: set[str] = set()
        self._failed_at: dict[str, float] = {}
        self._queued: set[str] = set()
        self._lock = threading.Lock()

    def add(self, path: str, last_answer: str = "") -> None:
        """Queue an event that was just spooled, with the last answer of its turn."""
        self._index(partial(self._process_once, _stem(path), last_answer))
        self._index(self._retry_failed)

    def drain(self) -> None:
        """Queue all events that wait; those that were begun before come last."""
        for path in sorted(spooled_paths(self._ctx.home.spool), key=_attempts):
            self._index(partial(self._process_once, _stem(path)))

    def take_up(self) -> None:
        """Queue the events that hooks spooled since a busy daemon did not answer in time. A young file is left: this
        daemon may have spooled it itself and be about to `add` it."""
        for path in spooled_paths(self._ctx.home.spool):
            stem = _stem(path)
            if stem in self._failed_at or stem in self._queued:
                continue
            with suppress(FileNotFoundError):
                if time.time() - os.stat(path).st_mtime > LEFT_S:
                    if self._is_open():
                        return
                    self._queued.add(stem)
                    self._index(partial(self._process_once, stem))

    def retry(self) -> int:
        """Queue again what was set aside; return how many events that are."""
        aside = read_aside(self._ctx.home)
        self._ctx.hopeless.clear()
        for number, (path, _) in enumerate(aside):
            name = f"{time.time_ns():016x}-{os.getpid()}{number}.json"
            os.rename(path, _begun_path(os.path.join(self._ctx.home.spool, name), MOST_TIMES - 1))
        self.drain()
        return len(aside)

    def _retry_failed(self) -> None:
        """Do what failed a while ago."""
        now = time.monotonic()
        for stem in [path for path, at in self._failed_at.items() if now - at > AGAIN_S]:
            self._process_once(stem)

    def _process_once(self, stem: str, last_answer: str = "") -> None:
        with self._lock:
            if stem in self._in_progress:
                # A thread is still at it.
                return
            self._in_progress.add(stem)
        try:
            self._process(stem, last_answer)
        finally:
            self._in_progress.discard(stem)
            self._queued.discard(stem)

    def _process(self, stem: str, last_answer: str) -> None:
        self._failed_at.pop(stem, None)
        paths = [_begun_path(stem, attempts) for attempts in range(MOST_TIMES + 1)]
        path = next((form for form in paths if os.path.exists(form)), "")
        if not path:
            return
        entry, attempts = Record(read_entry(path)), _attempts(path) + 1
        if not entry.get("shown") and self._is_open():
            return
        if attempts > MOST_TIMES:
            self._set_aside(path, entry, "the daemon ended while it was at it")
            return
        begun_path = _begun_path(stem, attempts)
        os.rename(path, begun_path)
        try:
            if not entry:
                raise ValueError("it is no event")
            self._ctx.is_behind = len(spooled_paths(self._ctx.home.spool)) > MANY
            self._learn(entry, last_answer, attempts > 1)
        except Exception as error:
            if isinstance(error, StoreFullError) or self._ctx.stopping.is_set():
                # The event is not to blame.
                os.rename(begun_path, path)
            elif attempts == MOST_TIMES:
                self._set_aside(begun_path, entry, f"{type(error).__name__}: {error}")
            else:
                self._failed_at[stem] = time.monotonic()
            raise
        os.unlink(begun_path)

    def _set_aside(self, path: str, entry: dict[str, object], reason: str) -> None:
        """Keep an event where nobody waits for it. One of each kind for a transcript is enough: whoever
        reads it reads all that is new."""
        safe_reason = privacy.word_or(reason, "an error that cannot be told")[:REASON_CHARS]
        log.error("an event was set aside after %d tries: %s", MOST_TIMES, safe_reason)
        self._ctx.count("events_set_aside")
        key = f"{entry.get('event')}\0{entry.get('transcript') or path}\0{entry.get('session')}"
        name = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:32] + ".json"
        os.makedirs(self._ctx.home.spool_aside, mode=0o700, exist_ok=True)
        content = json.dumps({**entry, "reason": safe_reason}).encode("ascii")
        write_durably(os.path.join(self._ctx.home.spool_aside, name), content)
        delete_file(path)


def _stem(path: str) -> str:
    """Return an event's path as it was first."""
    folder, name = os.path.split(path)
    return os.path.join(folder, name.partition(".json")[0] + ".json")


def _begun_path(path: str, attempts: int) -> str:
    """Return the path of an event that was begun so many times."""
    return f"{path}.{attempts}" if attempts else path


def _attempts(path: str) -> int:
    attempts = path.rpartition(".")[2]
    return int(attempts) if attempts.isdigit() else 0
