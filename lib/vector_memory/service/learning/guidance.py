"""What was learned, where it helps: at a session's start the trouble that comes back and the steps that work,
with a prompt that begins a task one like it that went well."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

from vector_memory.index.topics.turns import terms_of
from vector_memory.model import HEURISTICS, Memory, Origin
from vector_memory.observe.learning import tasks, trails, trajectories, trouble
from vector_memory.service.base.asker import HookQuestion, ProjectAsker
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records, learned_records
from vector_memory.system.files import open_plain
from vector_memory.text import fence
from vector_memory.text.harmless import unquoted

START_TOKENS, PROMPT_TOKENS = 120, 100
"""Tokens that a note of each kind takes at most."""
PROMPT_CHARS = 2_000
"""What of a prompt says which task it begins."""
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md")
"""Files that the client tells the model itself."""
INSTRUCTION_BYTES = 100_000


def board_record(asker: ProjectAsker) -> Memory | None:
    """Return the record of a project's board, None before anything was learned there."""
    return counted_records.get(asker, HEURISTICS, learned_records.BOARD)


def _may_guide(ctx: Context) -> bool:
    return ctx.settings.learn_from_outcomes and ctx.settings.guidance_on_start


def start_lines(
    habits: Sequence[trouble.Habit],
    drawn: Sequence[trails.Trail],
    now: datetime,
    instructions: str = "",
) -> list[str]:
    """Return what is worth a start's attention: the trouble that comes back, then the steps that work.

    Args:
        instructions: what the client tells the model itself: what stands there is not told.
    """
    lines = [
        habit.line
        for habit in habits
        if habit.is_told(now) and not (habit.end and habit.command in instructions)
    ]
    trail = trails.fitting(drawn, trails.ANY, now)
    said = "\n".join([*lines, instructions])
    is_news = trail and any(command not in said for command in trail.commands)
    return [*lines, trail.text] if trail and is_news else lines


def for_start(ctx: Context, question: HookQuestion, hidden: set[str]) -> list[fence.Note]:
    """Return the note of what usually goes wrong and what works in a project, [] without evidence.

    Args:
        hidden: ids that the session was shown already.
    """
    known = board_record(question) if _may_guide(ctx) else None
    if known is None or known.id in hidden:
        return []
    board = learned_records.board_of(known)
    drawn = learned_records.trails_of(question, board.trails)
    habits = board.habits if board.tasks >= trouble.LEAST_TASKS else []
    lines = start_lines(habits, drawn, ctx.now(), _instructions(question.place.root))
    foreign = any(unquoted(line) != line for line in lines)
    origin = Origin.TOOL.value if foreign else ""
    head = fence.head(board.last, learned_records.BOARD, question.place.name, known.id[:8], origin)
    return _note(known.id, head, lines, START_TOKENS, foreign)


def for_prompt(ctx: Context, question: HookQuestion) -> list[fence.Note]:
    """Return the note of a task like the one that a prompt begins and that went well, once a session, [] for
    none."""
    prompt = question.prompt[:PROMPT_CHARS]
    kind = tasks.kind_of(prompt) if tasks.starts_another(prompt) else ""
    if kind in ("", "question") or not _may_guide(ctx) or board_record(question) is None:
        return []
    found = learned_records.trajectories_of(question)
    best = trajectories.like(found, kind, terms_of(prompt), ctx.now(), question.session)
    if best is None or best.id in ctx.state.shown(question.session):
        return []
    text = best.text
    if fence.tokens(text) > PROMPT_TOKENS // 2:
        text = text.split(trajectories.MET)[0]
    foreign = unquoted(text) != text
    origin = Origin.TOOL.value if foreign else ""
    head = fence.head(best.at, learned_records.TRAJECTORY, question.place.name, best.id[:8], origin)
    made = fence.Note(best.id, head, text, foreign)
    if made.tokens > PROMPT_TOKENS:
        # The steps stand at its end: cut, it would say no more than that there were some.
        return []
    ctx.count("trajectories_shown")
    return [made]


def _instructions(root: str) -> str:
    """Return what a project's files tell the model at every start."""
    paths = (os.path.join(root, name) for name in INSTRUCTIONS)
    return "\n".join(_read(path, INSTRUCTION_BYTES).decode("utf-8", "replace") for path in paths)


def _read(path: str, most_bytes: int) -> bytes:
    """Return the end of a file, nothing where it cannot be read."""
    try:
        with open_plain(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - most_bytes))
            return file.read(most_bytes)
    except (OSError, ValueError):
        return b""


def _note(
    id: str, head: str, lines: Sequence[str], most_tokens: int, foreign: bool
) -> list[fence.Note]:
    """Return a note of as many lines as fit, [] where not even one does."""
    kept: list[str] = []
    for line in lines:
        if fence.Note(id, head, "\n".join([*kept, line]), foreign).tokens <= most_tokens:
            kept.append(line)
    return [fence.Note(id, head, "\n".join(kept), foreign)] if kept else []
