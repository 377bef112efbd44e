"""The verbs that a client can ask, each with the use case that answers it, imported when it is first asked for."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vector_memory import wire
from vector_memory.daemon.server import Reply, Sent, Written
from vector_memory.daemon_verbs import LONG_ONES, VERBS, named
from vector_memory.errors import OvertakenError
from vector_memory.model import Progress
from vector_memory.service.base import messages, privacy, request_fields
from vector_memory.service.base.context import Context

Simple = Callable[[Context, Sent], Written]
Long = Callable[[Context, Sent, Reply], Written]
MOST_OVERTAKEN = 3
_ASKED_AGAIN = frozenset(("boost", "edit", "episode", "promote", "rewrite"))
"""How often a verb is asked again whose memory somebody else changed meanwhile, and which are: those that write once, and
are no verdict on the words that were read."""
SHOWN = named("shown")
"""Verbs whose answers hold what was stored."""
_SERVICE = "vector_memory.service"
_written: Callable[[object], Written] = messages.to_json
shown: Callable[[Written], Written] = privacy.redacted_again
"""Returns an answer with what was stored redacted once more."""


def _edit(ctx: Context, payload: Sent) -> Written:
    return _simple("rewrite" if request_fields.is_agent(payload) else "edit")(ctx, payload)


def _forget(ctx: Context, payload: Sent) -> Written:
    return ctx.reserve.spare(lambda: _simple("forget")(ctx, payload))


def _import(ctx: Context, payload: Sent, reply: Reply) -> Written:
    from vector_memory.service.transfer import json_lines, knowledge_graph

    request = messages.read(json_lines.ImportRequest, payload)
    is_graph = knowledge_graph.is_graph(json_lines.regular_file(request.path))
    take = knowledge_graph.import_graph if is_graph else json_lines.import_file
    result = take(ctx, request, reply.progress)
    _settle(ctx, request.wait, reply.progress)
    return _written(result)


def _import_notes(ctx: Context, payload: Sent, reply: Reply) -> Written:
    from vector_memory.service.transfer import import_notes

    request = messages.read(import_notes.NotesRequest, payload)
    result = import_notes.import_notes(
        ctx, request, lambda step: reply.json(wire.ITEM, _written(step)), reply.progress
    )
    if not request.dry_run:
        _settle(ctx, request.wait, reply.progress)
    return _written(result)


def _backfill(ctx: Context, payload: Sent, reply: Reply) -> Written:
    from vector_memory.service.capture import backfill

    started = time.monotonic()
    request = messages.read(backfill.BackfillRequest, payload)

    def tell(done: int, total: int, doing: str) -> None:
        ctx.filling.told = {"doing": doing, "done": done, "total": total}
        reply.progress(done, total, doing)

    try:
        result = backfill.backfill(ctx, request, tell)
        _settle(ctx, request.wait, tell)
        if request.wait:
            _find_ideas(ctx, result.stored, tell)
    finally:
        ctx.filling.told = {}
    return _written(replace(result, seconds=round(time.monotonic() - started, 3)))


def _settle(ctx: Context, wait: bool, progress: Progress) -> None:
    """Wait until all is searchable by meaning, unless asked not to."""
    from vector_memory.service.upkeep import check_rebuild

    ctx.notify()
    if wait and ctx.embedding.wait(60.0):
        check_rebuild.wait_until_indexed(ctx, check_rebuild.SETTLE_S, progress)


def _find_ideas(ctx: Context, stored: int, progress: Progress) -> None:
    """Find the ideas in what was stored at once instead of in a quiet moment: a session that starts before would know
    no rule of it. Where who asked goes away, the rest is found later."""
    from vector_memory.service.capture.find_ideas import find

    read_count = 0
    for shelf in ctx.opened_shelves():
        while not ctx.stopping.is_set() and (changed := find(ctx, shelf)):
            read_count += changed
            progress(min(read_count, stored), stored, "finding ideas")
            ctx.hooks.give_way()


def _export(ctx: Context, payload: Sent, reply: Reply) -> Written:
    from vector_memory.service.transfer import export_markdown, json_lines

    request = messages.read(json_lines.ExportRequest, payload)
    count = 0
    if request.format == "markdown":
        for text, memories in reply.paced(export_markdown.export(ctx, request)):
            reply.json(wire.ITEM, {"markdown": text})
            count += memories
    else:
        lines = json_lines.export(ctx, request)
        for line in reply.paced(_shown_politely(ctx, line) for line in lines):
            reply.json(wire.ITEM, line)
            count += 1
    ctx.state.audit("export", request.actor, [], {"exported": count})
    return _written({"exported": count})


def _shown_politely(ctx: Context, line: object) -> Written:
    ctx.hooks.give_way()
    return shown(_written(line))


def _purge(ctx: Context, payload: Sent, reply: Reply) -> Written:
    from vector_memory.service.purge import purge, selection

    def tell(done: int, total: int, doing: str) -> None:
        # Who asked may go away: what was begun is finished.
        with contextlib.suppress(OSError):
            reply.progress(done, total, doing)

    answer = _written(purge.purge(ctx, messages.read(selection.PurgeRequest, payload), tell))
    # Paths are not redacted: the user has to find the files.
    return {
        name: privacy.redacted_again(part) if name == "memories" else part
        for name, part in answer.items()
    }


def use_case(name: str) -> tuple[Callable[..., object], type[messages.Request]]:
    """Return the function of the service that answers a verb, and the class of its request."""
    place, _, request = VERBS[name].answered_by.partition(" ")
    module, _, function = place.partition(":")
    loaded: Any = importlib.import_module(f"{_SERVICE}.{module}")
    if not request:
        return getattr(loaded, function), messages.Request
    folder, _, kind = request.rpartition(".")
    holder: Any = importlib.import_module(f"{_SERVICE}.{folder}") if folder else loaded
    return getattr(loaded, function), getattr(holder, kind)


def _simple(name: str) -> Simple:
    def ask(ctx: Context, payload: Sent) -> Written:
        act, kind = use_case(name)
        for _ in range(MOST_OVERTAKEN if name in _ASKED_AGAIN else 0):
            # What was overtaken wrote nothing: asked again, it reads what there is now.
            with contextlib.suppress(OvertakenError):
                return _written(act(ctx, messages.read(kind, payload)))
        return _written(act(ctx, messages.read(kind, payload)))

    return ask


def _long(name: str) -> Long:
    def ask(ctx: Context, payload: Sent, reply: Reply) -> Written:
        act, kind = use_case(name)
        answer = _written(act(ctx, messages.read(kind, payload), reply.progress))
        return shown(answer) if name in SHOWN else answer

    return ask


SIMPLE: dict[str, Simple] = {
    **{name: _simple(name) for name in VERBS if name not in LONG_ONES},
    "edit": _edit,
    "forget": _forget,
}
LONG: dict[str, Long] = {
    **{name: _long(name) for name in LONG_ONES},
    "import": _import,
    "import_notes": _import_notes,
    "backfill": _backfill,
    "export": _export,
    "purge": _purge,
}
