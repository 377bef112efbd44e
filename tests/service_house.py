"""The service with real stores and a fake model, in one process, followed by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeVar

from fakes_embed import FakeEmbedder

from vector_memory.config import Settings
from vector_memory.daemon import verbs
from vector_memory.journal.journal import Journal
from vector_memory.journal.state import State
from vector_memory.journal.state_rows import Task
from vector_memory.model import Progress, ignore_progress
from vector_memory.service.base.asker import HookQuestion, asker_at
from vector_memory.service.base.context import Context
from vector_memory.service.base.embedding import Embedding
from vector_memory.service.base.follow_journal import follow_once
from vector_memory.service.base.shelf import Shelf
from vector_memory.service.capture import find_ideas, store_session
from vector_memory.service.memory import agent_rights
from vector_memory.store.index import Index
from vector_memory.system.paths import Home

T = TypeVar("T")


class Listener:
    """A client of a long verb: keeps what is sent to it on the way.

    Args:
        progress: is told how far the work is.
    """

    def __init__(self, progress: Progress = ignore_progress) -> None:
        self.progress = progress
        self.items: list[Any] = []

    def json(self, _: bytes, item: Any) -> None:
        """Keep what was sent."""
        self.items.append(item)

    def paced(self, items: Iterable[T]) -> Iterator[T]:
        """Yield what is made, as fast as it is made."""
        return iter(items)


def door(
    ctx: Context, verb: str, request: dict[str, Any], listener: Listener | None = None
) -> dict[str, Any]:
    """Return what the daemon answers to a verb, as JSON, without its last look for secrets. Nobody waits for
    vectors: nothing follows the journal by itself here."""
    with agent_rights.admitted(ctx, verb, request):
        if verb in verbs.SIMPLE:
            return verbs.SIMPLE[verb](ctx, request)
        reply: Any = listener or Listener()
        return verbs.LONG[verb](ctx, {"wait": False, **request}, reply)


def hook_question(
    ctx: Context, session: str, folder: str, prompt: str = "", **more: Any
) -> HookQuestion:
    """Return a hook's question as the daemon's door makes it."""
    asker = asker_at(ctx, folder)
    assert asker is not None
    return HookQuestion(**vars(asker), session=session, folder=folder, prompt=prompt, **more)


def captured_of(
    ctx: Context,
    path: str,
    folder: str = "",
    final: bool = False,
    tasks: Sequence[Task] = (),
    **more: Any,
) -> store_session.Captured:
    """Return what was stored of what is new in a transcript, whose ideas are found at once."""
    read = store_session.read_turn(ctx, path, final, **more)
    captured = store_session.store(ctx, [read], folder, tasks)
    find_ideas.find_all(ctx)
    return captured


def exported(ctx: Context, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what the daemon sends for an export, as JSON: lines, or parts of a Markdown file."""
    listener = Listener()
    door(ctx, "export", request, listener)
    return listener.items


def holding(ctx: Context, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return those lines of an export that hold now: what gave way is left out."""
    return [one for one in exported(ctx, request) if one.get("status") != "superseded"]


def exported_notes(ctx: Context, request: dict[str, Any]) -> list[str]:
    """Return the parts of an export as Markdown, likewise."""
    return [part["markdown"] for part in exported(ctx, {**request, "format": "markdown"})]


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
            open_shelf=lambda path: Shelf(path, Journal.open(path, lambda: self.time)),
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

    def remember_all(self, texts: Iterable[str], project: Path | None = None, **more: Any) -> None:
        """Remember texts one after the other; the indexes follow when all are stored, which takes a fraction of the time
        that each for itself takes."""
        target = {"project": str(project)} if project else {"global": True}
        for text in texts:
            door(self.ctx, "remember", {"text": text, **target, **more})
        self.follow()

    def close(self) -> None:
        """Close everything."""
        self.ctx.close()
