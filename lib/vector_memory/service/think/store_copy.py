"""A copy of a project's store with everything around it, on which things can be tried: whatever is done there is
done to nobody's memory."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from vector_memory.config import Settings
from vector_memory.errors import DaemonUnavailableError
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.model import BegunVector, Progress
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.base.embedding import PROMPT_CHARS, Embedding
from vector_memory.service.base.follow_journal import follow_once
from vector_memory.service.base.shelf import Shelf
from vector_memory.system.paths import Home

if TYPE_CHECKING:
    from vector_memory.model import Vectors
    from vector_memory.retrieve.query import Query

JOURNAL = "journal.db"
MODEL_WAIT_S = 30.0


class PatientEmbedding(Embedding):
    """The daemon's model, asked with patience: how busy the machine is must not make a difference. It is the daemon's
    to close."""

    def __init__(self, shared: Embedding) -> None:
        vars(self).update(vars(shared))
        self._shared = shared

    def of_prompt(self, query: Query) -> BegunVector:
        """Return the vector of a prompt's beginning, however long it takes."""
        return BegunVector(lambda: self.query(query.embedded[:PROMPT_CHARS]))

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
        asker.own.journal.backup_to(os.path.join(home.global_store, JOURNAL))
        state = stack.enter_context(contextlib.closing(State.open(home.state_db)))
        made = Context(
            home=home,
            settings=alone(ctx.settings),
            state=state,
            embedding=PatientEmbedding(ctx.embedding),
            open_shelf=lambda path: Shelf(path, Journal.open(path)),
            now=ctx.now,
            local_now=ctx.local_now,
            hooks=ctx.hooks,
            stopping=ctx.stopping,
        )
        stack.callback(_close, made)
        yield made


def _close(made: Context) -> None:
    for shelf in made.opened_shelves():
        shelf.close(save=False)


def alone(settings: Settings) -> Settings:
    """Return settings under which nothing outside the copy is read or written, and no model is asked."""
    nothing = dict.fromkeys(("vault", "daily_notes", "reviews", "generation_backend"), "")
    return replace(settings, **nothing, archive=False, jobs=False)  # type: ignore[arg-type]


def set_time(copy: Context, moment: datetime) -> None:
    """Let it be another time there, aware UTC."""
    copy.now, copy.local_now = (lambda: moment), moment.astimezone


def follow(copy: Context, progress: Progress) -> None:
    """Make or bring level the copy's index."""
    from vector_memory.store.index import Index

    shelf = copy.global_shelf()
    if shelf.index is None:
        index = Index.open(shelf.folder, copy.embedding.model, copy.embedding.dim)
        index.load_lance()
        shelf.attach(index)
    left = shelf.journal.count_after(shelf.index.reached() if shelf.index else 0)
    done = 0
    while (step := follow_once(shelf, copy.embedding)) and not copy.stopping.is_set():
        done += step
        copy.hooks.give_way()
        progress(min(done, left), left, "indexing the copy")
