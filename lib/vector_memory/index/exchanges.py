"""From a transcript's entries to exchanges: a prompt, and what came of it until the next one.

The main conversation and every subagent are chains of their own. A chain's next prompt closes its
exchange; the main conversation's next prompt closes those of all subagents.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from vector_memory.index import boxes, tools
from vector_memory.index.codex import REWOUND, translate
from vector_memory.index.cursor import Position
from vector_memory.index.fixes.errors import error_line
from vector_memory.index.noise import (
    is_command,
    is_own_command,
    is_warm_up,
    plain_prompt,
    strip_tags,
)
from vector_memory.index.prompt_writer import is_typed
from vector_memory.index.transcript import TranscriptEntry
from vector_memory.model import EXTRACTION_MARK, unique
from vector_memory.system import json_in
from vector_memory.system.json_in import Record

SAID = "said"
DONE_STEP = "done"
NOTE = "note"
PLANNED = "planned"
USER_HEAD = "User: "
"""How a note begins that is a prompt."""
MAIN = ""
MOST_TEXT_CHARS = 200_000
LOOKED_AT_CHARS = 20_000
"""Of what a call wrote, and of what it was answered."""
_BROKEN_OFF = "[Request interrupted"
MOST_BEFORE = 3
"""How many exchanges back one looks: what failed may be mended after the user's next words."""


class ExchangeStep(NamedTuple):
    """One thing that came after the prompt: words of the assistant (SAID, or PLANNED for a plan
    that it puts to the user), something done (DONE), or words of the user on the way (NOTE)."""

    kind: str
    text: str
    words: str = ""
    """What the user said himself, where `text` also tells what it was said about."""
    error: str = ""
    """The line by which a tool said why what was done failed: the tool's words."""
    is_box: bool = False
    """Whether it is what an edit did to a box of a to-do list (`index/boxes.py`)."""


class ToolUse(NamedTuple):
    """A tool call with what came of it, for those who ask what failed and what mended it.

    `place` is its step's number in the exchange, or the next one's where it left no step. `output` is
    a command's, shortened; `is_done` says whether there is one. Lines count from 1. `written` is what an edit
    wrote and `answered` what the tool answered, each cut off: they are looked at, never kept. `calls` is the
    skill or the kind of subagent that it calls, and `order` the digest by which a subagent's prompt is recognised.
    """

    tool: str
    command: str
    file: str
    change: str
    place: int
    line: int
    at: datetime | None
    is_done: bool = False
    failed: bool = False
    output: str = ""
    output_line: int = 0
    done_at: datetime | None = None
    written: str = ""
    answered: str = ""
    calls: str = ""
    order: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    """What it replaced by what, long ones left out: looked at, never kept."""


@dataclass(frozen=True)
class Exchange:
    """A prompt with its answer, verbatim.

    `uuid` names the prompt, in whichever copy of the transcript. Lines count from 1 and include both
    ends; `start` and `part` say where it starts (byte offset of the line, object in the line).
    `turn` orders the exchanges of a file, from 1; `branch` is that at its end. Times are aware UTC. `calls` are the tool calls
    among the steps; `before` are the few exchanges that came before in its chain, where they were read too.
    """

    session: str
    uuid: str
    prompt: str
    steps: tuple[ExchangeStep, ...]
    files: tuple[str, ...]
    line_start: int
    line_end: int
    start: int
    part: int
    started_at: datetime | None
    ended_at: datetime | None
    cwd: str
    branch: str
    is_subagent: bool
    turn: int
    calls: tuple[ToolUse, ...] = ()
    before: tuple[Exchange, ...] = field(default=(), compare=False, repr=False)
    is_interrupted: bool = False
    """Whether the user broke it off."""
    is_typed: bool = True
    """Whether nothing says that a program wrote the prompt."""
    model: str = ""
    """The model that answered last, as the client names it."""

    @property
    def answer(self) -> str:
        """The assistant's words, paragraphs apart."""
        return "\n\n".join(step.text for step in self.steps if step.kind in (SAID, PLANNED))

    @property
    def is_users(self) -> bool:
        """Whether the prompt is the user's, not another program's nor what a session asked a subagent."""
        return self.is_typed and not self.is_subagent

    @property
    def is_lookup(self) -> bool:
        """Whether this memory was asked in it and nothing else was looked at or done: what the assistant says
        is what was remembered before."""
        did_nothing_else = not self.files and not any(step.kind == DONE_STEP for step in self.steps)
        return did_nothing_else and any(
            tools.is_own(call.tool, call.command) for call in self.calls
        )

    @property
    def position(self) -> Position:
        """Where it starts in its transcript."""
        return Position(self.start, self.part, self.line_start - 1, self.turn - 1)

    @property
    def key(self) -> str:
        """The stable name of this exchange: the prompt's uuid, else a hash of what it is."""
        if self.uuid:
            return self.uuid
        words = f"{self.session}\0{self.started_at}\0{self.prompt}".encode("utf-8", "replace")
        return hashlib.blake2b(words, digest_size=16).hexdigest()

    @property
    def is_answered(self) -> bool:
        """Whether anything came of the prompt yet."""
        return bool(self.steps)

    @property
    def is_worth_keeping(self) -> bool:
        """Whether there is anything in it to remember: what a command of this memory answered was remembered before."""
        if self.prompt.startswith(EXTRACTION_MARK) or is_own_command(self.prompt):
            return False
        has_words = any(step.kind != DONE_STEP for step in self.steps)
        return has_words or bool(self.prompt and not is_command(self.prompt))

    def digest(self) -> str:
        """Return a hash of what is remembered of it, to tell whether it has grown."""
        words = "\0".join(
            [
                self.prompt,
                *self.files,
                *(f"{step.kind}{step.text}{step.error}" for step in self.steps),
            ]
        )
        # A command that goes well leaves no words, yet it may be what mends one that failed.
        if any(call.failed for exchange in (*self.before, self) for call in exchange.calls):
            words += f"\0{sum(call.is_done for call in self.calls)}"
        return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=12).hexdigest()


@dataclass
class _OpenExchange:
    """An exchange that is being read."""

    first_entry: TranscriptEntry
    prompt: str
    turn: int
    is_subagent: bool
    is_typed: bool
    steps: list[ExchangeStep] = field(default_factory=list)
    edited_files: list[str] = field(default_factory=list)
    read_files: list[str] = field(default_factory=list)
    calls: dict[str, ToolUse] = field(default_factory=dict)
    before: tuple[Exchange, ...] = ()
    seen_uuids: set[str] = field(default_factory=set)
    line_end: int = 0
    ended_at: datetime | None = None
    cwd: str = ""
    branch: str = ""
    model: str = ""
    is_interrupted: bool = False

    def close(self) -> Exchange:
        data = self.first_entry.data
        return Exchange(
            session=json_in.session_id(data.get("sessionId")),
            uuid=data.text("uuid"),
            prompt=self.prompt,
            steps=tuple(step for step in self.steps if step.text),
            files=unique([*self.edited_files, *self.read_files])[:20],
            line_start=self.first_entry.line,
            line_end=self.line_end,
            start=self.first_entry.start,
            part=self.first_entry.part,
            started_at=self.first_entry.written_at,
            ended_at=self.ended_at,
            cwd=data.text("cwd") or self.cwd,
            branch=self.branch,
            is_subagent=self.is_subagent,
            turn=self.turn,
            calls=tuple(self._placed_calls()),
            before=self.before,
            is_interrupted=self.is_interrupted,
            is_typed=self.is_typed,
            model=self.model,
        )

    def _placed_calls(self) -> Iterator[ToolUse]:
        """Yield the calls, their places counted among the steps that are kept."""
        places = [0]
        for step in self.steps:
            places.append(places[-1] + bool(step.text))
        for call in self.calls.values():
            yield call._replace(place=places[call.place])


class Reading:
    """Takes entries in order and makes exchanges of them.

    Args:
        turns: how many exchanges started before the first entry.
    """

    def __init__(self, turns: int = 0) -> None:
        self.turns = turns
        self.closed: list[Exchange] = []
        self.is_rewound_before = False
        """Whether something was taken back that lies before the first entry, or is not there at all."""
        self._open: dict[str, _OpenExchange] = {}
        self._chains: dict[str, str] = {}
        self._before: tuple[Exchange, ...] = ()
        self._warming_chains: set[str] = set()

    def add(self, entry: TranscriptEntry) -> None:
        """Take one entry (of the Claude Code form); what it closes goes to `closed`."""
        data, message = entry.data, entry.data.part("message")
        if data.get("type") == REWOUND:
            self._rewind(data)
        elif data.get("type") == "attachment":
            self._add_queued(entry)
        elif data.get("isMeta") or data.get("isCompactSummary"):
            return
        elif data.get("type") == "user":
            self._add_user(entry, _blocks(message.get("content")))
        elif data.get("type") == "assistant" and not _is_client_notice(data, message):
            self._add_assistant(entry, _blocks(message.get("content")))

    def open(self) -> list[Exchange]:
        """Return the exchanges that the next entry may still add to, as they are now."""
        return [exchange.close() for exchange in self._open.values()]

    def all(self) -> list[Exchange]:
        """Return all exchanges, in the order of their start."""
        return sorted([*self.closed, *self.open()], key=lambda exchange: exchange.turn)

    # -- what kinds of lines say --

    def _add_user(self, entry: TranscriptEntry, blocks: list[Record]) -> None:
        results = [block for block in blocks if block.get("type") == "tool_result"]
        raw = "\n".join(_texts(blocks))
        prompt = plain_prompt(raw)
        if raw.startswith(_BROKEN_OFF) and (interrupted := self._open.get(self._chain(entry))):
            interrupted.is_interrupted = True
        if results:
            exchange = self._current(entry)
            for result in results:
                self._add_result(exchange, result, entry)
            if prompt and is_typed(entry.data, prompt):
                exchange.steps.append(ExchangeStep(NOTE, USER_HEAD + prompt))
        elif prompt:
            self._warming_chains.discard(self._chain(entry))
            self._start(entry, prompt)
        elif is_warm_up(raw):
            self._warming_chains.add(self._chain(entry))

    def _add_assistant(self, entry: TranscriptEntry, blocks: list[Record]) -> None:
        if not any(block.get("type") in ("text", "tool_use") for block in blocks):
            return
        if self._chain(entry) in self._warming_chains:
            return
        exchange = self._current(entry)
        uuid = entry.data.text("uuid")
        if uuid and uuid in exchange.seen_uuids:
            return
        exchange.seen_uuids.add(uuid)
        exchange.model = (
            entry.data.part("message").text("model") or entry.data.text("model") or exchange.model
        )
        for block in blocks:
            if block.get("type") == "text":
                exchange.steps.append(
                    ExchangeStep(
                        SAID, strip_tags(_limited_text(str(block.get("text") or ""))).strip()
                    )
                )
            elif block.get("type") == "tool_use":
                self._add_call(exchange, block, entry)

    def _add_queued(self, entry: TranscriptEntry) -> None:
        """A prompt that the user typed while the assistant was at work."""
        attachment = entry.data.part("attachment")
        mode = attachment.get("commandMode", "prompt")
        if attachment.get("type") != "queued_command" or mode != "prompt":
            return
        prompt = plain_prompt("\n".join(_texts(_blocks(attachment.get("prompt")))))
        if prompt and is_typed(Record({**entry.data, **attachment}), prompt):
            self._current(entry).steps.append(ExchangeStep(NOTE, USER_HEAD + prompt))

    def _add_call(self, exchange: _OpenExchange, block: Record, entry: TranscriptEntry) -> None:
        name, arguments = str(block.get("name") or ""), block.part("input")
        path, edits = tools.file_of(arguments, exchange.cwd), tools.edits_of(arguments)
        if path:
            (exchange.edited_files if tools.changes(name) else exchange.read_files).append(path)
        if name == "ExitPlanMode":
            exchange.steps.append(ExchangeStep(PLANNED, arguments.text("plan").strip()))
        exchange.calls[str(block.get("id"))] = ToolUse(
            tool=name,
            command=tools.command_of(name, arguments),
            file=path if tools.changes(name) else "",
            change=tools.change_of(arguments),
            place=len(exchange.steps),
            line=entry.line,
            at=entry.written_at,
            written="\n".join(new for _, new in edits)[:LOOKED_AT_CHARS],
            edits=_short_edits(edits),
            calls=tools.called(name, arguments),
            order=prompt_digest(plain_prompt(arguments.text("prompt")))
            if name in tools.AGENTS
            else "",
        )
        exchange.steps.append(
            ExchangeStep(DONE_STEP, tools.describe(name, arguments, exchange.cwd))
        )

    def _add_result(self, exchange: _OpenExchange, block: Record, entry: TranscriptEntry) -> None:
        failed = block.get("is_error") is True
        text = "\n".join(_texts(_blocks(block.get("content"))))
        id = str(block.get("tool_use_id"))
        call = exchange.calls.get(id)
        if call:
            exchange.calls[id] = call._replace(
                is_done=True,
                failed=failed,
                output=tools.shortened_output(text, failed) if call.command else "",
                output_line=entry.line,
                done_at=entry.written_at,
                answered=text[:LOOKED_AT_CHARS],
                edits=_edits_of(call, entry.data.part("toolUseResult")),
            )
        name = call.tool if call else ""
        action = exchange.steps[call.place].text if call else ""
        words = tools.user_words(text, name, failed)
        if words:
            head = f"User, refusing {action or name or 'a step'}" if failed else "User's answers"
            sentence = strip_tags(words)
            exchange.steps.append(
                ExchangeStep(NOTE, f"{head}: {sentence}", sentence if failed else "")
            )
        elif failed and call:
            is_refused = tools.is_rejection(text)
            action_text = (
                f"{action or name} (failed: refused by the user)" if is_refused else action or name
            )
            error = "" if is_refused else error_line(text) or "error"
            exchange.steps[call.place] = ExchangeStep(DONE_STEP, action_text, error=error)
        elif call and call.file:
            box_lines = boxes.of_edit(call.file, exchange.cwd, entry.data.part("toolUseResult"))
            exchange.steps += [ExchangeStep(DONE_STEP, box, is_box=True) for box in box_lines]

    def _rewind(self, data: Record) -> None:
        """Take back what was said from a prompt or a place on: the user went another way from there."""
        all_exchanges = sorted([*self.closed, *self.open()], key=lambda exchange: exchange.turn)
        uuid, place = data.text("uuid"), data.get("place")
        taken_back = [
            exchange
            for exchange in all_exchanges
            if uuid and exchange.uuid == uuid and not exchange.is_subagent
        ][-1:]
        if isinstance(place, tuple):
            taken_back = [
                exchange for exchange in all_exchanges if (exchange.start, exchange.part) >= place
            ]
        else:
            self.is_rewound_before |= not taken_back
        first_turn = min((exchange.turn for exchange in taken_back), default=self.turns + 1)
        self.closed = [exchange for exchange in self.closed if exchange.turn < first_turn]
        self._open = {
            chain: exchange for chain, exchange in self._open.items() if exchange.turn < first_turn
        }
        self._before = tuple(exchange for exchange in self._before if exchange.turn < first_turn)

    # -- chains --

    def _start(self, entry: TranscriptEntry, prompt: str) -> None:
        chain = self._chain(entry)
        open_exchange, uuid = self._open.get(chain), entry.data.text("uuid")
        if open_exchange and uuid and open_exchange.first_entry.data.text("uuid") == uuid:
            return
        if chain == MAIN:
            self._close(list(self._open))
        elif open_exchange:
            self._close([chain])
        self._begin(chain, entry, prompt)

    def _begin(self, chain: str, entry: TranscriptEntry, prompt: str) -> _OpenExchange:
        self.turns += 1
        before = self._before if chain == MAIN else ()
        typed_by_user = is_typed(entry.data, prompt)
        exchange = _OpenExchange(
            entry, prompt, self.turns, chain != MAIN, typed_by_user, before=before
        )
        self._open[chain] = exchange
        self._touch(exchange, entry)
        return exchange

    def _current(self, entry: TranscriptEntry) -> _OpenExchange:
        """Return the open exchange of an entry's chain; one without a prompt where none is."""
        chain = self._chain(entry)
        current = self._open.get(chain) or self._begin(chain, entry, "")
        self._touch(current, entry)
        return current

    def _touch(self, exchange: _OpenExchange, entry: TranscriptEntry) -> None:
        exchange.line_end = entry.line
        exchange.ended_at = entry.written_at or exchange.ended_at
        exchange.cwd = entry.data.text("cwd") or exchange.cwd
        exchange.branch = entry.data.text("gitBranch") or exchange.branch

    def _chain(self, entry: TranscriptEntry) -> str:
        """Return the chain of an entry: MAIN, or the subagent's id, or the uuid it descends from."""
        data = entry.data
        if not data.get("isSidechain"):
            return MAIN
        uuid = data.text("uuid")
        chain = data.text("agentId") or self._chains.get(data.text("parentUuid")) or uuid or "?"
        if uuid:
            self._chains[uuid] = chain
        return chain

    def _close(self, chains: list[str]) -> None:
        for chain in chains:
            closed = self._open.pop(chain).close()
            self.closed.append(closed)
            if chain == MAIN:
                self._before = (*self._before, replace(closed, before=()))[-MOST_BEFORE:]


def exchanges(entries: Iterable[TranscriptEntry]) -> Iterator[Exchange]:
    """Return all exchanges of a whole transcript, in the order of their start, those that nothing
    came of included."""
    reading = Reading()
    for entry in translate(entries):
        reading.add(entry)
    yield from reading.all()


def _short_edits(edits: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return edits without long ones: cut off, each side would have lines that the other seems to lack."""
    return tuple(edit for edit in edits if max(map(len, edit)) <= LOOKED_AT_CHARS)


def _edits_of(call: ToolUse, result: Record) -> tuple[tuple[str, str], ...]:
    """Return the edits of a call as they were asked for; of a file that was written anew, with its content before, where
    the client says so. The client's own patch has whole lines: what an edit left alone in a line would count as
    changed."""
    before = result.text("originalFile")
    return _short_edits(tuple((old or before, new) for old, new in call.edits)) if len(call.edits) == 1 else call.edits  # fmt: skip


def prompt_digest(prompt: str) -> str:
    """Return a digest by which a subagent's prompt is recognised, in the call that gave it and in the subagent's own
    transcript."""
    words = " ".join(prompt.split()).encode("utf-8", "replace")
    return hashlib.blake2b(words, digest_size=8).hexdigest()


def _is_client_notice(data: Record, message: Record) -> bool:
    return bool(data.get("isApiErrorMessage")) or message.get("model") == "<synthetic>"


def _blocks(content: object) -> list[Record]:
    """Return a message's content as a list of blocks, whatever form it has."""
    blocks = [content] if isinstance(content, str) else content
    if not isinstance(blocks, list):
        return []
    return [
        Record(block if isinstance(block, dict) else {"type": "text", "text": str(block)})
        for block in blocks
    ]


def _texts(blocks: Iterable[Record]) -> list[str]:
    return [_limited_text(block.text("text")) for block in blocks if block.get("type") == "text"]


def _limited_text(text: str) -> str:
    """Return a text; of one too long to be anybody's words only the beginning, cut between two words."""
    if len(text) <= MOST_TEXT_CHARS:
        return text
    cut_place = max(text.rfind(mark, 0, MOST_TEXT_CHARS) for mark in "\n ")
    return text[: cut_place if cut_place > 0 else MOST_TEXT_CHARS]
