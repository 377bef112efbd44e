"""Trails: sequences of steps that tasks of a kind took, stronger where they led somewhere. Pure.

As ants find their ways: each success adds to a trail, each failure takes from it, and all of it evaporates
day by day, so that what worked last month gives way to what works now. A trail is worked out anew from
the tasks that are kept, so that one that is read again counts once.

Source: M. Dorigo, T. Stützle, Ant Colony Optimization, MIT Press 2004, chapter 3 (evaporation and deposit).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from vector_memory.observe.learning.outcomes import Task
from vector_memory.observe.learning.tasks import EDIT, READ

RHO = 0.97
"""What is left of a trail after a day: half of it after three weeks."""
FLOOR = 0.75
"""Strength below which a trail is gone."""
SURE, LIKELY, FAILURE = 1.0, 0.5, 1.0
"""What a success adds that a check or the user confirmed, and one that nobody did; what a failure takes."""
LEAST_WON, LEAST_SESSIONS, LEAST_RATE = 3, 2, 0.7
LONGEST = 4
PER_KIND, PER_PROJECT = 4, 40
KEEPS = 0.75
"""A longer trail stands for a shorter one where it has at least so much of its successes."""
GENERAL = 0.6
"""The share of a kind's tasks from which on a trail is for all of that kind, whatever they are about."""
MOST_TERMS = 12
_BY_ITSELF = re.compile(
    r"(?:pytest|(?:npm|yarn|pnpm|bun) (?:run )?(?:test|build|install|lint)|cargo (?:test|build|check)|go (?:test|build|vet)(?: \./\.\.\.)?|"
    r"make|tsc|mvn (?:test|package)|gradle (?:test|build)|git .*|gh .*|(?:rm|mkdir|cp|mv|chmod|touch|curl|wget|python|node)\b.*|true)"
)
"""Command lines that need no memory: whoever knows the program knows them, or they say nothing."""


LEAST_JOBS = 2
"""Commands of different jobs without which a trail says what everybody does."""


@dataclass(frozen=True)
class Trail:
    """Steps that tasks of a kind took.

    Attributes:
        steps: stages in order: `read`, `edit` or a job.
        commands: for each step that is a job, its command line here.
        n: tasks that took these steps and whose end is known, `won` of them done.
        sessions: in how many sessions it was won.
        strength: at `at`; it evaporates from then on.
        terms: what these tasks are about, the most frequent first.
        is_general: most tasks of the kind take it.
    """

    kind: str
    steps: tuple[str, ...]
    commands: tuple[str, ...]
    n: int
    won: int
    sessions: int
    strength: float
    at: datetime
    last: str
    terms: tuple[str, ...] = ()
    is_general: bool = False

    @property
    def key(self) -> str:
        """By what it is known: the kind and the steps."""
        return "\0".join((self.kind, *self.steps))

    def strength_at(self, now: datetime) -> float:
        """Return what has not evaporated of it."""
        return evaporated(self.strength, self.at, now)

    @property
    def path(self) -> str:
        """Its steps in words, the commands as they are run here."""
        given = iter(self.commands)
        return " → ".join(
            step if step in (READ, EDIT) else f"`{next(given, step)}`" for step in self.steps
        )


def evaporated(strength: float, at: datetime, now: datetime) -> float:
    """Return what is left of a strength after the days from `at` to `now`."""
    return float(strength * RHO ** max(0.0, (now - at).total_seconds() / 86_400))


def find(known: Sequence[Task], now: datetime) -> list[Trail]:
    """Return the trails that tasks have left, the strongest of each kind, at most `PER_PROJECT`."""
    found: list[Trail] = []
    for kind in dict.fromkeys(one.kind for one in known):
        judged = [one for one in known if one.kind == kind and one.done is not None]
        found += _of_kind(kind, judged, now)
    found.sort(key=lambda one: (-one.strength, one.key))
    return found[:PER_PROJECT]


def _of_kind(kind: str, judged: Sequence[Task], now: datetime) -> list[Trail]:
    taken: dict[tuple[str, ...], list[Task]] = {}
    for task in judged:
        for steps in _paths(task):
            taken.setdefault(steps, []).append(task)
    rate = sum(bool(one.done) for one in judged) / max(1, len(judged))
    made = [
        trail
        for steps, mine in taken.items()
        if len(mine) >= LEAST_WON and (trail := _trail(kind, steps, mine, judged, now))
    ]
    # What does no better than the kind at large is no advice.
    fit = [one for one in made if one.won / one.n >= max(LEAST_RATE, rate)]
    return _maximal(sorted(fit, key=lambda one: (-len(one.steps), -one.strength)))[:PER_KIND]


def _paths(task: Task) -> set[tuple[str, ...]]:
    """Return the sequences of at most `LONGEST` of a task's stages that run at least one job."""
    stages = [one for one in task.stages if one != READ]
    found = {
        steps
        for size in range(1, LONGEST + 1)
        for steps in combinations(stages, size)
        if any(one != EDIT for one in steps)
    }
    if task.done is False:
        # Where it failed, the job was run and did not go well, so that no stage says so.
        failed = [one for one in task.jobs if one not in stages]
        found |= {(job,) for job in failed} | {(EDIT, job) for job in failed if EDIT in stages}
    return found


def _trail(
    kind: str, steps: tuple[str, ...], mine: Sequence[Task], judged: Sequence[Task], now: datetime
) -> Trail | None:
    won = [one for one in mine if one.done]
    sure = [one for one in won if one.sure]
    sessions = {one.session for one in won}
    if len(won) < LEAST_WON or not sure or len(sessions) < LEAST_SESSIONS:
        return None
    strength = sum(evaporated(SURE if one.sure else LIKELY, one.ended_at, now) for one in won)
    strength -= sum(evaporated(FAILURE, one.ended_at, now) for one in mine if not one.done)
    commands = tuple(_usual(job, won) for job in steps if job not in (READ, EDIT))
    if strength < FLOOR or all(_BY_ITSELF.fullmatch(one) for one in commands):
        return None
    return Trail(
        kind,
        steps,
        commands,
        len(mine),
        len(won),
        len(sessions),
        round(strength, 3),
        now,
        max(one.at for one in won)[:10],
        _terms(won),
        len(mine) >= GENERAL * len(judged),
    )


def _usual(job: str, won: Sequence[Task]) -> str:
    """Return the command line that a job was mostly run by, the later of equals."""
    said = [one.commands[job] for one in won if job in one.commands]
    if not said:
        return job
    counts = Counter(said)
    return max(reversed(said), key=lambda one: counts[one])


def _terms(won: Sequence[Task]) -> tuple[str, ...]:
    counts = Counter(term for one in won for term in set(one.terms))
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(term for term, n in ordered if n >= 2)[:MOST_TERMS]


def _maximal(found: Sequence[Trail]) -> list[Trail]:
    """Return trails, the strongest first, without those that a longer one says nearly as often."""
    kept: list[Trail] = []
    for one in found:
        longer = (
            other
            for other in kept
            if set(one.steps) <= set(other.steps) and other.won >= KEEPS * one.won
        )
        if next(longer, None) is None:
            kept.append(one)
    return sorted(kept, key=lambda one: (-one.strength, one.key))


def fitting(found: Iterable[Trail], kind: str, terms: Iterable[str], now: datetime) -> Trail | None:
    """Return the trail that is worth telling to a task that begins, None for none: of its kind, not
    evaporated, for tasks like it, and with more in it than that what was edited is tested."""
    about = set(terms)
    alive = [
        trail
        for trail in found
        if trail.kind == kind
        and trail.strength_at(now) >= FLOOR
        and len(set(trail.steps) - {"read", "edit"}) >= LEAST_JOBS
    ]
    fit = [one for one in alive if one.is_general or about & set(one.terms)]
    return max(
        fit,
        key=lambda one: (len(about & set(one.terms)), one.strength_at(now), one.key),
        default=None,
    )


def advice(one: Trail) -> str:
    """Return what a trail says, with its evidence."""
    share = round(100 * one.won / one.n)
    return (
        f"For {NAMES.get(one.kind, one.kind)} here these steps worked in {share} % of {one.n} tasks "
        f"({one.sessions} sessions, last {one.last}): {one.path}"
    )


NAMES = {
    "fix": "fixes", "feature": "new features", "refactor": "refactorings", "test": "work on tests",
    "docs": "documentation", "setup": "set-up work", "question": "questions", "review": "reviews",
    "release": "commits and releases",
}  # fmt: skip
