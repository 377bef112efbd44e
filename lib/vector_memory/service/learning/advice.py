"""What was learned, where it helps: at a session's start what usually goes wrong, with a prompt that begins
a task the steps that worked for its like, with a command that fails that it used not to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.index.fixes.command_names import command_name
from vector_memory.index.tools import clip
from vector_memory.index.topics.turns import terms_of
from vector_memory.model import WORLD, Memory, Origin
from vector_memory.observe.learning import outcomes, tasks, things, trails
from vector_memory.service.base import context_block
from vector_memory.service.base.asker import HookQuestion, ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records, learned_records
from vector_memory.service.learning.learned_records import Board
from vector_memory.system.files import open_plain
from vector_memory.text import fence

START_TOKENS, PROMPT_TOKENS, FAILURE_TOKENS = 120, 100, 60
"""Tokens that a note of each kind takes at most."""
TOLD_MARK = "trail:"
"""What stands before a kind of task among what a session was shown."""
ITEM_CHARS = 170
PROMPT_CHARS = 2_000
"""What of a prompt says which task it begins."""
MOST_CHANGED = 3
TAIL_BYTES = 512_000
_EDITS = re.compile(rb'"name": ?"(?:Edit|Write|MultiEdit|NotebookEdit)", ?"input": ?\{')
"""A call of a tool that edits; lists of tools name them too."""


def at_start(ctx: Context, asker: ProjectAsker, known: Memory) -> list[fence.Note]:
    """Return the note of what usually goes wrong in a project, [] without evidence."""
    board = learned_records.board_of(known)
    items, foreign = _items(ctx, asker, board)
    if not items:
        return []
    origin = Origin.TOOL.value if foreign else ""
    head = fence.head(board.last, learned_records.BOARD, asker.place.name, known.id[:8], origin)
    return _note(known.id, head, [_figures(board), *items], START_TOKENS, foreign)


def with_prompt(ctx: Context, question: HookQuestion, known: Memory) -> list[fence.Note]:
    """Return the note of the steps that worked for tasks like the one that a prompt begins."""
    prompt = question.prompt[:PROMPT_CHARS]
    if not tasks.starts_another(prompt):
        return []
    kind = tasks.kind_of(prompt)
    if kind in ("", "question") or TOLD_MARK + kind in ctx.state.shown(question.session):
        return []
    pairs = learned_records.trails_of(question, learned_records.board_of(known).trails)
    about = terms_of(prompt)
    best = trails.fitting((one for _, one in pairs), kind, about, ctx.now())
    if best is None:
        return []
    id = next(id for id, one in pairs if one is best)
    head = fence.head(best.last, learned_records.TRAIL, question.place.name, id[:8])
    made = _note(id, head, [trails.advice(best)], PROMPT_TOKENS, False)
    if made:
        ctx.state.add_shown(question.session, [TOLD_MARK + kind], ctx.now())
        ctx.count("trails_shown")
    return made


def with_failure(
    ctx: Context, question: HookQuestion, known: Memory, error: str, command: str
) -> str:
    """Return the fenced word that a command which fails now used to succeed, or that what it could not
    reach was up; "" where nothing could be expected, or this session's own edits explain it."""
    try:
        said = redact.clean(command).text
    except UnsafeTextError:
        return ""
    keys = [f"{things.PORT}:{port}" for port in things.refused(error)]
    name = command_name(said)
    if name and not _edited_here(question.transcript):
        keys.append(f"{things.COMMAND}:{name}")
    notes = [note for key in keys[:3] for note in _surprise(ctx, question, known, key)][:1]
    if notes:
        ctx.count("surprises_shown")
    return context_block.show(ctx, question.session, notes, "This is not as it used to be:")


def _surprise(ctx: Context, question: HookQuestion, known: Memory, key: str) -> list[fence.Note]:
    thing = learned_records.thing(question, key)
    if thing is None:
        return []
    id = counted_records.id_of(question.place, WORLD, key)
    told = things.surprise_at(thing, _changed_since(known, thing.last_at.isoformat()))
    if not told or id in ctx.state.shown(question.session):
        return []
    head = fence.head(thing.last_at.date().isoformat(), thing.kind, question.place.name, id[:8])
    return _note(id, head, [told], FAILURE_TOKENS, False)


def _changed_since(known: Memory, at: str) -> list[str]:
    """Return the files that sessions changed since a time, the newest first."""
    edits = learned_records.board_of(known).edits
    found = [file for file, when in edits if when > at]
    names = dict.fromkeys(os.path.basename(file) for file in reversed(found))
    return list(names)[:MOST_CHANGED]


def _edited_here(transcript: str) -> bool:
    """Whether a session has edited files lately: what fails then fails as part of the work."""
    try:
        with open_plain(transcript) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            return _EDITS.search(file.read(TAIL_BYTES)) is not None
    except (OSError, ValueError):
        # Without a transcript nothing says what it did: then nothing is said to it.
        return True


def _figures(board: Board) -> str:
    judged = board.done + board.undone
    span = f"{board.tasks} tasks in {board.sessions} sessions since {board.since}"
    return f"{span}: {board.done} of {judged} done." if judged else f"{span}."


def _items(ctx: Context, asker: ProjectAsker, board: Board) -> tuple[list[str], bool]:
    """Return what is worth a start's attention, the most pressing first, and whether any of it is a
    tool's words."""
    odd = [learned_records.thing(asker, key) for key in board.odd]
    now = things.unresolved([one for one in odd if one is not None], ctx.now())
    items = [things.news(one) for one in now[:2]]
    foreign = any(one.detail for one in now[:2])
    if board.tasks < outcomes.LEAST_TASKS:
        return items, foreign
    for habit in board.habits:
        if habit.n >= outcomes.LEAST_AGAIN:
            items.append(f"{habit.text} ({habit.n} of {habit.of} tasks, last {habit.last})")
            foreign = foreign or bool(habit.sign)
    for weak in board.weak:
        name = trails.NAMES.get(weak.kind, weak.kind)
        items.append(f"of {weak.done + weak.undone} {name} {weak.undone} were not done")
    return items, foreign


def _note(
    id: str, head: str, lines: Sequence[str], most_tokens: int, foreign: bool
) -> list[fence.Note]:
    """Return a note of as many lines as fit, the first two at least where there are so many; [] where not
    even one fits."""
    kept: list[str] = []
    for line in _short(lines):
        if fence.Note(id, head, "\n".join([*kept, line]), foreign).tokens <= most_tokens:
            kept.append(line)
    enough = kept and (len(kept) > 1 or len(lines) == 1)
    return [fence.Note(id, head, "\n".join(kept), foreign)] if enough else []


def _short(lines: Iterable[str]) -> list[str]:
    return [clip(one, ITEM_CHARS * 2) for one in lines]
