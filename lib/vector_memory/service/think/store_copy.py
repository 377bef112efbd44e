"""A copy of a project's store with everything around it, on which things can be tried: whatever is done there is
done to nobody's memory. And an installation of its own that is thrown away, with a daemon and hooks."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vector_memory.client import trial
from vector_memory.client.link import DaemonClient
from vector_memory.client.trial import Line
from vector_memory.config import Settings
from vector_memory.errors import DaemonUnavailableError, VectorMemoryError
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.model import BegunVector, Progress
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.base.embedding import PROMPT_CHARS, Embedding
from vector_memory.service.base.follow_journal import follow_once
from vector_memory.service.base.shelf import Shelf
from vector_memory.system.json_in import Record
from vector_memory.system.paths import Home

if TYPE_CHECKING:
    from vector_memory.model import Vector, Vectors
    from vector_memory.retrieve.query import Query

JOURNAL = "journal.db"
MODEL_WAIT_S = 30.0


class PatientEmbedding(Embedding):
    """The daemon's model, asked with patience: how busy the machine is must not make a difference. It is the daemon's
    to close."""

    def __init__(self, shared: Embedding) -> None:
        vars(self).update(vars(shared))
        self._shared = shared

    @property
    def state(self) -> str:
        """The state of the daemon's model, whose process is asked for documents."""
        return self._shared.state

    def of_prompt(self, query: Query) -> BegunVector:
        """Return the vector of a prompt's beginning, however long it takes."""
        return lambda: self.query(query.embedded[:PROMPT_CHARS])

    def query(self, text: str) -> Vector | None:
        """Return a question's vector, (dim,), by the daemon's own, which notes how its model does."""
        return self._shared.query(text)

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return (len(texts), dim) vectors in the order of `texts`, by the daemon's own process."""
        return self._shared.documents(texts)


@contextlib.contextmanager
def copied(ctx: Context, asker: ProjectAsker) -> Iterator[Context]:
    """Yield the service on a copy of the store that a project's memories are written to, and remove it at the end.

    It has a state of its own: nothing was shown to any session there, and no other store is trusted.

    Raises:
        DaemonUnavailableError: there is no embedding model now, so nothing could be compared.
    """
    if not (ctx.embedding.wait(MODEL_WAIT_S) and ctx.embedding.model):
        raise DaemonUnavailableError(
            "The embedding model is not there.", "`vector-memory doctor` tells why."
        )
    with contextlib.ExitStack() as stack:
        run = ctx.home.path("run")
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="copy-", dir=run))
        home = Home(os.path.join(folder, "home")).make()
        os.makedirs(home.global_store, mode=0o700, exist_ok=True)
        asker.own_shelf.journal.backup_to(os.path.join(home.global_store, JOURNAL))
        state = stack.enter_context(contextlib.closing(State.open(home.state_db)))
        copy = Context(
            home=home,
            settings=isolated(ctx.settings),
            state=state,
            embedding=PatientEmbedding(ctx.embedding),
            open_shelf=lambda path: Shelf(path, Journal.open(path)),
            now=ctx.now,
            local_now=ctx.local_now,
            hooks=ctx.hooks,
            stopping=ctx.stopping,
        )
        stack.callback(_close, copy)
        yield copy


def _close(copy: Context) -> None:
    for shelf in copy.opened_shelves():
        shelf.close(save=False)


def isolated(settings: Settings) -> Settings:
    """Return settings under which nothing outside the copy is read or written, and no model is asked."""
    nothing = dict.fromkeys(("vault", "daily_notes", "reviews", "generation_backend"), "")
    return replace(settings, **nothing, archive=False, jobs=False)  # type: ignore[arg-type]


def set_time(copy: Context, moment: datetime) -> None:
    """Set the copy's clock to a moment, aware UTC."""
    copy.now, copy.local_now = (lambda: moment), moment.astimezone


def follow(copy: Context, progress: Progress) -> None:
    """Make the copy's index, or bring it up to date with its journal."""
    from vector_memory.store.index import Index

    shelf = copy.global_shelf()
    if shelf.index is None:
        index = Index.open(shelf.folder, copy.embedding.model, copy.embedding.dim)
        index.load_lance()
        shelf.attach(index)
    total = shelf.journal.count_after(shelf.index.reached() if shelf.index else 0)
    indexed = 0
    while (step := follow_once(shelf, copy.embedding)) and not copy.stopping.is_set():
        indexed += step
        copy.hooks.give_way()
        progress(min(indexed, total), total, "indexing the copy")


HOOK_S, ANSWER_S, SETTLE_S, GONE_S, POLL_S = 20.0, 60.0, 120.0, 10.0, 0.1
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__)))))
"""Where hooks/ and lib/ are."""
PATIENCE_S = 10.0
_PATIENT = """import sys
sys.path.insert(0, sys.argv[1])
from vector_memory.client import exchange
exchange.DEADLINE_S = exchange.DAEMON_S = float(sys.argv[2])
sys.argv[:] = sys.argv[3:]
with open(sys.argv[0]) as file:
    exec(compile(file.read(), sys.argv[0], "exec"), {"__file__": sys.argv[0]})"""
"""Runs a hook as it is, but lets it wait longer for the daemon: what it would show is looked at here, and on a busy
machine it would show nothing."""


class Installation:
    """A scratch installation with a project.

    Attributes:
        project: the project's folder.
        hook_outputs: all that hooks have printed.
    """

    def __init__(self, home: Home, folder: str) -> None:
        self.home, self.folder = home, folder
        self.project = os.path.join(folder, "heronry")
        self.daemon = DaemonClient(home)
        self.hook_outputs: list[str] = []
        self._sessions = 0

    def ask(self, verb: str, actor: str = "user", **request: Any) -> Record:
        """Return what the daemon answers about the project.

        Raises:
            VectorMemoryError: it refused.
        """
        fields = {"project": self.project, "cwd": self.project, "actor": actor, **request}
        return Record(self.daemon.ask(verb, fields, ANSWER_S))

    def session(self) -> str:
        """Return a session's id that was not used yet."""
        self._sessions += 1
        return f"probe-{self._sessions:04}"

    def hook(self, stem: str, session: str, **event: object) -> str:
        """Run a hook and return what it gives the model, "" for nothing."""
        script = os.path.join(ROOT, "hooks", f"{stem}.py")
        arguments = ["-c", _PATIENT, os.path.join(ROOT, "lib"), str(PATIENCE_S), script]
        command = [self.home.runtime_python, "-I", "-S", *arguments, self.home.root]
        fields = {"session_id": session, **event}
        with contextlib.suppress(subprocess.TimeoutExpired):
            result = trial.run_hook(
                command, stem, self.home, self.project, HOOK_S, self.folder, **fields
            )
            self.hook_outputs.append(result.stdout.decode("utf-8", "replace"))
            return trial.context_in(result.stdout)
        return ""

    def prompt(self, session: str, text: str) -> str:
        """Return what a prompt of the user's is given."""
        return self.hook("user_prompt_submit", session, prompt=text, transcript_path="")

    def tell(self, lines: Sequence[Line]) -> None:
        """End a session with a transcript of these lines: each a role with a text or blocks."""
        session = self.session()
        path = os.path.join(self.folder, f"{session}.jsonl")
        trial.write_transcript(path, session, self.project, lines)
        self.hook("session_end", session, transcript_path=path, reason="exit")

    def wait_until(self, holds: Callable[[], bool], most_s: float = SETTLE_S) -> bool:
        """Wait until a condition holds; return whether it came to."""
        end = time.monotonic() + most_s
        while not (is_met := holds()) and time.monotonic() < end:
            time.sleep(POLL_S)
        return is_met

    def settle(self) -> None:
        """Wait until all that was stored can be found by meaning."""
        self.daemon.ask("wait", {"timeout_s": SETTLE_S}, SETTLE_S + ANSWER_S)

    def stop(self) -> None:
        """End the daemon and wait until its files are closed."""
        with contextlib.suppress(VectorMemoryError, OSError):
            self.daemon.stop()
        self.wait_until(lambda: not os.path.exists(self.home.socket), GONE_S)


@contextlib.contextmanager
def installed(like: Home, settings: Settings) -> Iterator[Installation]:
    """Yield an installation with the same runtime, model and settings as this one, and remove it at the end."""
    folder = tempfile.mkdtemp(prefix="vector-memory-")
    installation = Installation(Home(os.path.join(folder, "home")), folder)
    try:
        make_home(installation.home, like, settings)
        os.makedirs(installation.project)
        yield installation
    finally:
        installation.stop()
        shutil.rmtree(folder, ignore_errors=True)


def make_home(home: Home, like: Home, settings: Settings) -> None:
    """Make an empty data home with the runtime, the models and the settings of another one, which reads and writes
    nothing outside."""
    os.makedirs(home.root, mode=0o700, exist_ok=True)
    for name in ("runtime", "models"):
        if not os.path.lexists(home.path(name)):
            os.symlink(os.path.realpath(like.path(name)), home.path(name))
    home.make()
    own_values, usual = asdict(isolated(settings)), asdict(Settings())
    changed = {name: value for name, value in own_values.items() if value != usual[name]}
    with open(home.config, "w", encoding="utf-8") as file:
        json.dump({**changed, "excluded_projects": []}, file)
