"""What was done in a session, taken from its transcript: turns with their steps, and what their commands
showed of the world. Every word that leaves here is redacted, and what reads like an instruction is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import lru_cache

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.exchanges import Exchange, ToolUse
from vector_memory.index.fixes import commands, fixes
from vector_memory.index.fixes.command_names import command_name
from vector_memory.index.fixes.commands import CommandPart
from vector_memory.index.fixes.errors import error_line, signature
from vector_memory.observe.learning import things
from vector_memory.observe.learning.tasks import EDIT, OTHER, READ, RUN, TaskStep, TaskTurn
from vector_memory.observe.learning.things import Sighting
from vector_memory.text import suspicion
from vector_memory.text.harmless import TOOL, marked

MOST_STEPS = 400
PROMPT_CHARS = 600
CACHED = 4_096
ERROR_CHARS = 100
_READERS = frozenset({"Read", "Grep", "Glob", "LS", "NotebookRead"})
_WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
Clean = Callable[[str], str]


@dataclass
class Harvest:
    """What a transcript, or a part of it, tells: the turns of its main conversation, and what was seen."""

    turns: list[TaskTurn] = field(default_factory=list)
    sightings: list[Sighting] = field(default_factory=list)


def cleaner() -> Clean:
    """Return what redacts short texts that come again and again; one that cannot be redacted becomes
    nothing, as does one that reads like an instruction to the model."""

    @lru_cache(CACHED)
    def checked(text: str, known: int) -> str:
        try:
            cleaned = str(redact.clean(text).text)
        except UnsafeTextError:
            return ""
        return "" if suspicion.quoted(cleaned) else cleaned

    def clean(text: str) -> str:
        return checked(text, redact.values_known())

    return clean


def harvest(found: Iterable[Exchange], clean: Clean) -> Harvest:
    """Return what exchanges tell, in their order; subagents' work belongs to the turn that called them."""
    made = Harvest()
    for exchange in found:
        if exchange.is_subagent or not (exchange.calls or exchange.prompt):
            continue
        start = exchange.started_at or exchange.ended_at or datetime.now(timezone.utc)
        for call in exchange.calls:
            clean(call.command)
        steps: list[TaskStep] = []
        for number, call in enumerate(exchange.calls[:MOST_STEPS]):
            steps += _steps(call, start, clean)
            if call.command:
                id = f"{exchange.key[:16]}:{number}"
                made.sightings += _sightings(call, id, call.at or start, clean)
        end = max(exchange.ended_at or start, start)
        prompt = _prompt(exchange.prompt, clean)
        made.turns.append(
            TaskTurn(exchange.key, prompt, start, end, tuple(steps), exchange.is_interrupted)
        )
    return made


def _prompt(prompt: str, clean: Clean) -> str:
    try:
        # It is not told to anybody: what it asks for is read off it.
        return str(redact.clean(prompt).text[:PROMPT_CHARS])
    except UnsafeTextError:
        return ""


def _steps(call: ToolUse, start: datetime, clean: Clean) -> Iterator[TaskStep]:
    at = call.at or start
    if not call.command:
        what = EDIT if call.tool in _WRITERS else READ if call.tool in _READERS else OTHER
        ok = None if not call.is_done else not call.failed
        yield TaskStep(what, said=clean(call.file), ok=ok, tool=call.tool, at=at)
        return
    told = commands.telling(call.command)
    if not told:
        what = EDIT if commands.writes(call.command) else READ
        yield TaskStep(what, tool=call.tool, at=at)
    elif fixes.is_failure(call):
        yield _run(call, told[-1], False, len(told) == 1, at, clean)
    else:
        for part in told:
            ok = True if fixes.succeeded(call, [part.job]) else None
            yield _run(call, part, ok, len(told) == 1, at, clean)


def _run(
    call: ToolUse, part: CommandPart, ok: bool | None, alone: bool, at: datetime, clean: Clean
) -> TaskStep:
    output, command = (clean(call.output), clean(call.command)) if ok is False else ("", "")
    return TaskStep(
        RUN,
        job=clean(part.job),
        said=clean(fixes.short(call.command)),
        ok=ok,
        error=marked(clean(error_line(output))[:ERROR_CHARS], TOOL) if output else "",
        sign=signature(output, command) if output else "",
        alone=alone,
        tool=call.tool,
        at=at,
        seconds=_seconds(call),
    )


def _seconds(call: ToolUse) -> float:
    if call.at is None or call.done_at is None:
        return 0.0
    return max(0.0, (call.done_at - call.at).total_seconds())


def _sightings(call: ToolUse, id: str, at: datetime, clean: Clean) -> Iterator[Sighting]:
    """Yield what a command showed, without anything of which redaction had to take out a part."""
    if not call.is_done:
        return
    name = command_name(call.command)
    told = commands.telling(call.command)
    ok = None if call.failed else True
    if told:
        good = fixes.succeeded(call, [told[-1].job])
        ok = False if fixes.is_failure(call) else True if good else None
    looks = not told and not name
    ran = things.Ran(
        "" if looks else name or fixes.short(call.command),
        ok,
        call.output,
        counts=bool(name),
        error=error_line(call.output)[:ERROR_CHARS] if ok is False and told else "",
    )
    for one in things.look(ran, id, at, _seconds(call)):
        if one.name and clean(one.name) == one.name and clean(one.state) == one.state:
            yield one._replace(detail=marked(clean(one.detail), TOOL), by=clean(one.by))
