"""The house behind the socket: journal, store and embedder put together, with the threads that look
after them. The only place that knows all the parts."""

from __future__ import annotations

import collections
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vector_memory.config import Settings
from vector_memory.daemon.keeper import Keeper
from vector_memory.daemon.server import Reply
from vector_memory.daemon.work import Worker
from vector_memory.errors import BadInputError
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.paths import Home
from vector_memory.service.context import Context
from vector_memory.service.embedding import Embedding
from vector_memory.service.shelf import Shelf

if TYPE_CHECKING:
    from vector_memory.daemon.events import Events
    from vector_memory.model import Embedder
    from vector_memory.store.index import Index

log = logging.getLogger(__name__)

MAX_ERRORS = 50
CHORES_PAUSE_S = 0.03
MINER_WAIT_S = 0.5


class House:
    """All parts of one daemon."""

    def __init__(self, home: Home, settings: Settings, quiet_s: Callable[[], float]) -> None:
        self.home = home
        self.errors: collections.deque[dict[str, Any]] = collections.deque(maxlen=MAX_ERRORS)
        self._settings = settings
        self.ctx = Context(
            home=home,
            settings=settings,
            state=State.open(home.state_db),
            embedding=Embedding(self._load_embedder, self._load_bulk),
            open_shelf=lambda folder: Shelf(folder, Journal.open(folder)),
        )
        self.ctx.global_shelf()
        self._chores = Worker("chores", self._failed, CHORES_PAUSE_S)
        self._indexer = Worker("indexer", self._failed)
        self._miner = Worker("miner", self._failed)
        self._keeper = Keeper(self.ctx, open_index, quiet_s, self._failed)
        self.ctx.notify = self._keeper.notify
        self.ctx.later = self._chores.put
        self.ctx.slowly = self._miner.put
        self._events: Events | None = None

    def start(self, started: float) -> None:
        """Start the threads; the socket answers already.

        Args:
            started: when the process started, on the monotonic clock.
        """
        self._keeper.started = started
        self._keeper.stages["lexical"] = round(time.monotonic() - started, 3)
        self._chores.start()
        self._indexer.start()
        self._miner.start()
        self._chores.put(_warm)
        self._indexer.put(self._begin)
        self._keeper.start()

    def hook(self, event: str, body: bytes) -> bytes:
        """Return what a hook prints. A hook that cannot help says nothing: errors are only logged."""
        try:
            with self.ctx.hooks.answering():
                return self.events.answer(event, body)
        except Exception as error:
            self._failed(f"hook {event}", error)
            return b""

    def ask(self, verb: str, request: dict[str, Any], reply: Reply) -> dict[str, Any]:
        """Answer a verb."""
        from vector_memory.daemon import verbs
        from vector_memory.service import privacy

        with privacy.for_request(self.ctx, request):
            if verb in verbs.SIMPLE:
                answer = verbs.SIMPLE[verb](self.ctx, request)
                return privacy.shown(answer) if verb in verbs.SHOWN else answer
            if verb in verbs.LONG:
                return verbs.LONG[verb](self.ctx, request, reply)
        known = ", ".join(sorted((*verbs.SIMPLE, *verbs.LONG)))
        raise BadInputError(f"There is no verb {verb!r}.", f"Verbs: {known}.")

    @property
    def events(self) -> Events:
        """The hooks' side, made when the first hook comes."""
        if self._events is None:
            from vector_memory.daemon.events import Events

            self._events = Events(self.ctx, self._indexer.put)
        return self._events

    def use(self, settings: Settings) -> None:
        """Put changed settings in force."""
        self._settings = settings
        self.ctx.settings = settings

    def state(self) -> str:
        """Return the stage: `lexical`, `vectors` or `full`; `degraded` without a model."""
        if self.ctx.embedding.state == "failed":
            return "degraded"
        for stage in ("full", "vectors"):
            if stage in self._keeper.stages:
                return stage
        return "lexical"

    def stages(self) -> dict[str, float]:
        """Return when each stage was reached, in seconds since the start."""
        return dict(self._keeper.stages)

    def busy(self) -> bool:
        """Whether background work is being done."""
        return (
            not (self._indexer.idle and self._chores.idle and self._miner.idle) or self._keeper.busy
        )

    def health(self) -> dict[str, Any]:
        """Return the last errors and the counters."""
        from vector_memory.service import generation, privacy

        self.ctx.state.flush()
        return {
            "errors": list(self.errors),
            "generation": generation.report(self.ctx),
            "privacy": privacy.report(self.ctx),
            "counters": self.ctx.state.totals(),
            "embedding": {
                "state": self.ctx.embedding.state,
                "model": self.ctx.embedding.model,
                "error": self.ctx.embedding.error,
            },
        }

    def close(self, wait_s: float) -> None:
        """End the threads and close everything; what is spooled stays for the next daemon."""
        self._indexer.stop(wait_s)
        self._chores.stop(wait_s)
        # A model may be writing for minutes: what it has not read by now is read another time.
        self._miner.stop(min(wait_s, MINER_WAIT_S))
        self._keeper.stop(wait_s)
        self.ctx.close()

    def _begin(self) -> None:
        """Do what was left undone, before anything new is indexed."""
        from vector_memory.daemon.events import sweep_claims

        sweep_claims(self.ctx)
        self.events.drain_spool()
        if self.ctx.settings.extraction:
            from vector_memory.service import turn_end

            turn_end.resume_mining(self.ctx)

    def _failed(self, where: str, error: BaseException) -> None:
        log.error("%s failed: %s: %s", where, type(error).__name__, error, exc_info=error)
        self.errors.append(
            {"at": time.time(), "where": where, "error": f"{type(error).__name__}: {error}"}
        )
        self.ctx.count("errors")

    def _load_embedder(self) -> Embedder:
        from vector_memory.embed import registry

        return registry.create(self._settings, self.home.models)

    def _load_bulk(self) -> Embedder:
        from vector_memory.embed.pool import BulkEmbedder

        return BulkEmbedder(self._settings, self.home.models, self.home.pycache)


def _warm() -> None:
    """Make the redactor ready. It is imported here and not before: the first answer would wait."""
    from vector_memory import redact

    redact.warm()


def open_index(folder: str, model: str, dim: int) -> Index:
    """Open the index of a store folder for an embedding model."""
    from vector_memory.store.index import Index

    return Index.open(folder, model, dim)
