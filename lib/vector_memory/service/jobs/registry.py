"""Which jobs there are, by the table `jobs.txt`. A job's module is imported when it runs."""

from __future__ import annotations

import importlib
import os
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from vector_memory.errors import NotFoundError
from vector_memory.service.jobs.schedule import Cadence, cadence
from vector_memory.service.jobs.step import Work
from vector_memory.text import tables


class Job(NamedTuple):
    """A job. `work` names a module of this folder and the function in it that does a step; `is_on` says
    whether it runs before anybody enables it; `tells` how a run is told, with counts of its report."""

    cadence: Cadence
    work: str
    about: str
    is_on: bool = True
    tells: str = ""


def _read(line: str) -> tuple[str, Job]:
    name, when, work, about, *tells = line.split(" | ")
    is_on = not when.startswith("x ")
    return name, Job(cadence(when.removeprefix("x ")), work, about, is_on, *tells)


JOBS = dict(map(_read, tables.lines("jobs", os.path.dirname(__file__))))
OFF = tuple(name for name, job in JOBS.items() if not job.is_on)
CADENCES = {name: job.cadence for name, job in JOBS.items()}


def job_name(typed: str) -> str:
    """Return the name of a job by all of it, or by a part of three letters or more that no other
    has.

    Raises:
        NotFoundError: there is none of that name, or there are several.
    """
    names = (
        [typed] if typed in JOBS else [name for name in JOBS if len(typed) > 2 and typed in name]
    )
    if len(names) != 1:
        raise NotFoundError(f"There is no job {typed!r}.", f"Jobs: {', '.join(names or JOBS)}.")
    return names[0]


def work_of(name: str) -> Work:
    """Return what does a job's steps."""
    module, _, attribute = JOBS[name].work.partition(":")
    work: Work = getattr(importlib.import_module(f"{__package__}.{module}"), attribute)
    return work


def sentence(name: str, report: Mapping[str, object]) -> str:
    """Return a sentence about a run by its report, "" for a job that says all itself."""
    words = JOBS[name].tells.format_map(defaultdict(int, report))
    return f"{words[0].upper()}{words[1:]}." if words else ""
