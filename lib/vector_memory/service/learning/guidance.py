"""What was learned, where it helps: at a session's start the trouble that comes back and the steps that work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from vector_memory.model import Origin
from vector_memory.observe.learning import trails, trouble
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.learning import learned_records
from vector_memory.system import files
from vector_memory.text import fence
from vector_memory.text.harmless import unquoted

START_TOKENS = 120
"""Tokens that the note takes at most."""
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md")
"""Files that the client tells the model itself."""
INSTRUCTION_BYTES = 100_000


def start_lines(
    habits: Sequence[trouble.Habit],
    alive: Sequence[trails.Trail],
    now: datetime,
    instructions: str = "",
) -> list[str]:
    """Return what is worth a start's attention: the trouble that comes back, then the steps that work.

    Args:
        alive: trails that have not faded.
        instructions: what the client tells the model itself: what stands there is not told.
    """
    lines = [
        habit.line
        for habit in habits
        if habit.is_told(now) and not (habit.end and _is_said(habit, instructions))
    ]
    told = "\n".join([*lines, instructions])
    return lines + [
        trail.text
        for trail in alive
        if trail.kind == trails.ANY and any(command not in told for command in trail.commands)
    ]


def _is_said(habit: trouble.Habit, instructions: str) -> bool:
    """Whether instructions hold the command that ended a trouble, or how it begins, beyond the job itself."""
    said = (part.strip() for part in instructions.replace("`", "\n").splitlines())
    begins = (f"{part} " for part in said if " " in part and part != habit.job)
    return habit.command in instructions or f"{habit.command} ".startswith(tuple(begins))


def for_start(ctx: Context, question: HookQuestion, hidden: set[str]) -> list[fence.Note]:
    """Return the note of what usually goes wrong and what works in a project, [] without evidence.

    Args:
        hidden: ids that the session was shown already.
    """
    if not (ctx.settings.learn_from_outcomes and ctx.settings.guidance_on_start):
        return []
    board = learned_records.board_of(question)
    if not board.id or board.id in hidden:
        return []
    habits = board.habits if board.tasks >= trouble.LEAST_TASKS else []
    alive = learned_records.trails_of(question, ctx.now())
    lines = start_lines(habits, alive, ctx.now(), _instructions(question.place.root))
    return _note(question, board, lines)


def _instructions(root: str) -> str:
    """Return what a project's files tell the model at every start."""
    texts = []
    for name in INSTRUCTIONS:
        with suppress(OSError, ValueError):
            texts.append(files.read_text(os.path.join(root, name), INSTRUCTION_BYTES, root))
    return "\n".join(texts)


def _note(
    question: HookQuestion, board: learned_records.Board, lines: Sequence[str]
) -> list[fence.Note]:
    """Return a note of as many lines as fit, [] where not even one does."""
    foreign = any(unquoted(line) != line for line in lines)
    origin = Origin.TOOL.value if foreign else ""
    kind = learned_records.BOARD
    head = fence.head(board.last, kind, question.place.name, board.id[:8], origin)
    note = fence.Note(board.id, head, "", foreign)
    for line in lines:
        longer = fence.Note(board.id, head, f"{note.text}\n{line}".lstrip("\n"), foreign)
        note = longer if longer.tokens <= START_TOKENS else note
    return [note] if note.text else []
