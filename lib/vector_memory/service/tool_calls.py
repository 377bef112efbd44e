"""A tool call, before and after: what memory has to say to it, and who looks on."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from vector_memory.config import Settings
from vector_memory.durable_files import write_durably
from vector_memory.service.context import Context


@dataclass(frozen=True)
class Call:
    """One call of a tool.

    Attributes:
        folder: where the session was started.
        cwd: where it is now.
        tool: the tool's name, such as `Bash`, `Edit` or `mcp__server__tool`.
        input: what it is given.
        response: what came of it, in the tool's own shape; None before.
        agent: the subagent that calls it, "" for the session itself.
        prompt: the last prompt of the session, "" if this daemon saw none.
        transcript: the session's transcript.
        asked: the first and the last prompts of the session that this daemon saw, the oldest first.
        compacted_at: when the session was compacted last, None for never.
    """

    session: str
    folder: str
    cwd: str
    tool: str
    input: dict[str, Any] = field(default_factory=dict)
    response: Any = None
    agent: str = ""
    prompt: str = ""
    transcript: str = ""
    use_id: str = ""
    asked: tuple[str, ...] = ()
    compacted_at: datetime | None = None


@dataclass(frozen=True)
class Said:
    """What is said to a call: context beside it, a reason why it is not made (the answer stands in it),
    or what its result is replaced with, in the tool's own shape."""

    context: str = ""
    instead: str = ""
    output: Any = None

    def __bool__(self) -> bool:
        return bool(self.context or self.instead or self.output is not None)


NOTHING = Said()


def before(ctx: Context, call: Call) -> Said:
    """Return what is said to a call that is about to be made."""
    from vector_memory.service import facade

    said = facade.before(ctx, call)
    if ctx.settings.observer == "off":
        return said
    from vector_memory.service import watching

    warned = watching.before(ctx, call)
    if not warned:
        return said
    return replace(said, context="\n".join(one for one in (said.context, warned) if one))


def after(ctx: Context, call: Call) -> Said:
    """Return what is said to a call that was made."""
    from vector_memory.service import facade

    return facade.after(ctx, call)


def warm_up(settings: Settings) -> None:
    """Import what looks at calls, and make the grammar ready: it takes longer than any call may."""
    lookers = [
        *(["facade"] if settings.facade != "off" else []),
        *(["watching"] if settings.observer != "off" else []),
    ]
    for name in lookers:
        importlib.import_module(f"vector_memory.service.{name}")
    if lookers:
        from vector_memory.language import shell

        shell.parse("grep -rn name src")


def output(event: str, said: Said) -> dict[str, Any] | None:
    """Return what the hook prints, None for nothing."""
    if not said:
        return None
    told: dict[str, Any] = {"hookEventName": event}
    if said.context:
        told["additionalContext"] = said.context
    if said.instead:
        told |= {"permissionDecision": "deny", "permissionDecisionReason": said.instead}
    if said.output is not None:
        told["updatedToolOutput"] = said.output
    return {"hookSpecificOutput": told}


def publish_wishes(path: str, settings: Settings) -> None:
    """Leave for hooks what of tool calls is to be asked or told (`client.tool_calls.WISHES`)."""
    words = [
        *(["search"] if settings.facade in ("beside", "serve") else []),
        *(["merge"] if settings.facade == "merge" else []),
        # Who is served instead of a search must not be editing what is searched.
        *(["watch"] if settings.observer != "off" or settings.facade == "serve" else []),
        *(["warn"] if settings.observer == "warn" else []),
    ]
    write_durably(path, " ".join(words).encode("ascii"))
