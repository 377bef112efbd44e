"""What was done in a session, taken from its transcript: turns with their steps, and what their commands
showed of the world. Every word that leaves here is redacted, and what reads like an instruction is left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import lru_cache

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.exchanges import Exchange, ToolUse, order_of
from vector_memory.index.fixes import commands, fixes
from vector_memory.index.fixes.command_names import command_name
from vector_memory.index.fixes.commands import CommandPart
from vector_memory.index.fixes.errors import error_line, names_in, signature, words_of
from vector_memory.index.fixes.fixes import Episode
from vector_memory.index.tools import LONGEST_NAME
from vector_memory.index.tools import SKILL as SKILL_TOOL
from vector_memory.observe.learning import things
from vector_memory.observe.learning.tasks import EDIT, OTHER, READ, RUN, SKILL, TaskStep, TaskTurn
from vector_memory.observe.learning.things import Sighting
from vector_memory.text import suspicion
from vector_memory.text.harmless import TOOL, marked

MOST_STEPS = 400
PROMPT_CHARS = 600
CACHED = 4_096
ERROR_CHARS, LEAST_WORDS = 100, 5
_READERS = frozenset({"Read", "Grep", "Glob", "LS", "NotebookRead"})
_WRITERS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
Clean = Callable[[str], str]


@dataclass
class Harvest:
    """What a transcript, or a part of it, tells: the turns of its main conversation, those of subagents, each of
    them a task of its own, which kind of subagent each order went to, and what was seen."""

    turns: list[TaskTurn] = field(default_factory=list)
    subagents: list[TaskTurn] = field(default_factory=list)
    orders: dict[str, str] = field(default_factory=dict)
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
    """Return what exchanges tell, in their order."""
    made = Harvest()
    told = [
        exchange
        for exchange in found
        if exchange.calls or (exchange.prompt and not exchange.is_subagent)
    ]
    ends = {
        (one.exchange.key, one.number): _end(one, clean)
        for exchange in told
        for one in fixes.episodes(exchange)
    }
    for exchange in told:
        start = exchange.started_at or exchange.ended_at or datetime.now(timezone.utc)
        for call in exchange.calls:
            clean(call.command)
        steps: list[TaskStep] = []
        failures = 0
        for number, call in enumerate(exchange.calls[:MOST_STEPS]):
            end = ""
            if fixes.is_failure(call):
                end = ends.get((exchange.key, failures), "")
                failures += 1
            steps += _steps(call, start, end, clean)
            if call.order:
                made.orders[call.order] = clean(call.calls)
            if call.command and not exchange.is_subagent:
                id = f"{exchange.key[:16]}:{number}"
                made.sightings += _sightings(call, id, call.at or start, clean)
        ended = max(exchange.ended_at or start, start)
        prompt = _prompt(exchange.prompt, clean)
        turn = TaskTurn(exchange.key, prompt, start, ended, tuple(steps), exchange.is_interrupted)
        turn = turn._replace(model=clean(exchange.model[:LONGEST_NAME]))
        if exchange.is_subagent:
            made.subagents.append(turn._replace(order=order_of(exchange.prompt)))
        else:
            made.turns.append(turn)
    return made


def _end(episode: Episode, clean: Clean) -> str:
    """Return what mended a failure: EDIT where files were changed for it, else the last command that did, with
    folders below the session's own as seen from there: whose disk it is on says nothing to others."""
    if any(not step.command for step in episode.steps):
        return EDIT
    cwd = episode.exchange.cwd
    line = episode.steps[-1].line
    return clean(line.replace(f"{cwd.rstrip('/')}/", "") if cwd.count("/") > 1 else line)


def _prompt(prompt: str, clean: Clean) -> str:
    try:
        # It is not told to anybody: what it asks for is read off it.
        return str(redact.clean(prompt).text[:PROMPT_CHARS])
    except UnsafeTextError:
        return ""


def _steps(call: ToolUse, start: datetime, end: str, clean: Clean) -> Iterator[TaskStep]:
    at = call.at or start
    if call.tool == SKILL_TOOL:
        yield TaskStep(OTHER, SKILL, clean(call.calls), at=at)
        return
    if not call.command:
        what = EDIT if call.tool in _WRITERS else READ if call.tool in _READERS else OTHER
        ok = None if not call.is_done else not call.failed
        yield TaskStep(what, said=clean(call.file), ok=ok, at=at)
        return
    told = commands.telling(call.command)
    if not told:
        yield TaskStep(EDIT if commands.writes(call.command) else READ, at=at)
    elif fixes.is_failure(call):
        output = clean(call.output)
        line = clean(error_line(output)) if output else ""
        sign = _sign(told[-1].program, line) or signature(output, clean(call.command))
        error = marked(line[:ERROR_CHARS], TOOL)
        failed = _run(call, told[-1], False, at, clean)
        yield failed._replace(error=error, sign=sign if error else "", end=end)
    else:
        for part in told:
            yield _run(call, part, True if fixes.succeeded(call, [part.job]) else None, at, clean)


def _sign(program: str, line: str) -> str:
    """Return by what an error is known again whatever it names: the same of another file or package is the same
    trouble. "" for one that says little but names."""
    plain = words_of(line) - names_in(line)
    return f"{program}: {' '.join(sorted(plain))}" if len(plain) >= LEAST_WORDS else ""


def _run(call: ToolUse, part: CommandPart, ok: bool | None, at: datetime, clean: Clean) -> TaskStep:
    folder, name = commands.folder(call.command), command_name(call.command)
    # From another place it would be another command; whose disk it is on says nothing to others.
    is_within = folder not in ("", ".") and not os.path.isabs(folder)
    said = f"cd {folder} && {name}" if name and is_within else name
    return TaskStep(RUN, clean(part.job), clean(said), ok, at=at)


def _sightings(call: ToolUse, id: str, at: datetime, clean: Clean) -> Iterator[Sighting]:
    """Yield how a command went, without anything of which redaction had to take out a part."""
    name = command_name(call.command)
    if not (call.is_done and name and clean(name) == name):
        return
    (part,) = commands.telling(call.command)
    failed = fixes.is_failure(call)
    if failed or fixes.succeeded(call, [part.job]):
        took = (call.done_at - call.at).total_seconds() if call.at and call.done_at else 0.0
        why = marked(clean(error_line(call.output)[:ERROR_CHARS]), TOOL) if failed else ""
        state, seconds = things.FAILS if failed else things.OK, round(max(0.0, took), 1)
        yield Sighting(things.COMMAND, name, state, why, id, at.isoformat(), seconds)
