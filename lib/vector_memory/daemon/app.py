"""What stands behind the socket: journal, store and embedder put together, with the threads that look
after them. The only place that knows all the parts."""

from __future__ import annotations

import collections
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING

from vector_memory.client.spool import read_aside
from vector_memory.config import Settings
from vector_memory.daemon.background import Relay, Worker
from vector_memory.daemon.callers import CURSOR, Callers
from vector_memory.daemon.health import Health, LoggedError, ModelHealth, RetryAnswer
from vector_memory.daemon.hook_message import HookMessage
from vector_memory.daemon.keeper import Keeper
from vector_memory.daemon.plugin_watch import PluginWatch
from vector_memory.daemon.server import Reply, Sent, Written
from vector_memory.errors import BadInputError, StoreFullError, UnsafeTextError
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.service.base.context import Context
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.base.shelf import Shelf
from vector_memory.system import bytecode, children, programs
from vector_memory.system.paths import Home
from vector_memory.system.processes import Process

if TYPE_CHECKING:
    from vector_memory.daemon.events import Events
    from vector_memory.model import Embedder
    from vector_memory.service.upkeep.restore import Restored
    from vector_memory.store.index import Index

log = logging.getLogger(__name__)

MAX_ERRORS = 50
HOOK_WAITS_S = 0.13
"""How long a hook waits for the daemon before it helps itself (`client.exchange.DAEMON_S`)."""
CHORES_PAUSE_S = 0.03
MINER_WAIT_S = 0.5
MINER_PATIENCE_S = 1_200.0
"""How long other sessions wait for a model that reads one: somewhat longer than it may take."""
RETRY_WAIT_S = 60.0
HUNG_S = 1_800.0
HUNG_MINER_S = 3_600.0
"""How long one piece of background work may take. What takes longer hangs, and the daemon makes room
for another one."""


class App:
    """All parts of one daemon."""

    def __init__(self, home: Home, settings: Settings, quiet_s: Callable[[], float]) -> None:
        self.home = home
        self.restored = _finish_restoring(home)
        self.errors: collections.deque[LoggedError] = collections.deque(maxlen=MAX_ERRORS)
        self._settings = settings
        self.ctx = Context(
            home=home,
            settings=settings,
            state=State.open(home.state_db),
            embedding=Embedding(self._load_embedder, self._load_bulk),
            open_shelf=lambda folder: Shelf(folder, Journal.open(folder)),
        )
        self.ctx.global_shelf()
        self._note_restored()
        self._chores = Worker("chores", self._failed, CHORES_PAUSE_S)
        self._indexer = Worker("indexer", self._failed)
        self._miner = Worker("miner", self._failed, patience_s=MINER_PATIENCE_S)
        self._keeper = Keeper(
            self.ctx, open_index, quiet_s, self._failed, self._recovered, self._warm_up
        )
        threads: list[Relay] = [self._chores, self._indexer, self._keeper, self._miner]
        self._threads = {thread.name: thread for thread in threads}
        self.stir = self._keeper.stir
        self.ctx.notify = self._follow_write
        self.ctx.later = self._chores.put
        self.ctx.slowly = self._miner.put
        self.ctx.publish = self._publish
        self.ctx.spooled = lambda path: self.events.backlog.add(path)
        self._events: Events | None = None
        self._will_recount = False
        self.plugin = PluginWatch()
        self.callers = Callers(
            lambda: self.ctx.state.cursor(CURSOR),
            lambda clients: self.ctx.later(lambda: self.ctx.state.set_cursor(CURSOR, clients)),
        )

    def start(self, started: float) -> None:
        """Start the threads; the socket answers already.

        Args:
            started: when the process started, on the monotonic clock.
        """
        self._keeper.started = started
        self._keeper.stages["lexical"] = round(time.monotonic() - started, 3)
        self._chores.put(self._publish)
        # A new home has none yet.
        self._chores.put(self.ctx.reserve.keep)
        self._indexer.put(self._begin)
        for thread in self._threads.values():
            thread.start()

    def hook(
        self,
        event: str,
        body: bytes,
        caller: Process | None = None,
        message: HookMessage | None = None,
    ) -> bytes:
        """Return what a hook prints. A hook that cannot help says nothing: errors are only logged.

        Args:
            message: what is in the body, where it was read already.
        """
        started, printed = time.monotonic(), b""
        try:
            starter = self.callers.started_by(caller)
            with self.ctx.hooks.going_on():
                printed = self.events.answer(event, body, starter, message)
        except Exception as error:
            self._failed(f"hook {event}", error)
        self.ctx.timings.add(event, time.monotonic() - started)
        # Most tool calls are only reported, and nobody waits for an answer to them.
        waited = event != "SessionStart" and (printed or event != "PreToolUse")
        if waited and time.monotonic() - started > HOOK_WAITS_S:
            self.ctx.count("answers_too_late")
        return printed

    def note_prompt_start(self, event: str, message: HookMessage, caller: Process | None) -> None:
        """Take note of who started a hook whose answer was begun before it asked."""
        if not message.agent_id:
            self.callers.note_words(self.callers.started_by(caller), event, message.prompt)

    def ask(self, verb: str, request: Sent, reply: Reply) -> Written:
        """Return a verb's answer as JSON.

        Raises:
            VectorMemoryError: there is no such verb, or what it reports.
        """
        from vector_memory.daemon import verbs
        from vector_memory.service.base import privacy
        from vector_memory.service.memory import agent_rights

        try:
            with (
                privacy.for_request(self.ctx, request),
                agent_rights.admitted(self.ctx, verb, request),
            ):
                if door := str(request.get("door") or ""):
                    # By whose token, and what for; what it did to which memories, the verb notes itself.
                    address = str(request.get("address") or verb)[:60]
                    self.ctx.audit("http", f"http:{door[:40]}", [], asked=address)
                if verb in verbs.SIMPLE:
                    started = time.monotonic()
                    answer = verbs.SIMPLE[verb](self.ctx, request)
                    self.ctx.timings.add(verb, time.monotonic() - started)
                    return verbs.shown(answer) if verb in verbs.SHOWN else answer
                if verb in verbs.LONG:
                    return verbs.LONG[verb](self.ctx, request, reply)
        except UnsafeTextError:
            self.ctx.count("texts_dropped")
            raise
        names = ", ".join(sorted((*verbs.SIMPLE, *verbs.LONG)))
        raise BadInputError(f"There is no verb {verb!r}.", f"Verbs: {names}.")

    @property
    def events(self) -> Events:
        """The hooks' side, made when the first hook comes."""
        if self._events is None:
            from vector_memory.daemon.events import Events

            self._events = Events(self.ctx, self._indexer.put, self.callers, self.plugin)
        return self._events

    def use(self, settings: Settings) -> None:
        """Put changed settings in force."""
        self._settings = settings
        self.ctx.settings = settings
        self._publish()
        self._warm_up()

    def _follow_write(self) -> None:
        """Something was written, or a store was opened: the index follows, and hooks of tool calls may have to ask."""
        self._keeper.notify()
        if not self._will_recount:
            self._will_recount = True
            self._chores.put(self._recount)

    def _recount(self) -> None:
        from vector_memory.service.learning import conditions

        self._will_recount = False
        conditions.asks_at_tools(self.ctx)

    def _publish(self) -> None:
        """Tell the hooks of tool calls what is of interest. Where nothing can be written, nothing is."""
        from vector_memory.service.learning import conditions
        from vector_memory.service.tools import dispatch

        try:
            has_procedures = conditions.asks_at_tools(self.ctx)
            dispatch.publish_wishes(self.home.tools, self.ctx.settings, has_procedures)
        except OSError as error:
            log.warning("hooks of tool calls stay as they are: %s", error)

    def _warm_up(self) -> None:
        """Make ready what takes long the first time: redaction, and what looks at tool calls. The model
        and the index come first: they would wait for it, too."""
        self._chores.put(_warm)
        self._chores.put(self._warm_up_tool_calls)

    def _warm_up_tool_calls(self) -> None:
        from vector_memory.service.tools import dispatch

        dispatch.warm_up(self.ctx.settings)

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
        """Whether background work is being done, tidying up included: no daemon ends itself meanwhile."""
        return (
            not (self._indexer.idle and self._chores.idle and self._miner.idle) or self._keeper.busy
        )

    def health(self) -> Health:
        """Return the last errors and the counters."""
        from vector_memory.service.base import model_help, privacy_rules
        from vector_memory.service.upkeep import stats

        stats.add_hook_counts(self.ctx)
        self.ctx.state.flush()
        model = self.ctx.embedding
        return Health(
            errors=list(self.errors),
            generation=model_help.report(self.ctx),
            privacy=privacy_rules.report(self.ctx),
            counters=self.ctx.state.totals(),
            slo=self.ctx.timings.report(self.ctx.state),
            embedding=ModelHealth(model.state, model.model, model.error),
        )

    def retry(self) -> RetryAnswer:
        """Try once more what was set aside; return how many events that were, and how many are again."""
        retried = self.events.backlog.retry()
        indexed = threading.Event()
        self._indexer.put(indexed.set)
        indexed.wait(RETRY_WAIT_S if retried else 0.0)
        return RetryAnswer(retried, len(read_aside(self.home)))

    def relieve(self) -> None:
        """Let what waits go on where one piece of background work takes long, and take up what hooks left."""
        for thread in self._threads.values():
            thread.relieve()
        if self._events is not None:
            self._events.backlog.take_up()

    def hung(self) -> str:
        """Return which thread has been at one piece of work for longer than any takes, "" if none."""
        for name, thread in self._threads.items():
            if thread.took_s > (HUNG_MINER_S if name == "miner" else HUNG_S):
                return name
        return ""

    def interrupt(self) -> None:
        """Have everything end soon: what is not begun is left to the next daemon, which knows of it,
        and nobody waits for processes that read, embed or write."""
        self.ctx.stopping.set()
        self.ctx.embedding.give_up()
        self._keeper.drop()
        self._indexer.drop()
        self._miner.drop()
        # They are small, and nothing else knows of them.
        self._chores.finish()
        children.kill_all()
        programs.end_all()

    def close(self, wait_s: float) -> bool:
        """Wait for the threads and close everything; whether all have ended in time.

        Where one has not, the files stay open: it may be writing to them. They bear that.
        """
        deadline = time.monotonic() + wait_s
        # A model may be writing for minutes, and nothing of that is lost.
        waits = {"miner": time.monotonic() + MINER_WAIT_S}
        late = [
            name
            for name, thread in self._threads.items()
            if not thread.join(waits.get(name, deadline)) and name != "miner"
        ]
        if late:
            log.warning("it ends in the middle of work: %s", ", ".join(late))
            self.ctx.save()
        else:
            self.ctx.close()
        return not late

    def _begin(self) -> None:
        """Do what was left undone, before anything new is indexed."""
        from vector_memory.daemon.events import sweep_claims
        from vector_memory.service.capture import feed

        sweep_claims(self.ctx)
        self.events.backlog.drain()
        self._chores.put(partial(feed.end_silent, self.ctx))
        if self.ctx.state.due_keys("purge") or self.ctx.state.records("purge"):
            from vector_memory.service.purge import purge

            self.ctx.slowly(lambda: purge.resume(self.ctx))
        if self.ctx.settings.generation_backend:
            from vector_memory.service.capture import model_reading

            self.ctx.slowly(partial(model_reading.read_due, self.ctx))

    def _note_restored(self) -> None:
        """Keep the trust that there was before a backup was restored, and note that one was."""
        if self.restored is None:
            return
        for folder in self.restored.trusted:
            self.ctx.state.trust(folder)
        memories = self.restored.contents["memories"]
        self.ctx.state.audit("restore", "user", [], {"memories": memories})

    def _recovered(self) -> None:
        """What could not be stored while the disk was full is stored now."""
        self._indexer.put(self.events.backlog.drain)

    def _failed(self, where: str, error: BaseException) -> None:
        if isinstance(error, StoreFullError):
            self.ctx.reserve.note_shortage()
        bytecode.mend(error)
        self.ctx.count("errors")
        logged = LoggedError(time.time(), where, f"{type(error).__name__}: {error}")
        previous = self.errors[-1] if self.errors else None
        if previous and (previous.where, previous.error) == (logged.where, logged.error):
            # What is tried every few seconds is told once.
            self.errors[-1] = replace(logged, times=(previous.times or 1) + 1)
            return
        log.error("%s failed: %s: %s", where, type(error).__name__, error, exc_info=error)
        self.errors.append(logged)

    def _load_embedder(self) -> Embedder:
        from vector_memory.embed import registry

        return registry.create(self._settings, self.home.models)

    def _load_bulk(self) -> Embedder:
        from vector_memory.embed.pool import BulkEmbedder

        return BulkEmbedder(self._settings, self.home.models, self.home.pycache)


def _finish_restoring(home: Home) -> Restored | None:
    """Put a backup in place that is to be restored, before anything is opened."""
    if not os.path.exists(home.restore_plan):
        return None
    from vector_memory.service.upkeep import restore

    return restore.finish(home)


def _warm() -> None:
    """Make the redactor ready, the words for times, and what a prompt is told of beside memories. They are imported
    here and not before: the first answer would wait."""
    from vector_memory import redact
    from vector_memory.service.learning import guidance, procedures  # noqa: F401
    from vector_memory.text import times

    redact.warm()
    times.spans("since yesterday", datetime.now(timezone.utc))


def open_index(folder: str, model: str, dim: int) -> Index:
    """Open the index of a store folder for an embedding model."""
    from vector_memory.store.index import Index

    return Index.open(folder, model, dim)
