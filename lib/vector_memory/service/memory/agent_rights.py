"""What an agent may do to what it did not say itself. The user's rules stand until the user changes
them, and what others wrote is not made to count by whoever read it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from vector_memory.errors import BadInputError
from vector_memory.model import Memory, Origin, Sensitivity
from vector_memory.service.base import messages, reach, request_fields
from vector_memory.service.base.context import Context
from vector_memory.service.memory.trust_marks import BINDING_COLLECTIONS

ABOUT_OTHERS = frozenset({"token", "contract"})
"""Verbs whose request names the limits of something that is made, not those of who asks."""


@contextlib.contextmanager
def admitted(ctx: Context, verb: str, sent: request_fields.Sent) -> Iterator[None]:
    """Let a request be answered in this block, with what who asks may be given.

    Returns:
        A block for `with`.

    Raises:
        BadInputError: an agent may not ask for it here.
    """
    require_included(ctx, sent)
    require_allowed(ctx, verb, sent)
    if verb in ABOUT_OTHERS:
        yield
        return
    with reach.within(reach.of_request(ctx, messages.read(messages.Request, sent))):
        yield


def require_included(ctx: Context, sent: request_fields.Sent) -> None:
    """Make sure that the model asks from a folder whose sessions are given memories.

    Raises:
        BadInputError: the user wants none there.
    """
    folder = str(sent.get("cwd") or "")
    if (
        sent.get("actor") == request_fields.MCP
        and folder
        and ctx.is_excluded(ctx.place(folder), folder)
    ):
        raise BadInputError(
            "The user wants no memory in this folder.", "It is one of `excluded_projects`."
        )


def require_allowed(ctx: Context, verb: str, sent: request_fields.Sent) -> None:
    """Make sure that no contract keeps an agent from a verb.

    Raises:
        BadInputError: one does.
    """
    if request_fields.is_agent(sent) and ctx.state.records("contract"):
        # Most people have no contracts, and keys take a while to import.
        from vector_memory.service.base import contracts

        folder = str(sent.get("project") or sent.get("cwd") or "")
        contracts.require_allowed(ctx, verb, ctx.place(folder).root if folder else "")


def may_recall(ctx: Context, request: messages.Request) -> bool:
    """Whether who asks may be told of memories beside what the request itself says."""
    try:
        require_allowed(ctx, "recall", vars(request))
    except BadInputError:
        return False
    return True


def is_the_users(memory: Memory) -> bool:
    """Whether a memory holds the user's own words, or what the user imported, and they bind."""
    is_users = memory.origin in (Origin.USER, Origin.IMPORT) and memory.trust > 0
    return is_users and (bool(memory.weight) or memory.collection in BINDING_COLLECTIONS)


def require_not_the_users(memory: Memory) -> None:
    """Make sure that a memory is none that only the user may weaken or put otherwise.

    Raises:
        BadInputError: it is.
    """
    if is_the_users(memory):
        raise BadInputError(
            f"Memory {memory.id[:12]} is a rule or an important note in the user's own words.",
            f"Ask the user: `vector-memory edit {memory.id[:12]}` changes it.",
        )


def require_decided(memory: Memory) -> None:
    """Make sure that a memory is none about which the user has to decide: it is read as it was proposed.

    Raises:
        BadInputError: it waits.
    """
    if memory.sensitivity is Sensitivity.RESTRICTED:
        raise BadInputError(
            f"Memory {memory.id[:12]} is restricted: only the user sees it.",
            f"Ask the user: `vector-memory show {memory.id[:12]}`.",
        )
    if memory.is_held:
        raise BadInputError(
            f"Memory {memory.id[:12]} waits for the user.", "Ask the user: `vector-memory review`."
        )


def require_own_weight(memory: Memory) -> None:
    """Make sure that a memory may be made to count more.

    Raises:
        BadInputError: others wrote it, or it looks like instructions to the model.
    """
    require_decided(memory)
    if memory.is_foreign or memory.is_suspicious:
        raise BadInputError(
            f"Memory {memory.id[:12]} was written by others: it informs and does not bind.",
            f"Only the user can give it weight: `vector-memory edit {memory.id[:12]}`.",
        )
