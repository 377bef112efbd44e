"""All tools, for whoever calls them: the server, and the command line, which has no use for a protocol."""

from __future__ import annotations

from dataclasses import replace

from vector_memory.arguments import coerced
from vector_memory.errors import BadInputError
from vector_memory.mcp import (
    change_tools,
    governance_tools,
    search_tools,
    store_tools,
    upkeep_tools,
)
from vector_memory.mcp import tool as tools
from vector_memory.mcp.caller import Caller
from vector_memory.mcp.model_answers import NOTICE, Json
from vector_memory.mcp.tool import Tool

DOING = (store_tools, search_tools, change_tools, upkeep_tools, governance_tools)
"""Imported for the functions that they say what tools do by."""
TOOLS: tuple[Tool, ...] = tuple(tools.read())
ALIASES = tuple(alias for tool in TOOLS for alias in tool.aliases)
BY_NAME = {tool.name: tool for tool in (*TOOLS, *ALIASES)}


def call(caller: Caller, tool: Tool, arguments: Json | None) -> Json:
    """Return a tool's answer without its empty fields (None), with how much was held back; the first answer that
    shows a memory has the notice about texts.

    Raises:
        VectorMemoryError: an argument does not fit, or what the daemon reported.
    """
    caller, values = replace(caller), coerced(tool.fields, arguments)
    try:
        answer = {**tool.act(caller, values), **caller.answers.held_back_note()}
    except BadInputError as error:
        raise tools.as_given(error, values) from error
    result = {name: value for name, value in answer.items() if value is not None}
    return {"notice": NOTICE, **result} if caller.shown.owes_notice() else result
