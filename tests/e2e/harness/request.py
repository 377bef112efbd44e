"""What the client sends to the model, and what of it is this memory's doing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAIN_TOOLS = frozenset({"Bash", "Read"})
COMPACTION = "create a detailed summary of the conversation"
FENCE = re.compile(r"<vector-memory\b[^>]*>.*?</vector-memory\b[^>]*>", re.DOTALL)


@dataclass(frozen=True)
class Request:
    """One request of the client: its path and its body as sent."""

    path: str
    body: dict[str, Any]

    @property
    def is_main(self) -> bool:
        """Whether the session itself asks, rather than a title or another side job."""
        return bool(MAIN_TOOLS & {tool.get("name") for tool in self.body.get("tools") or ()})

    @property
    def is_compaction(self) -> bool:
        """Whether the client asks for the summary that replaces the conversation."""
        # A system message with hooks' context may follow the user's last one.
        said = [one for one in self.body.get("messages") or () if one.get("role") == "user"]
        return bool(said) and COMPACTION in "\n".join(texts_of(said[-1].get("content")))


def texts(request: Request) -> list[str]:
    """Return every text that the model would be shown, system prompt first, in order."""
    found = list(texts_of(request.body.get("system")))
    for message in request.body.get("messages") or ():
        found.extend(texts_of(message.get("content")))
    return found


def texts_of(content: object) -> Iterator[str]:
    """Yield the texts of a message's content: a string, blocks, or results of tools."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            yield from _block_texts(block)


def injections(request: Request) -> list[str]:
    """Return what this memory put into the request: each fenced block, in order."""
    return [block for text in texts(request) for block in FENCE.findall(text)]


def tool_results(request: Request) -> list[str]:
    """Return the texts of the tools' results in the request, in order."""
    return [
        text
        for message in request.body.get("messages") or ()
        if isinstance(message.get("content"), list)
        for block in message["content"]
        if isinstance(block, dict) and block.get("type") == "tool_result"
        for text in texts_of(block.get("content"))
    ]


def _block_texts(block: object) -> Iterator[str]:
    if isinstance(block, str):
        yield block
    elif isinstance(block, dict):
        if isinstance(block.get("text"), str):
            yield block["text"]
        yield from texts_of(block.get("content"))
