"""All tools, for whoever calls them: the server, and the command line, which has no use for a protocol."""

from __future__ import annotations

from vector_memory.mcp import changing, finding, governing, storing, tending
from vector_memory.mcp import tool as tools
from vector_memory.mcp.asker import Asker
from vector_memory.mcp.fields import checked
from vector_memory.mcp.telling import NOTICE, Json
from vector_memory.mcp.tool import Tool, with_known_kinds

DOING = (storing, finding, changing, tending, governing)
"""Imported for the functions that they say what tools do by."""
TOOLS: tuple[Tool, ...] = tuple(tools.read())
ALIASES = tuple(alias for tool in TOOLS for alias in tool.aliases)
BY_NAME = {tool.name: tool for tool in (*TOOLS, *ALIASES)}


def call(asker: Asker, tool: Tool, arguments: Json | None) -> Json:
    """Return a tool's answer; the first that shows a memory says what texts are.

    Raises:
        VectorMemoryError: an argument does not fit, or what the daemon reported.
    """
    result = tool.act(asker, with_known_kinds(asker, checked(tool.fields, arguments)))
    return {"notice": NOTICE, **result} if asker.shown.owes_notice() else result
