"""What the client tells a hook, read once from its JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from vector_memory import wire
from vector_memory.system import json_in
from vector_memory.system.json_in import Record


@dataclass(frozen=True, kw_only=True)
class HookMessage:
    """One event of the client, by the client's own names; what is missing, or no text, is "".

    Attributes:
        folder: where the session was started.
        sent: all that the client sent.
    """

    folder: str
    sent: Record = field(repr=False)
    session_id: str = ""
    agent_id: str = ""
    cwd: str = ""
    source: str = ""
    prompt: str = ""
    transcript_path: str = ""
    tool_name: str = ""
    tool_use_id: str = ""
    error: str = ""
    last_assistant_message: str = ""

    @property
    def is_interrupt(self) -> bool:
        """Whether a tool call failed because the user broke it off."""
        return bool(self.sent.get("is_interrupt"))

    @property
    def tool_input(self) -> Record:
        """What a tool is given."""
        return self.sent.part("tool_input")


_TEXTS = tuple(part.name for part in fields(HookMessage) if part.name not in ("folder", "sent"))


def read(body: bytes) -> HookMessage | None:
    """Return what the client sent, None where it is no object. The folder is that of the hook's environment, else the
    session's own.

    Args:
        body: what the hook sent of it, see `wire.parse_hook`.

    Raises:
        ValueError: it is no JSON, such as one that was cut, or too much of it.
    """
    folder, _, data = wire.parse_hook(body)
    parsed = json_in.storable_json(json_in.load(data))
    if not isinstance(parsed, dict):
        return None
    sent = Record(parsed)
    sent["session_id"] = json_in.session_id(sent.get("session_id"))
    texts = {name: sent.text(name) for name in _TEXTS}
    # Whatever names a subagent, it is none of the user's doing.
    texts["agent_id"] = str(sent.get("agent_id") or "")
    folder_name = folder.decode("utf-8", "replace")
    return HookMessage(folder=folder_name or texts["cwd"] or "/", sent=sent, **texts)
