"""A tool call as a hook tells of it, and what is said to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vector_memory.service.base.asker import HookQuestion


@dataclass(frozen=True, kw_only=True)
class ToolCall(HookQuestion):
    """One call of a tool; its `prompt` is the session's last one, "" if this daemon saw none.

    Attributes:
        cwd: where the session is now.
        tool: the tool's name, such as `Bash`, `Edit` or `mcp__server__tool`.
        input: what it is given.
        agent: the subagent that calls it, "" for the session itself.
        asked: the first and the last prompts of the session that this daemon saw, the oldest first.
    """

    cwd: str
    tool: str
    input: Mapping[str, object] = field(default_factory=dict)
    agent: str = ""
    use_id: str = ""
    asked: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolAnswer:
    """What is said to a call: context beside it, or a reason why it is not made (the answer stands in it)."""

    context: str = ""
    instead: str = ""

    def __bool__(self) -> bool:
        return bool(self.context or self.instead)


NOTHING = ToolAnswer()


def output(event: str, answer: ToolAnswer) -> dict[str, object] | None:
    """Return what the hook prints, None for nothing."""
    if not answer:
        return None
    printed: dict[str, object] = {"hookEventName": event}
    if answer.context:
        printed["additionalContext"] = answer.context
    if answer.instead:
        printed |= {"permissionDecision": "deny", "permissionDecisionReason": answer.instead}
    return {"hookSpecificOutput": printed}
