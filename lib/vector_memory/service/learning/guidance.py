"""The door to what was learned: whether there is anything to tell at a start, with a prompt, with a failure.
What tells it is imported where there is: most starts and prompts are of projects of which nothing is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vector_memory.model import HEURISTICS, Memory
from vector_memory.service.base.context import Context
from vector_memory.service.learning import counted_records
from vector_memory.service.learning.learned_records import BOARD

if TYPE_CHECKING:
    from vector_memory.service.base.asker import HookQuestion, ProjectAsker
    from vector_memory.text import fence


def board(asker: ProjectAsker) -> Memory | None:
    """Return a project's board, None before anything was learned there."""
    return counted_records.get(asker, HEURISTICS, BOARD)


def for_start(ctx: Context, asker: ProjectAsker, hidden: set[str]) -> list[fence.Note]:
    """Return the note of what usually goes wrong in a project, [] without evidence.

    Args:
        hidden: ids that the session was shown already.
    """
    known = board(asker) if _may_guide(ctx) else None
    if known is None or known.id in hidden:
        return []
    from vector_memory.service.learning import advice

    return advice.at_start(ctx, asker, known)


def for_prompt(ctx: Context, question: HookQuestion) -> list[fence.Note]:
    """Return the note of the steps that worked for tasks like the one that a prompt begins: once a
    session and kind, and none where nothing is known."""
    known = board(question) if _may_guide(ctx) else None
    if known is None or not known.extra.get("trails"):
        return []
    from vector_memory.service.learning import advice

    return advice.with_prompt(ctx, question, known)


def for_failure(ctx: Context, question: HookQuestion, error: str, command: str) -> str:
    """Return the fenced word that a command which fails now used to succeed, or that what it could not
    reach was up; "" where nothing could be expected.

    Args:
        question: the session, its folder and its transcript.
        error: what the tool said, as the client gives it.
        command: the command line that failed.
    """
    if not (ctx.settings.recall_on_failure and ctx.settings.learn_from_outcomes):
        return ""
    known = board(question)
    if known is None:
        return ""
    from vector_memory.service.learning import advice

    return advice.with_failure(ctx, question, known, error, command)


def _may_guide(ctx: Context) -> bool:
    return ctx.settings.learn_from_outcomes and ctx.settings.guidance_on_start
