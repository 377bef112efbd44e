"""What was done in a session, taken from its transcript: turns with their calls. Every word that leaves here is
redacted, and what reads like an instruction is left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from functools import lru_cache

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.exchanges import Exchange, ToolUse, prompt_digest
from vector_memory.index.fixes import commands, fixes
from vector_memory.index.fixes.command_names import command_name
from vector_memory.index.fixes.errors import error_line, names_in, signature, words_of
from vector_memory.index.fixes.fixes import Episode
from vector_memory.index.memories import around_prompt
from vector_memory.index.reader import learn_secrets
from vector_memory.index.tools import LONGEST_NAME, clip
from vector_memory.index.tools import SKILL as SKILL_TOOL
from vector_memory.index.topics.turns import terms_of
from vector_memory.observe.learning import tasks
from vector_memory.observe.learning.tasks import EDIT, OTHER, READ, RUN, SKILL, TaskCall, TaskTurn
from vector_memory.redact import levels
from vector_memory.text import suspicion
from vector_memory.text.harmless import TOOL, between_marks, without_marked

MOST_STEPS = 400
PROMPT_CHARS, TOLD_CHARS = 600, 120
"""What is kept of a prompt while it is looked at, and what may be told of how it began."""
CACHED = 4_096
ERROR_CHARS, LEAST_WORDS = 100, 5
_KINDS_OF_TOOLS = {
    **dict.fromkeys(("Read", "Grep", "Glob", "LS", "NotebookRead"), READ),
    **dict.fromkeys(("Edit", "Write", "MultiEdit", "NotebookEdit"), EDIT),
}
Clean = Callable[[str], str]


def cleaner() -> Clean:
    """Return what redacts short texts that come again and again; one that cannot be redacted becomes
    nothing, as does one that reads like an instruction to the model."""

    @lru_cache(CACHED)
    def checked(text: str, value_count: int) -> str:
        try:
            cleaned = str(redact.clean(text).text)
        except UnsafeTextError:
            return ""
        return "" if suspicion.mark_of_quoted(cleaned) else cleaned

    def clean(text: str) -> str:
        return checked(text, redact.values_known())

    return clean


def harvest(exchanges: Iterable[Exchange], clean: Clean) -> list[TaskTurn]:
    """Return what was done in exchanges, in their order: the turns of the session itself, and those of subagents,
    each of them a task of its own; without exchanges that the rules in force here restrict."""
    working = [
        exchange
        for exchange in exchanges
        if exchange.calls or (exchange.prompt and not exchange.is_subagent)
    ]
    for exchange in working:
        learn_secrets(exchange, clean)
    redactors = {exchange.key: _ExchangeRedactor(exchange, clean) for exchange in working}
    ends = {
        (episode.exchange.key, episode.number): _mending_step(
            episode, redactors[exchange.key].clean
        )
        for exchange in working
        for episode in fixes.episodes(exchange)
    }
    restricts = levels.restricting()
    return [
        _turn(exchange, ends, redactors[exchange.key])
        for exchange in working
        if not restricts(_texts_of(exchange))
    ]


class _ExchangeRedactor:
    """What redacts the texts of one exchange: what its prompt tells goes from all of them (`redact.told`)."""

    def __init__(self, exchange: Exchange, clean: Clean) -> None:
        self._clean = clean
        self.values: list[str] | None = None
        with suppress(UnsafeTextError):
            self.values = redact.told(*around_prompt(exchange))

    def blot(self, text: str) -> str:
        """Return a clean text without those values; nothing where they are not known."""
        return "" if self.values is None else str(redact.blotted(text, self.values).text)

    def clean(self, text: str) -> str:
        """Return a text redacted."""
        return self.blot(self._clean(text))


def _texts_of(exchange: Exchange) -> list[object]:
    """Return the words and files of an exchange, as its passages and its steps tell them."""
    called = [(call.command, call.file, call.output, call.calls) for call in exchange.calls]
    return [exchange.prompt, exchange.steps, exchange.files, called]


def _turn(
    exchange: Exchange, ends: dict[tuple[str, int], str], redactor: _ExchangeRedactor
) -> TaskTurn:
    """Return what was done in an exchange.

    Args:
        ends: by what failing commands were ended, by the exchange and the number of the failure in it.
    """
    clean = redactor.clean
    start = exchange.started_at or exchange.ended_at or datetime.now(timezone.utc)
    calls: list[TaskCall] = []
    failures = 0
    for call in exchange.calls[:MOST_STEPS]:
        if fixes.is_failure(call):
            calls.append(_failure(call, start, ends.get((exchange.key, failures), ""), clean))
            failures += 1
        else:
            calls += _calls_of(call, start, clean)
    prompt = redactor.blot(_redacted_prompt(exchange.prompt))[:PROMPT_CHARS]
    return TaskTurn(
        exchange.key,
        prompt,
        start,
        max(exchange.ended_at or start, start),
        tuple(calls),
        exchange.is_interrupted,
        model=clean(exchange.model[:LONGEST_NAME]),
        order=prompt_digest(exchange.prompt) if exchange.is_subagent else "",
        orders=tuple((call.order, clean(call.calls)) for call in exchange.calls if call.order),
        terms=tuple(sorted(terms_of(prompt))),
        opening=_opening_of(prompt),
    )


def _redacted_prompt(prompt: str) -> str:
    try:
        # It is not told to anybody: what it asks for is read off it.
        return str(redact.clean(prompt).text)
    except UnsafeTextError:
        return ""


def _opening_of(prompt: str) -> str:
    """Return how a prompt begins, on one line, "" where it is no request or reads like an instruction to the model."""
    line = clip(" ".join(without_marked(tasks.request_of(prompt)).split()), TOLD_CHARS)
    return "" if suspicion.mark_of_quoted(line) or line.startswith(("/", "! ", "<")) else line


def _mending_step(episode: Episode, clean: Clean) -> str:
    """Return what mended a failure: EDIT where files were changed for it, else the last command that did, with
    folders below the session's own as seen from there: whose disk it is on says nothing to others."""
    if any(not step.command for step in episode.steps):
        return EDIT
    cwd = episode.exchange.cwd
    line = episode.steps[-1].line
    return clean(line.replace(f"{cwd.rstrip('/')}/", "") if cwd.count("/") > 1 else line)


def _calls_of(call: ToolUse, start: datetime, clean: Clean) -> Iterator[TaskCall]:
    """Yield what a call did: of a command line each part that does something."""
    at, parts = call.at or start, commands.acting_parts(call.command)
    if call.tool == SKILL_TOOL:
        yield TaskCall(OTHER, SKILL, clean(call.calls), at=at)
    elif not call.command:
        ok = None if not call.is_done else not call.failed
        yield TaskCall(_KINDS_OF_TOOLS.get(call.tool, OTHER), said=clean(call.file), ok=ok, at=at)
    elif not parts:
        yield TaskCall(EDIT if commands.writes(call.command) else READ, at=at)
    for part in parts:
        ok = True if fixes.succeeded(call, [part.job]) else None
        yield _command_call(call, part.job, ok, at, clean)


def _failure(call: ToolUse, start: datetime, end: str, clean: Clean) -> TaskCall:
    """Return a command that failed, with the line that says why, and what ended it."""
    part, output = commands.acting_parts(call.command)[-1], clean(call.output)
    line = clean(error_line(output)) if output else ""
    error = between_marks(line[:ERROR_CHARS], TOOL)
    command = clean(call.command)
    # A word that redaction takes out of the command stands in its error, too, and is in the way there.
    program = part.program if part.program in command else ""
    sign = _sign(program, line) or signature(output, command) if error else ""
    run = _command_call(call, part.job, False, call.at or start, clean)
    return run._replace(error=error, sign=sign, end=end)


def _sign(program: str, line: str) -> str:
    """Return by what an error is known again whatever it names: the same of another file or package is the same
    trouble. "" for one that says little but names."""
    plain = words_of(line) - names_in(line)
    return f"{program}: {' '.join(sorted(plain))}" if len(plain) >= LEAST_WORDS else ""


def _command_call(call: ToolUse, job: str, ok: bool | None, at: datetime, clean: Clean) -> TaskCall:
    """Return a command as a step; by no name where redaction has to take out a part of it."""
    name, folder = command_name(call.command), commands.folder(call.command)
    seconds = (call.done_at - call.at).total_seconds() if call.at and call.done_at else 0.0
    return TaskCall(
        RUN,
        clean(job),
        name if clean(name) == name else "",
        ok,
        at=at,
        seconds=round(max(0.0, seconds), 1),
        # Whose disk it is on says nothing to others.
        folder="" if folder == "." or os.path.isabs(folder) else clean(folder),
    )
