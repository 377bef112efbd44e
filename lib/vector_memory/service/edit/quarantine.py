"""What hooks hold back: listed, and released. Forgetting it is `edit_forget.forget`."""

from __future__ import annotations

from dataclasses import replace

from vector_memory.errors import BadInputError
from vector_memory.service.base import messages
from vector_memory.service.base.context import Context
from vector_memory.service.base.shelf import newest_of
from vector_memory.service.memory import trust_marks
from vector_memory.service.memory.lookup import lookup
from vector_memory.service.memory.views import MemoriesAnswer, memory_view


class QuarantineRequest(messages.Filter):
    """What is held back is to be listed: `k` memories at most."""

    k: int = messages.number(100, 1, 100_000)


def list_held(ctx: Context, request: QuarantineRequest) -> MemoriesAnswer:
    """Return the memories that no hook brings, newest first, each with why."""
    asker = messages.asker_of(ctx, request)
    newest = newest_of(asker.shelves, lambda journal: journal.withheld(asker.scope))
    memories = [memory for memory in newest if memory.suspicion.get("held")]
    names = asker.names
    views = [memory_view(memory, names) for memory in memories[: request.k]]
    return MemoriesAnswer(views, len(memories))


class ReleaseRequest(messages.Request):
    """Memories are to be let go, by their ids or how these begin."""

    ids: tuple[str, ...] = messages.words()


class ReleaseAnswer(messages.Answer):
    """The ids of memories that hooks bring again."""

    released: list[str]


def release(ctx: Context, request: ReleaseRequest) -> ReleaseAnswer:
    """Let hooks bring memories again, without a warning: the user has read them. Whose words they are
    stays known, and so they bind nobody.

    Raises:
        BadInputError: an agent asks, no id is given, or one is of a memory that is not held back.
        NotFoundError: there is none of an id.

    Returns:
        The ids of what was let go.
    """
    request.require_user("releases what is held back")
    if not request.ids:
        raise BadInputError("Release what?", "`vector-memory quarantine` shows ids.")
    chosen = [lookup(ctx, prefix) for prefix in request.ids]
    for _, memory in chosen:
        if not memory.suspicion.get("held"):
            raise BadInputError(
                f"Memory {memory.id[:12]} is not held back.",
                "`vector-memory quarantine` shows ids.",
            )
    for shelf, memory in chosen:
        extra = trust_marks.released(memory)
        shelf.journal.update(replace(memory, extra=extra, updated_at=ctx.now()), memory)
    released = [memory.id for _, memory in chosen]
    ctx.changed()
    ctx.state.audit("release", "user", released, {})
    return ReleaseAnswer(released)
