"""The service with real stores and a fake model, in one process, followed by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from fakes_embed import FakeEmbedder

from vector_memory.config import Settings
from vector_memory.daemon import verbs
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.service.base.context import Context
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.base.follow_journal import follow_once
from vector_memory.service.base.shelf import Shelf
from vector_memory.store.index import Index
from vector_memory.system.paths import Home


class Unheard:
    """A client that does not listen."""

    def progress(self, done: int, total: int, doing: str) -> None:
        """Say nothing."""

    def json(self, status: bytes, data: Any) -> None:
        """Say nothing, in JSON."""
        json.dumps(data)


def door(ctx: Context, verb: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return what the daemon answers to a verb, as JSON: where it is short, without its last look for
    secrets, and where it is long, without what it says on the way."""
    if verb in verbs.LONG:
        return verbs.LONG[verb](ctx, request, Unheard())  # type: ignore[arg-type]
    return verbs.SIMPLE[verb](ctx, request)


class ServiceHouse:
    """A data home with all parts of the service. Time stands still until `pass_time`."""

    def __init__(self, folder: Path, embedder: Callable[[], Any] = FakeEmbedder) -> None:
        self.time = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)
        home = Home(str(folder / "data")).make()
        self.embedding = Embedding(embedder, embedder)
        self.ctx = Context(
            home=home,
            settings=replace(Settings(), threshold=0.2),
            state=State.open(home.state_db),
            embedding=self.embedding,
            open_shelf=lambda path: Shelf(path, Journal.open(path)),
            later=lambda work: work(),
            now=lambda: self.time,
            local_now=lambda: self.time,
        )
        self.embedding.load()

    def pass_time(self, **parts: float) -> None:
        """Let time go by."""
        self.time += timedelta(**parts)

    def follow(self) -> int:
        """Open the indexes if need be, bring them level, and return how many rows that took."""
        rows = 0
        for shelf in self.ctx.all_shelves():
            if shelf.index is None and self.embedding.model:
                index = Index.open(shelf.folder, self.embedding.model, self.embedding.dim)
                index.load_lance()
                shelf.attach(index)
            while step := follow_once(shelf, self.embedding):
                rows += step
        return rows

    def remember(self, text: str, project: Path | None = None, **more: Any) -> dict[str, Any]:
        """Remember a text for a project, or globally."""
        target = {"project": str(project)} if project else {"global": True}
        done = door(self.ctx, "remember", {"text": text, **target, **more})
        self.follow()
        return done

    def close(self) -> None:
        """Close everything."""
        self.ctx.close()
