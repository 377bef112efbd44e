"""What a job is made of: steps, each small, and such that doing one twice does no harm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from vector_memory.journal.job_rows import OK
from vector_memory.service.base.context import Context
from vector_memory.system.json_in import Record

TEXT = "text"
"""The one name under which a report may hold words of memories."""
PHASES = "phases"
"""The name under which a cursor says that only some phases of a job are to be done."""
MOST_LISTED = 100
"""Entries that a list in a report holds."""


class Entry(NamedTuple):
    """What a step leaves in the audit log."""

    action: str
    ids: tuple[str, ...]
    detail: Mapping[str, object]


@dataclass(frozen=True)
class JobRun:
    """A run of a job, as its next step is given it.

    Attributes:
        now: the time, aware UTC.
        cursor: where the step before it left off; empty at a run's beginning.
        dry_run: nothing may be changed.
        report: what the steps of this run did before.
        before: the report of the run before this one, empty without one.
    """

    now: datetime
    cursor: Record = field(default_factory=Record)
    dry_run: bool = False
    report: Record = field(default_factory=Record)
    before: Record = field(default_factory=Record)


@dataclass(frozen=True)
class Step:
    """What a step did.

    A step whose cursor was not written, since the daemon was killed, is done again. So what is not to be done
    twice is named in the cursor first, with its audit entry, and done by the step after it.

    Attributes:
        report: counts, which add up over a run; lists, which are joined; anything else stands for itself.
        cursor: where the next step goes on; {} where the run is over.
        entry: for the audit log, written together with the cursor.
        message: a sentence for people about the whole run.
        outcome: of the run, where it is over.
    """

    report: Mapping[str, object] = field(default_factory=dict)
    cursor: Mapping[str, object] = field(default_factory=dict)
    entry: Entry | None = None
    message: str = ""
    outcome: str = OK


Work = Callable[[Context, JobRun], Step]


def in_turn(ctx: Context, run: JobRun, works: Sequence[Work]) -> Step:
    """Do the next step of works that are done one after the other.

    Returns:
        What it did, and where the next step begins.
    """
    # A cursor of an older version may lie behind the last.
    index = min(run.cursor.number("step"), len(works) - 1)
    step = works[index](ctx, replace(run, cursor=run.cursor.part("at")))
    next_index = index if step.cursor else index + 1
    cursor = {"step": next_index, "at": dict(step.cursor)} if next_index < len(works) else {}
    return replace(step, cursor=cursor)


def with_step(report: Mapping[str, object], addition: Mapping[str, object]) -> dict[str, object]:
    """Return a run's report with what a further step did."""
    result = dict(report)
    for name, value in addition.items():
        earlier = result.get(name)
        if _is_count(value) and _is_count(earlier):
            result[name] = earlier + value  # type: ignore[operator]
        elif isinstance(value, list) and isinstance(earlier, list):
            result[name] = [*earlier, *value][:MOST_LISTED]
        else:
            result[name] = value
    return result


def _is_count(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def counts_of(report: Mapping[str, object]) -> dict[str, object]:
    """Return the numbers of a report: what the audit log holds of it, which has no words."""
    return {name: value for name, value in report.items() if _is_count(value)}


def without_words(value: object) -> object:
    """Return a report as the state may hold it: without the `text` of memories, which the user may forget."""
    if isinstance(value, Mapping):
        return {name: without_words(part) for name, part in value.items() if name != TEXT}
    return [without_words(part) for part in value] if isinstance(value, list) else value
