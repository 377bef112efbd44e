"""Tools that compare who did the work: agents, models, skills and procedures."""

from __future__ import annotations

from vector_memory.mcp.asker import Asker
from vector_memory.mcp.telling import Json, spoken
from vector_memory.mcp.tool import tool


def _told(answer: Json) -> Json:
    told: Json = spoken(answer)
    return told


@tool(
    "task_specialization",
    "task_kind candidates all_projects project",
    "candidates:array! advice:array! tasks:count! judged:count! least:count!",
    "reads",
)
def task_specialization(asker: Asker, arguments: Json) -> Json:
    """Which agent or model did which kind of task how well, with counts and 95 % intervals. Use before you give
    a task to a subagent or choose a model."""
    return _told(asker.ask("task_specialization", arguments))


@tool(
    "meta_agent",
    "since least all_projects project",
    "summary! standings:array! tasks:count! judged:count! compared:count!",
    "reads",
)
def meta_agent(asker: Asker, arguments: Json) -> Json:
    """Which agents, models, skills and procedures do worse than the rest at the same kinds of tasks, by more than
    chance explains. Use to find what to mend."""
    return _told(asker.ask("meta_agent", arguments))


TOOLS = (task_specialization, meta_agent)
