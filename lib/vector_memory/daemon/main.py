"""The daemon: take the lock, open the journal, answer; bring up the rest behind that."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vector_memory import config, wire
from vector_memory.client import fallback
from vector_memory.client.link import ONLY_READ
from vector_memory.client.spawn import LOCK_FD
from vector_memory.client.spool import read_aside
from vector_memory.daemon.callers import Callers
from vector_memory.daemon.early import EarlyPrompts
from vector_memory.daemon.health import DaemonStatus
from vector_memory.daemon.hook_message import HookMessage
from vector_memory.daemon.lock import acquire
from vector_memory.daemon.server import Reply, Sent, Server, Written
from vector_memory.errors import (
    BadInputError,
    DaemonUnavailableError,
    NotFoundError,
    StoreDamagedError,
    StoreFullError,
    StoreTamperedError,
    VectorMemoryError,
)
from vector_memory.service.base import delivery, messages
from vector_memory.service.base.delivery import Delivery
from vector_memory.service.base.disk_reserve import Reserve
from vector_memory.system import bytecode, json_in, paths, private
from vector_memory.system.paths import Home

if TYPE_CHECKING:
    from vector_memory.daemon.app import App

log = logging.getLogger("vector_memory.daemon")

DRAIN_S = 4.0
CLOSE_S = 3.0
END_S = 8.0
"""After so long an ending daemon is ended by the system: who told it to stop waits 10 s, and what was
acknowledged is on the disk."""
HUNG_S = 120.0
"""A daemon that could not even look around for so long answers nobody: a regular expression that never
ends, say, holds the interpreter's lock. It ends itself, and the next hook starts another."""
OPENING_S = 1_800.0
"""The same while stores are opened: migrating or mending a large journal takes its time."""
LEFT_ALONE_S = 5.0
"""After so long without a request it looks whether its plugin is still installed, and one without a store ends."""
MAX_LOG_BYTES = 1_000_000
MOST_DEPTH = 32
SOCKET = "daemon.sock"
MOVED = "its data home is no longer where it was"
PROMPT = "UserPromptSubmit"


def main(root: str) -> int:
    """Serve a data home until idle or told to stop; 0 also where another daemon serves already."""
    started = time.monotonic()
    os.umask(0o077)
    gc.set_threshold(20_000, 20, 50)
    os.closerange(3, LOCK_FD)
    os.closerange(LOCK_FD + 1, 256)
    try:
        home = _enter_home(root)
    except VectorMemoryError as error:
        # Stderr is a file where one can be made at all: `logs/daemon.out`.
        sys.stderr.write(f"{error}\n")
        return 1
    lock = acquire(home.lock)
    if lock is None:
        return 0
    _log_to(os.path.join(home.logs, "daemon.log"))
    try:
        in_order = Daemon(home, started).run()
    except Exception as error:
        log.exception("the daemon failed")
        bytecode.mend(error)
        _leave_reason(home, error)
        return 3
    if not in_order:
        # The interpreter's own end would wait for threads that are still at work.
        logging.shutdown()
        os._exit(0)
    faulthandler.cancel_dump_traceback_later()
    return 0


def _enter_home(root: str) -> Home:
    """Make the data home's folders and go where the socket is to be.

    Raises:
        BadInputError: somebody else could get at it.
    """
    home = Home(root).make()
    home.require_closed()
    os.chdir(home.run)
    private.require_closed(".")
    return home


def _leave_reason(home: Home, error: Exception) -> None:
    """Leave for whoever started this daemon why it does not answer."""
    if not isinstance(error, VectorMemoryError):
        error = DaemonUnavailableError(f"The daemon failed: {error!r}.", "See logs/daemon.log.")
    reason = {"error": error.message, "hint": error.hint, "type": type(error).__name__}
    with contextlib.suppress(OSError), open(home.failure, "w", encoding="utf-8") as file:
        json.dump(reason, file)


class Daemon:
    """The process: a server, the app behind it, and the rules of when to end."""

    def __init__(self, home: Home, started: float) -> None:
        self.home = home
        # Held open: no folder that is made in its place can be taken for it.
        self._folder = os.open(home.root, os.O_RDONLY)
        self.version = paths.version()
        self.started = started
        self.early = EarlyPrompts(self._begin_answer, self._give_up)
        self.server = Server(SOCKET, self.handle, self._stir, self.early)
        self.settings_error = ""
        self._settings_stamp = _file_stamp(home.config)
        self.settings = self._load_settings()
        logging.getLogger("vector_memory").setLevel(self.settings.log_level.upper())
        self.reason = ""
        self.app: App | None = None
        self.failure: VectorMemoryError | None = None

    def run(self) -> bool:
        """Serve until there is a reason to end; whether it ended in good order."""
        _end_after(OPENING_S)
        signal.signal(signal.SIGTERM, lambda *_: self.end("terminated"))
        signal.signal(signal.SIGINT, lambda *_: self.end("interrupted"))
        try:
            self._open()
        except VectorMemoryError as error:
            # There is nothing to serve but the reason, and the way back: `restore`. A file with the reason could
            # not be written where the disk is full.
            log.error("no store can be opened: %s", error)
            self.failure = error
        _end_after(HUNG_S)
        self.server.listen()
        if self.app is not None:
            self.app.start(self.started)
        log.info("daemon %s serves, pid %d", self.version, os.getpid())
        self.server.serve(self._end_if_needless)
        log.info("daemon ends: %s", self.reason)
        # From now on the system sees to it: no thread, and no lock that one holds, can delay the end.
        _end_after(END_S)
        self.server.stop()
        if self.app is not None:
            self.app.interrupt()
        self.server.close(DRAIN_S)
        if self._has_moved():
            # What it would still write would make the old folder again.
            return False
        return self.app is None or self.app.close(CLOSE_S)

    def _open(self) -> None:
        """Open the stores. Their logs have to be made again after a daemon that ended in good order, which takes space:
        on a full disk the reserve is given up for it.

        Raises:
            VectorMemoryError: none can be opened.
        """
        from vector_memory.daemon.app import App

        reserve = Reserve(self.home.reserve)
        try:
            self.app = reserve.spare(lambda: App(self.home, self.settings, self._quiet_s))
        except OSError as error:
            if (full := StoreFullError.advice_for(error)) is None:
                raise
            raise full from error

    def end(self, reason: str) -> None:
        """Take no more requests and let `run` return."""
        self.reason = self.reason or reason
        self.server.stop()

    def handle(self, verb: str, body: bytes, version: str, reply: Reply) -> None:
        """Answer one request."""
        self._follow_settings()
        if self._is_replaced_by(version):
            if (begun := self.early.take(body)) is not None:
                begun.made.wait()
                begun.delivery.take_back()
            reply.send(wire.OLD, b"")
            self.end(f"version {version} takes over")
            return
        if self._has_moved():
            # Reached by the socket in the folder that was moved: the next one knows it by its new path.
            reply.send(wire.OLD, b"")
            self.end(MOVED)
            return
        if verb.startswith(wire.HOOK_VERB):
            self._answer_hook(verb[len(wire.HOOK_VERB) :], body, reply)
            return
        request = _parse_request(body)
        if verb not in ONLY_READ:
            callers = self.app.callers if self.app else Callers()
            request = callers.identified(request, reply.caller)
        own_verbs = self._own_verbs(request, reply)
        if verb in own_verbs:
            answer = messages.to_json(own_verbs[verb]())
        elif self.app is not None:
            answer = self.app.ask(verb, request, reply)
        else:
            assert self.failure is not None
            reply.error(self.failure)
            # Whoever asks next may have mended it: another start sees that.
            self.end("it has no store")
            return
        reply.json(wire.ANSWER, answer)

    def _answer_hook(self, event: str, body: bytes, reply: Reply) -> None:
        """Answer a hook. Where the hook has given up, the session was told nothing: what the answer holds may be told
        again."""
        if self.app is None:
            self._refuse_hook(event, body, reply)
            return
        begun = self.early.take(body) if event == PROMPT else None
        if begun is not None:
            self.app.note_prompt_start(event, begun.message, reply.caller)
            begun.made.wait()
            self._deliver(event, begun.printed, begun.delivery, reply)
            return
        with delivery.deliverable() as answer:
            self._deliver(event, self.app.hook(event, body, reply.caller), answer, reply)

    def _refuse_hook(self, event: str, body: bytes, reply: Reply) -> None:
        """Answer a hook without a store. What must not be lost gets an error, so that the hook spools it for the next
        daemon; so does a prompt where the files are whole and the hook can read them itself. A session's start is
        told the reason."""
        assert self.failure is not None
        is_readable = isinstance(self.failure, StoreFullError)
        if event in fallback.SPOOLED or (event == PROMPT and is_readable):
            reply.error(self.failure)
        elif event == "SessionStart":
            folder, _, stdin = wire.parse_hook(body)
            reason = str(self.failure)
            reply.send(wire.ANSWER, fallback.start_from_files(self.home, folder, stdin, reason))
        else:
            reply.send(wire.ANSWER, b"")
        # It may have been mended since, or there is space again: another start sees that.
        self.end("it has no store")

    def _deliver(self, event: str, printed: bytes, answer: Delivery, reply: Reply) -> None:
        try:
            reply.send(wire.ANSWER, printed)
            is_read = not answer or reply.is_read()
        except OSError:
            is_read = False
        if not is_read and answer:
            log.info("a hook of %s did not wait for its answer", event)
            answer.take_back()
            if self.app is not None:
                self.app.ctx.count("answers_unread")

    def _begin_answer(self, body: bytes, message: HookMessage) -> bytes:
        return self.app.hook(PROMPT, body, message=message) if self.app is not None else b""

    def _give_up(self, body: bytes) -> None:
        if self.app is not None:
            self.app.events.give_up(PROMPT, body)

    def _own_verbs(self, request: Sent, reply: Reply) -> dict[str, Callable[[], object]]:
        """Return what this process answers itself; without a store, what still makes sense."""
        verbs: dict[str, Callable[[], object]] = {
            "status": self.status,
            "stop": self._stop,
            "restore": lambda: self._restore(request, reply),
        }
        if self.app is not None:
            verbs |= {
                "reload": self._reload,
                "doctor": lambda: self._doctor(request),
                "restored": self._restored,
                "retry": self.app.retry,
            }
        return verbs

    def status(self) -> DaemonStatus:
        """Return what `daemon status` shows."""
        return DaemonStatus(
            pid=os.getpid(),
            rss_mb=round(rss_bytes() / 1e6, 1),
            state=self._state(),
            error=str(self.failure or ""),
            busy=bool(self.app and self.app.busy()),
            version=self.version,
            uptime_s=round(time.monotonic() - self.started, 1),
            requests=self.server.requests,
            stages_s=self.app.stages() if self.app else {},
            set_aside=len(read_aside(self.home)),
            data_home=self.home.root,
            variables=config.variables(),
        )

    def _state(self) -> str:
        if self.app is not None:
            return self.app.state()
        is_damaged = isinstance(self.failure, (StoreDamagedError, StoreTamperedError))
        return "damaged" if is_damaged else "shut"

    def _stop(self) -> Written:
        self.end("asked to stop")
        return {"stopping": True}

    def _restore(self, payload: Sent, reply: Reply) -> object:
        """Show what restoring a backup would do, or prepare it and end: the next daemon puts it in place."""
        from vector_memory.service.upkeep import restore

        request = messages.read(restore.RestoreRequest, payload)
        if request.dry_run:
            return restore.preview(self.home, request.path)
        request.require_user("restores a backup")
        trusted = self.app.ctx.state.trusted_folders() if self.app else []
        answer = restore.restore(self.home, request.path, trusted, reply.progress)
        self.end("a backup is to be restored")
        return answer

    def _restored(self) -> Written:
        """Return what was restored when this daemon started."""
        assert self.app is not None
        restored = self.app.restored
        if restored is None:
            raise NotFoundError("No backup was restored at the start.", "See logs/daemon.log.")
        return {**restored.contents, "aside": restored.aside}

    def _reload(self) -> Written:
        """Take the settings anew; what only a start can change ends this daemon."""
        self._apply_settings(config.load(self.home.config))
        # Whoever asked before may have had it end already.
        return {"reloaded": True, "restarting": bool(self.reason)}

    def _follow_settings(self) -> None:
        """Take the settings anew where somebody has edited their file: what it says is in force at once."""
        stamp = _file_stamp(self.home.config)
        if stamp != self._settings_stamp:
            self._settings_stamp = stamp
            self._apply_settings(self._load_settings())

    def _apply_settings(self, fresh: config.Settings) -> None:
        """Put settings in force; where only a start can change some, this daemon ends."""
        restart = config.needs_restart(self.settings, fresh)
        self.settings = fresh
        if self.app is not None:
            self.app.use(fresh)
        logging.getLogger("vector_memory").setLevel(fresh.log_level.upper())
        if restart:
            self.end("its embedding settings changed")

    def _doctor(self, request: Sent) -> Written:
        from vector_memory.service.base import privacy

        assert self.app is not None
        with privacy.for_request(self.app.ctx, request):
            health = self.app.health()
        return {**vars(self.status()), **vars(health), "settings_error": self.settings_error}

    def _load_settings(self) -> config.Settings:
        self.settings_error = ""
        try:
            return config.load(self.home.config)
        except BadInputError as error:
            # A typing error in a file must not take the memory away; `doctor` tells.
            self.settings_error = str(error)
            log.error("settings ignored: %s", error)
            return config.salvaged(self.home.config)

    def _quiet_s(self) -> float:
        return 0.0 if self.server.active else time.monotonic() - self.server.last_request

    def _end_if_needless(self) -> None:
        """End when idle for long, or when the data home is gone."""
        _end_after(HUNG_S)
        if not self.server.owns_socket():
            self.end("its socket is gone")
        elif self._has_moved():
            self.end(MOVED)
        else:
            # A hook that got no answer has removed it: nobody read what is in it.
            self.early.listen()
        if not os.path.exists(__file__):
            # What it has not imported yet it never can; the next client starts one of the program that is there.
            self.end("its program is gone")
        if self.app is not None:
            self.app.relieve()
            if self.app.ctx.embedding.is_replaced:
                self.end("there is another embedding model under its name")
            if hung := self.app.hung():
                self.end(f"its {hung} hangs")
        idle_s = self._quiet_s()
        if self.app is not None and idle_s > LEFT_ALONE_S and self.app.plugin.is_gone():
            self.end("the plugin was uninstalled")
        if self.app is None and idle_s > LEFT_ALONE_S:
            self.end("it has no store")
        if idle_s > self.settings.idle_exit_minutes * 60 and not (self.app and self.app.busy()):
            self.end("idle")

    def _has_moved(self) -> bool:
        """Whether the data home is no longer where it was; not where that cannot be told."""
        try:
            return not os.path.samestat(os.stat(self.home.root), os.fstat(self._folder))
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False

    def _stir(self) -> None:
        if self.app is not None:
            self.app.stir()

    def _is_replaced_by(self, version: str) -> bool:
        """Whether a newer client's code is installed, so that a newer daemon can follow this one."""
        if wire.version_tuple(version) <= wire.version_tuple(self.version):
            return False
        path = os.path.join(self.home.app_current, "lib", "vector_memory", "VERSION")
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            installed = file.read().strip()
            return wire.version_tuple(installed) > wire.version_tuple(self.version)
        return False


def _file_stamp(path: str) -> tuple[int, int, int] | None:
    """Return what changes when a file is written: its time, size and inode; None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _parse_request(body: bytes) -> Sent:
    try:
        request = json_in.load(body) if body else {}
    except ValueError as error:
        raise BadInputError(f"The request is no JSON: {error}.", "Send one object.") from error
    if not isinstance(request, dict):
        raise BadInputError("The request is no JSON object.", "Send one.")
    if not _is_shallow(request):
        raise BadInputError(f"The request is nested more than {MOST_DEPTH} deep.", "Make it flat.")
    return request


def _is_shallow(value: Any, levels: int = MOST_DEPTH) -> bool:
    """Whether a request is nested no deeper than so many levels: what reads it later may recurse. `json_in.load`
    limits how many values it holds."""
    if not isinstance(value, (dict, list)):
        return True
    members = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(member, levels - 1) for member in members)


def _end_after(seconds: float) -> None:
    """Have the system end this process after so long, whatever holds the interpreter's lock, with a word on
    stderr about where each thread was; until this is called again."""
    faulthandler.dump_traceback_later(seconds, exit=True)


class _RedactingFormatter(logging.Formatter):
    """Lines of the log without secrets: an error's message may quote what was being handled."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record, its traceback included, redacted whole."""
        from vector_memory import redact

        try:
            return redact.clean(super().format(record)).text
        except VectorMemoryError:
            return f"{record.levelname} {record.name}: [redacted:unsafe]"


def _log_to(path: str) -> None:
    """Log to a file; one that has grown large gives way, its last predecessor with it."""
    with contextlib.suppress(OSError):
        if os.path.getsize(path) > MAX_LOG_BYTES:
            os.replace(path, path + ".1")
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(_RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger("vector_memory")
    root.addHandler(handler)
    root.setLevel(logging.INFO)


def rss_bytes() -> int:
    """Return this process's resident memory, in bytes."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
