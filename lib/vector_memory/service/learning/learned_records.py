"""What was learned, read back from the records that hold it; anything else in them counts as nothing."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Any

from vector_memory.model import WORLD, Memory, Status
from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.things import Thing
from vector_memory.observe.learning.trails import Trail
from vector_memory.service.base.asker import ProjectAsker
from vector_memory.service.learning import counted_records

LEDGER, THING = "tasks", "thing"
"""Kinds of records that all others are made of: the tasks of a session, and a thing."""
BOARD = "self-assessment"
"""The key and kind of the record that says what hooks tell in a project: they read it and the records
that it names, and search for nothing."""

KIND, TRAIL = "task-kind", "trail"
DRAWN = (BOARD, KIND, TRAIL)
"""Kinds of records that are made anew from what is kept of sessions."""


def thing(asker: ProjectAsker, key: str) -> Thing | None:
    """Return a thing by its key, None where it was never seen or is forgotten."""
    memory = counted_records.get(asker, WORLD, key)
    return thing_of(memory) if memory else None


def trails_of(asker: ProjectAsker, ids: Iterable[str]) -> list[tuple[str, Trail]]:
    """Return these trails with their ids, without those that are forgotten."""
    found = asker.own.journal.by_ids(list(ids)).values()
    pairs = ((one.id, _trail_of(one)) for one in found if one.status is Status.ACTIVE)
    return [(id, one) for id, one in pairs if one is not None]


def tasks_of(memory: Memory) -> list[Task]:
    """Return the tasks of a session's record, oldest first."""
    raw = memory.extra.get("tasks")
    made = (
        (Task.from_dict(one) for one in raw if isinstance(one, dict))
        if isinstance(raw, list)
        else ()
    )
    return [one for one in made if one is not None]


def thing_of(memory: Memory) -> Thing | None:
    """Return the thing of a record, None for one that is forgotten."""
    return Thing.from_dict(memory.extra) if memory.status is Status.ACTIVE else None


def extra_of(one: Trail) -> dict[str, Any]:
    """Return a trail as plain JSON values."""
    return {**one.__dict__, "steps": list(one.steps), "commands": list(one.commands),
            "terms": list(one.terms), "at": one.at.isoformat()}  # fmt: skip


def _trail_of(memory: Memory) -> Trail | None:
    raw = memory.extra
    try:
        return Trail(
            **{
                **raw,
                "steps": tuple(map(str, raw["steps"])),
                "commands": tuple(map(str, raw["commands"])),
                "terms": tuple(map(str, raw["terms"])),
                "at": datetime.fromisoformat(raw["at"]).astimezone(timezone.utc),
            }
        )
    except (KeyError, TypeError, ValueError):
        return None
