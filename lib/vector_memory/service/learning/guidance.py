"""What was learned, where it helps: at a session's start the trouble that comes back and the steps that work,
with a prompt that begins a task one like it that went well."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from vector_memory.index.topics.turns import terms_of
from vector_memory.model import Origin
from vector_memory.observe.learning import tasks, trails, trajectories, trouble
from vector_memory.service.base.asker import HookQuestion
from vector_memory.service.base.context import Context
from vector_memory.service.learning import learned_records
from vector_memory.system import files
from vector_memory.text import fence
from vector_memory.text.harmless import unquoted

START_TOKENS, PROMPT_TOKENS = 120, 100
"""Tokens that a note of each kind takes at most."""
PROMPT_CHARS = 2_000
"""What of a prompt says which task it begins."""
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md")
"""Files that the client tells the model itself."""
INSTRUCTION_BYTES = 100_000


def _may_guide(ctx: Context) -> bool:
    return ctx.settings.learn_from_outcomes and ctx.settings.guidance_on_start


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
        if habit.is_told(now) and not (habit.end and _is_instructed(habit, instructions))
    ]
    told_text = "\n".join([*lines, instructions])
    return lines + [
        trail.text
        for trail in alive
        if trail.kind == trails.ANY and any(command not in told_text for command in trail.commands)
    ]


def _is_instructed(habit: trouble.Habit, instructions: str) -> bool:
    """Whether instructions hold the command that ended a trouble, or how it begins, beyond the job itself."""
    instruction_lines = (part.strip() for part in instructions.replace("`", "\n").splitlines())
    openings = (f"{part} " for part in instruction_lines if " " in part and part != habit.job)
    return habit.command in instructions or f"{habit.command} ".startswith(tuple(openings))


def for_start(ctx: Context, question: HookQuestion, hidden: set[str]) -> list[fence.Note]:
    """Return the note of what usually goes wrong and what works in a project, [] without evidence.

    Args:
        hidden: ids that the session was shown already.
    """
    if not _may_guide(ctx):
        return []
    board = learned_records.board_of(question)
    if not board.id or board.id in hidden:
        return []
    habits = board.habits if board.tasks >= trouble.LEAST_TASKS else []
    alive = learned_records.trails_of(question, ctx.now())
    lines = start_lines(habits, alive, ctx.now(), _instructions(question.place.root))
    return _note(question, board.id, board.last, learned_records.BOARD, lines, START_TOKENS)


def for_prompt(ctx: Context, question: HookQuestion) -> list[fence.Note]:
    """Return the note of a task like the one that a prompt begins and that went well, once a session, [] for
    none."""
    prompt = question.prompt[:PROMPT_CHARS]
    kind = tasks.kind_of(prompt) if tasks.starts_another(prompt) else ""
    if kind in ("", "question") or not _may_guide(ctx):
        return []
    examples = learned_records.trajectories_of(question)
    best = trajectories.most_similar(examples, kind, terms_of(prompt), ctx.now(), question.session)
    if best is None or best.id in ctx.state.shown_ids(question.session):
        return []
    is_long = fence.tokens(best.text) > PROMPT_TOKENS // 2
    # The steps stand at its end: cut, it would say no more than that there were some.
    lines = [best.text.split(trajectories.MET)[0] if is_long else best.text]
    notes = _note(question, best.id, best.at, learned_records.TRAJECTORY, lines, PROMPT_TOKENS)
    ctx.count("trajectories_shown", len(notes))
    return notes


def _instructions(root: str) -> str:
    """Return what a project's files tell the model at every start."""
    texts = []
    for name in INSTRUCTIONS:
        with suppress(OSError, ValueError):
            texts.append(files.read_text(os.path.join(root, name), INSTRUCTION_BYTES, root))
    return "\n".join(texts)


def _note(
    question: HookQuestion, id: str, day: str, kind: str, lines: Sequence[str], most_tokens: int
) -> list[fence.Note]:
    """Return a note of as many lines as fit, [] where not even one does."""
    is_foreign = any(unquoted(line) != line for line in lines)
    origin = Origin.TOOL.value if is_foreign else ""
    head = fence.head(day, kind, question.place.name, id[:8], origin)
    note = fence.Note(id, head, "", is_foreign)
    for line in lines:
        longer = fence.Note(id, head, f"{note.text}\n{line}".lstrip("\n"), is_foreign)
        note = longer if longer.tokens <= most_tokens else note
    return [note] if note.text else []
