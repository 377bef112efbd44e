"""Which jobs there are: name, cadence, what it does, and where its steps are. A job's module is imported when
it runs."""

from __future__ import annotations

import importlib
from typing import NamedTuple

from vector_memory.errors import NotFoundError
from vector_memory.service.jobs.schedule import (
    ON_REQUEST,
    Cadence,
    daily,
    every,
    monthly,
    weekly,
)
from vector_memory.service.jobs.step import Work

HERE = "vector_memory.service.jobs"


class Job(NamedTuple):
    """A job. `work` names a module of this folder and the function in it that does a step; `is_on` says
    whether it runs before anybody enables it."""

    cadence: Cadence
    work: str
    about: str
    is_on: bool = True


JOBS: dict[str, Job] = {
    "session-extraction-sweep": Job(
        every(2), "session_sweep:step", "reads transcripts that no hook reported"
    ),
    "memory-compaction": Job(
        every(6),
        "compaction:step",
        "puts a summary beside old memories that are close to each other",
    ),
    "vault-follow": Job(
        every(6), "vault_follow:step", "reads notes of the vault that have changed"
    ),
    "predictive-patterns": Job(
        daily("02:00"), "patterns:step", "counts which steps follow which, in all projects"
    ),
    "hippocampal-consolidation": Job(
        daily("03:00"), "consolidation:step", "finishes what is due, compares, proposes facts"
    ),
    "ttl-sweep": Job(
        daily("03:00"), "expiry:step", "removes what has expired; what is past its time gives way"
    ),
    "tier-transfer": Job(daily("03:30"), "tier_transfer:step", "moves memories between tiers"),
    "stigmergy-decay": Job(daily("04:00"), "trail_decay:step", "drops trails that have evaporated"),
    "hierarchical-abstraction": Job(
        weekly("Sun", "04:00"), "abstraction:step", "proposes principles from what was said often"
    ),
    "memory-organize": Job(
        weekly("Sun", "04:30"), "organize:step", "merges what says the same, optimises the index"
    ),
    "active-pruning": Job(
        weekly("Sun", "05:00"), "pruning:step", "looks through all collections for what is not used"
    ),
    "backup": Job(
        weekly("Sun", "06:00"), "weekly_backup:step", "writes a backup and keeps the last four"
    ),
    "skill-discovery": Job(
        weekly("Mon", "02:30"), "skills:step", "proposes procedures from steps that worked"
    ),
    "permission-review": Job(
        weekly("Mon", "06:00"), "permissions:step", "lists trusted folders that nothing uses"
    ),
    "weekly-note": Job(
        weekly("Mon", "06:30"), "reviews:weekly", "writes a note about the last week"
    ),
    "monthly-review": Job(
        monthly(1, "06:00"), "reviews:monthly", "writes a note about what memory holds"
    ),
    "benchmark-regression": Job(
        monthly(1, "05:00"),
        "regression:step",
        "times recalls and compares with earlier months",
        False,
    ),
    "compliance-report": Job(
        monthly(1, "07:00"), "compliance:step", "gathers figures for an audit", False
    ),
    "memory-gateway": Job(ON_REQUEST, "gateway:step", "tells whether the gateway is well"),
}
"""In the order in which those of one time run."""
ALIASES = {
    "session-extraction": "session-extraction-sweep",
    "compaction": "memory-compaction",
    "consolidation": "hippocampal-consolidation",
    "trail-decay": "stigmergy-decay",
    "gateway": "memory-gateway",
}
OFF = tuple(name for name, job in JOBS.items() if not job.is_on)
CADENCES = {name: job.cadence for name, job in JOBS.items()}


def named(name: str) -> str:
    """Return a job's name as the registry has it.

    Raises:
        NotFoundError: there is none of that name.
    """
    known = ALIASES.get(name, name)
    if known not in JOBS:
        raise NotFoundError(f"There is no job {name!r}.", f"Jobs: {', '.join(JOBS)}.")
    return known


def work_of(name: str) -> Work:
    """Return what does a job's steps."""
    module, _, attribute = JOBS[name].work.partition(":")
    work: Work = getattr(importlib.import_module(f"{HERE}.{module}"), attribute)
    return work
